package sqlite_test

import (
	"crypto/sha256"
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolhost/toolhost/plugins/querydb/rowset"
	"github.com/toolhost/toolhost/plugins/querydb/sqlite"
)

// enough exceeds every answer in these tests.
var enough = rowset.Limits{Rows: 1000, Bytes: 1 << 20}

// makeFile creates a file by statements.
func makeFile(t *testing.T, path string, statements ...string) string {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	return path
}

func newReader(t *testing.T) *sqlite.Reader {
	t.Helper()
	r, err := sqlite.NewReader()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// digests returns the digest of each file in a folder.
func digests(t *testing.T, dir string) map[string][32]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][32]byte{}
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[entry.Name()] = sha256.Sum256(data)
	}
	return all
}
