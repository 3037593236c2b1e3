package callstore_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/store/sqlitefile"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
)

func contains(err error, words ...string) bool {
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			return false
		}
	}
	return true
}

func execute(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	must(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), statement)
	must(t, err)
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	must(t, os.WriteFile(path, data, 0o600))
}

func TestRefusesForeignFiles(t *testing.T) {
	folder := t.TempDir()
	foreign, newer := filepath.Join(folder, "foreign.db"), filepath.Join(folder, "newer.db")
	execute(t, foreign, "CREATE TABLE recipes (name TEXT)")
	shut(t, open(t, callstore.Config{Path: newer}))
	execute(t, newer, "PRAGMA user_version = 99")
	for path, want := range map[string]string{foreign: "another program", newer: "newer program"} {
		_, err := callstore.Open(t.Context(), callstore.Config{Path: path})
		if err == nil || !contains(err, want, path) || errors.Is(err, callstore.ErrDamaged) {
			t.Errorf("opening %s: got %v, want it to say %q", filepath.Base(path), err, want)
		}
	}
}

// A ledger with a trigger, which would run with each statement of the store, is refused by
// everything that reads a ledger.
func TestRefusesForeignSchemas(t *testing.T) {
	for name, statement := range map[string]string{
		"trigger": "CREATE TRIGGER forget AFTER INSERT ON calls BEGIN DELETE FROM calls; END",
		"view":    "ALTER TABLE ledger RENAME TO former; CREATE VIEW ledger AS SELECT 'chosen' AS id, 0 AS newest, 1 AS noted",
		"column":  "ALTER TABLE calls ADD COLUMN more TEXT AS (hex(id))",
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "calls.db")
			shut(t, open(t, callstore.Config{Path: path}))
			execute(t, path, statement)
			_, opened := callstore.Open(t.Context(), callstore.Config{Path: path})
			_, read := callstore.ReadID(t.Context(), path)
			_, renewed := callstore.Renew(t.Context(), path, time.Now(), time.Now())
			for what, err := range map[string]error{"Open": opened, "ReadID": read, "Renew": renewed} {
				if !errors.Is(err, sqlitefile.ErrForeignSchema) {
					t.Errorf("%s: error %v", what, err)
				}
			}
		})
	}
}

// A damaged file is refused with advice, and is not changed.
func TestDamage(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, path string, whole []byte){
		"text": func(t *testing.T, path string, _ []byte) {
			write(t, path, []byte(strings.Repeat("no database\n", 1000)))
		},
		"cut": func(t *testing.T, path string, whole []byte) { write(t, path, whole[:len(whole)/2]) },
		"scribbled": func(t *testing.T, path string, whole []byte) {
			for i := 4096; i < len(whole); i++ {
				whole[i] = byte(i * 7)
			}
			write(t, path, whole)
		},
		"empty, with a log": func(t *testing.T, path string, _ []byte) {
			write(t, path, nil)
			write(t, path+"-wal", []byte("frames"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config(t)
			store := open(t, cfg)
			for _, id := range strings.Fields("a b c d e f g h i j") {
				must(t, store.Begin(t.Context(), entry(id)), store.End(t.Context(), key(id), answer(strings.Repeat(id, 5000))))
			}
			shut(t, store)
			whole, err := os.ReadFile(cfg.Path)
			must(t, err)
			damage(t, cfg.Path, whole)
			before, err := os.ReadFile(cfg.Path)
			must(t, err)
			_, err = callstore.Open(t.Context(), cfg)
			if !errors.Is(err, callstore.ErrDamaged) || !contains(err, cfg.Path, "move it and calls.db-wal") {
				t.Fatalf("opened: %v", err)
			}
			after, err := os.ReadFile(cfg.Path)
			must(t, err)
			if string(before) != string(after) {
				t.Error("the file was changed")
			}
		})
	}
}

func TestFilesArePrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state of toolhost", "calls?#%.db")
	store := open(t, callstore.Config{Path: path})
	must(t, store.Begin(t.Context(), entry("a")))
	for name, want := range map[string]os.FileMode{filepath.Dir(path): 0o700, path: 0o600, path + "-wal": 0o600, path + ".lock": 0o600} {
		info, err := os.Stat(name)
		if err != nil {
			t.Error(err)
		} else if info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", filepath.Base(name), info.Mode().Perm(), want)
		}
	}
}
