package sqlitefile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/toolhost/toolhost/server/internal/store/sqlitefile"
)

// A copy that is made while a process writes has whole transactions only, and all that were
// committed before.
func TestCopyWhileWriting(t *testing.T) {
	dir := t.TempDir()
	from := filepath.Join(dir, "from.db")
	db := open(t, from)
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE a (n INTEGER PRIMARY KEY); CREATE TABLE b (n INTEGER PRIMARY KEY)"); err != nil {
		t.Fatal(err)
	}
	add := func(n int) {
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Error(err)
			return
		}
		for _, table := range []string{"a", "b"} {
			if _, err := tx.ExecContext(t.Context(), "INSERT INTO "+table+" VALUES (?)", n); err != nil {
				t.Error(err)
			}
		}
		if err := tx.Commit(); err != nil {
			t.Error(err)
		}
	}
	const before, meanwhile = 50, 500
	for n := range before {
		add(n)
	}
	var writing sync.WaitGroup
	writing.Go(func() { // ends after some transactions
		for n := range meanwhile {
			add(before + n)
		}
	})
	to := filepath.Join(dir, "to.db")
	if err := sqlitefile.Copy(t.Context(), from, to); err != nil {
		t.Fatal(err)
	}
	writing.Wait()
	copied := open(t, to)
	var a, b, newest int
	if err := copied.QueryRowContext(t.Context(), "SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM b), (SELECT max(n) FROM a)").Scan(&a, &b, &newest); err != nil {
		t.Fatal(err)
	}
	if a != b || a < before || newest != a-1 {
		t.Errorf("the copy has %d and %d rows up to %d", a, b, newest)
	}
}

func TestCopyRefuses(t *testing.T) {
	dir := t.TempDir()
	if err := sqlitefile.Copy(t.Context(), filepath.Join(dir, "missing"), filepath.Join(dir, "to")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing database: %v", err)
	}
	good, noise, existing := filepath.Join(dir, "good"), filepath.Join(dir, "noise"), filepath.Join(dir, "existing")
	open(t, good).PingContext(t.Context())
	for _, path := range []string{noise, existing} {
		if err := os.WriteFile(path, []byte("this is not a database, and long enough to see that"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := sqlitefile.Copy(t.Context(), noise, filepath.Join(dir, "to")); err == nil {
		t.Error("it copied what is not a database")
	}
	if err := sqlitefile.Copy(t.Context(), good, existing); !errors.Is(err, fs.ErrExist) {
		t.Errorf("an existing target: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "to")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a failed copy left a file: %v", err)
	}
}
