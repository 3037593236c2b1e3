package sqlitefile_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/store/sqlitefile"
)

// file creates a database with a layout, executes statements in it, and returns its path.
func file(t *testing.T, l sqlitefile.Layout, statements ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.db")
	db, err := sqlitefile.Connect(path, 1, "immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := l.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	return path
}

// A file with another schema than its layout is refused, by an opener and by a check, also if an
// older program wrote it, and its migration executes nothing.
func TestForeignSchemas(t *testing.T) {
	trigger := "CREATE TRIGGER watch AFTER INSERT ON a BEGIN DELETE FROM a; END"
	schema := func(change string) []string {
		return []string{"PRAGMA writable_schema = ON", change, "PRAGMA writable_schema = RESET"}
	}
	tests := map[string]struct {
		statements []string
		problem    string
	}{
		"a trigger":               {[]string{trigger}, `did not create the trigger "watch"`},
		"a view":                  {[]string{"CREATE VIEW b AS SELECT 1"}, `the view "b"`},
		"a view for a table":      {[]string{"DROP TABLE a", "CREATE VIEW a AS SELECT 1 AS n"}, `the view "a"`},
		"a table":                 {[]string{"CREATE TABLE b (n)"}, `the table "b"`},
		"a lost table":            {[]string{"DROP TABLE a"}, `it lacks the table "a"`},
		"an index":                {[]string{"CREATE INDEX i ON a (abs(n))"}, `the index "i"`},
		"a generated column":      {[]string{"ALTER TABLE a ADD COLUMN g AS (n + 1)"}, `the table "a"`},
		"a constraint":            {schema("UPDATE sqlite_schema SET sql = 'CREATE TABLE a (n INTEGER CHECK (n < 5))' WHERE name = 'a'"), `the table "a"`},
		"a default":               {[]string{"DROP TABLE a", "CREATE TABLE a (n INTEGER DEFAULT (random()))"}, `the table "a"`},
		"a virtual table":         {[]string{"CREATE VIRTUAL TABLE v USING fts5(x)"}, `the table "v`},
		"a version below 0":       {[]string{"PRAGMA user_version = -1"}, "it has the layout -1"},
		"the version of an empty": {[]string{"PRAGMA user_version = 0"}, `the table "a"`},
		"another program's, empty": {[]string{"DROP TABLE a", "PRAGMA application_id = 7"},
			"of another program"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			path := file(t, first(), test.statements...)
			db := open(t, path)
			for what, err := range map[string]error{
				"Migrate":                        first().Migrate(t.Context(), db),
				"Migrate by a newer program":     second().Migrate(t.Context(), db),
				"Check":                          first().Check(t.Context(), path),
				"CheckSchema by a newer program": second().CheckSchema(t.Context(), db),
			} {
				if err == nil || !strings.Contains(err.Error(), test.problem) {
					t.Errorf("%s: error %v, want %q", what, err, test.problem)
				}
				if !strings.Contains(test.problem, "another program") && !errors.Is(err, sqlitefile.ErrForeignSchema) {
					t.Errorf("%s: the error does not wrap ErrForeignSchema: %v", what, err)
				}
			}
		})
	}
}

// Statistics of ANALYZE, VACUUM and a migration leave a schema that is accepted.
func TestOwnSchemas(t *testing.T) {
	for name, statements := range map[string][]string{
		"fresh":    nil,
		"analyzed": {"CREATE INDEX i ON a (n)", "ANALYZE", "DROP INDEX i"},
		"vacuumed": {"VACUUM"},
	} {
		t.Run(name, func(t *testing.T) {
			path := file(t, first(), statements...)
			if err := second().Check(t.Context(), path); err != nil {
				t.Errorf("before the migration: %v", err)
			}
			db := open(t, path)
			if err := second().Migrate(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			if err := second().CheckSchema(t.Context(), db); err != nil {
				t.Errorf("after the migration: %v", err)
			}
			var version int
			if err := db.QueryRowContext(t.Context(), "PRAGMA user_version").Scan(&version); err != nil || version != 2 {
				t.Errorf("version %d, %v", version, err)
			}
		})
	}
	if err := first().CheckSchema(t.Context(), empty(t)); err != nil {
		t.Errorf("an empty file: %v", err)
	}
}

func empty(t *testing.T) *sql.DB { return open(t, filepath.Join(t.TempDir(), "empty.db")) }
