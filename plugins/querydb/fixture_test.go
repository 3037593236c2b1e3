package main

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/sdk/sdktest"
)

// branch writes the database file of one branch of a library.
func branch(t *testing.T, dir, tenant, book string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, tenant+".db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE books(id INTEGER PRIMARY KEY, title TEXT); INSERT INTO books(title) VALUES ('" + book + "')"); err != nil {
		t.Fatal(err)
	}
}

// library creates files for two tenants, and returns a host of the plugin with a setup file. DIR in
// the text stands for the folder with the files.
func openLibrary(t *testing.T, text string) (*sdktest.Host, string) {
	t.Helper()
	dir := t.TempDir()
	branch(t, dir, "acme", "Rye")
	branch(t, dir, "globex", "Sesame")
	return hostOf(t, filepath.Join(dir, "setup.yaml"), strings.ReplaceAll(text, "DIR", dir)), dir
}

func hostOf(t *testing.T, path, text string) *sdktest.Host {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := newLibrary(path)
	if err != nil {
		t.Fatal(err)
	}
	return sdktest.New(t, plugin(l))
}

const twoTenants = `databases: {books: {description: "the\nbooks", sqlite: {file: "DIR/{tenant}.db"}}}`
