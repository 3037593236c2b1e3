package sqlitefile_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/toolhost/toolhost/server/internal/store/sqlitefile"
)

func first() sqlitefile.Layout {
	return sqlitefile.Layout{ApplicationID: 0x54455354, Steps: []string{"CREATE TABLE a (n INTEGER); INSERT INTO a VALUES (1)"}}
}

func second() sqlitefile.Layout {
	l := first()
	l.Steps = append(l.Steps, "ALTER TABLE a ADD COLUMN m INTEGER DEFAULT 2")
	return l
}

func open(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sqlitefile.Connect(path, 1, "immediate", "journal_mode(WAL)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func TestMigrate(t *testing.T) {
	foreign := first()
	foreign.ApplicationID++
	broken := second()
	broken.Steps = append(broken.Steps, "ALTER TABLE a ADD COLUMN k INTEGER; nonsense")
	tests := []struct {
		name    string
		before  []sqlitefile.Layout
		layout  sqlitefile.Layout
		problem string
		columns int
	}{
		{"an empty file", nil, second(), "", 2},
		{"an older layout", []sqlitefile.Layout{first()}, second(), "", 2},
		{"the same", []sqlitefile.Layout{second()}, second(), "", 2},
		{"a newer layout", []sqlitefile.Layout{second()}, first(), "has layout 2 and this program knows only up to 1", 2},
		{"another program's", []sqlitefile.Layout{foreign}, second(), "of another program", 1},
		{"a step that fails leaves all as it was", []sqlitefile.Layout{first()}, broken, "laying out the file", 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			db := open(t, filepath.Join(t.TempDir(), "file.db"))
			for _, l := range test.before {
				if err := l.Migrate(t.Context(), db); err != nil {
					t.Fatal(err)
				}
			}
			err := test.layout.Migrate(t.Context(), db)
			if test.problem == "" && err != nil || test.problem != "" && (err == nil || !strings.Contains(err.Error(), test.problem)) {
				t.Errorf("error %v, want %q", err, test.problem)
			}
			var columns, rows int
			if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM pragma_table_info('a')").Scan(&columns); err != nil || columns != test.columns {
				t.Errorf("%d columns, %v; want %d", columns, err, test.columns)
			}
			if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM a").Scan(&rows); err != nil || rows != 1 {
				t.Errorf("%d rows, %v", rows, err)
			}
		})
	}
}

// If two processes open a new file at the same time, one migrates it and the other finds the
// migration done.
func TestTwoOpenANewFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file.db")
	// Creates the file first, because the switch to WAL does not wait for a lock.
	open(t, path).PingContext(t.Context())
	var both sync.WaitGroup
	for range 2 {
		db := open(t, path)
		both.Go(func() { // ends with the migration
			if err := second().Migrate(t.Context(), db); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
}
