package sqlite_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Whatever SQL a tenant sends, no file changes or appears, and it reads nothing of another tenant.
// Harmless statements may succeed.
func TestAttacks(t *testing.T) {
	dir := t.TempDir()
	mine := makeFile(t, filepath.Join(dir, "mine.db"), "CREATE TABLE notes(id INTEGER PRIMARY KEY, body TEXT)", "INSERT INTO notes VALUES (1, 'mine')",
		"CREATE VIRTUAL TABLE words USING fts5(body)", "INSERT INTO words VALUES ('mine')")
	theirs := makeFile(t, filepath.Join(dir, "theirs.db"), "CREATE TABLE notes(id INTEGER PRIMARY KEY, body TEXT)", "INSERT INTO notes VALUES (1, 'sesame')")
	t.Chdir(dir)
	r := newReader(t)
	before := digests(t, dir)
	for _, attack := range []string{
		// Writing.
		"INSERT INTO notes VALUES (2, 'x')",
		"UPDATE notes SET body = 'x'",
		"DELETE FROM notes",
		"REPLACE INTO notes VALUES (1, 'x')",
		"INSERT INTO notes VALUES (2, 'x') RETURNING *",
		"WITH x AS (SELECT 1) INSERT INTO notes SELECT 2, 'x' FROM x",
		"WITH x AS (SELECT 1) DELETE FROM notes RETURNING body",
		"CREATE TABLE t(a)",
		"CREATE TABLE t AS SELECT * FROM notes",
		"CREATE TEMP TABLE t(a)",
		"CREATE TEMP VIEW v AS SELECT 1",
		"CREATE VIEW v AS SELECT 1",
		"CREATE INDEX i ON notes(body)",
		"CREATE TRIGGER g AFTER INSERT ON notes BEGIN SELECT 1; END",
		"CREATE VIRTUAL TABLE f USING fts5(a)",
		"ALTER TABLE notes ADD COLUMN c",
		"DROP TABLE notes",
		"REINDEX",
		"ANALYZE",
		"VACUUM",
		"INSERT INTO words(words) VALUES ('rebuild')",
		"UPDATE sqlite_schema SET sql = ''",
		// Other files.
		"ATTACH 'theirs.db' AS o",
		"ATTACH DATABASE 'file:theirs.db?mode=rw' AS o",
		"ATTACH ':memory:' AS o",
		"ATTACH '" + theirs + "' AS o; SELECT * FROM o.notes",
		"DETACH main",
		"VACUUM INTO 'copy.db'",
		"VACUUM main INTO 'copy.db'",
		"SELECT * FROM o.notes",
		"SELECT readfile('theirs.db')",
		"SELECT writefile('copy.db', 'x')",
		"SELECT edit('x')",
		"SELECT * FROM fsdir('.')",
		"SELECT load_extension('theirs.db')",
		"SELECT load_extension('./x.so', 'main')",
		"SELECT fts3_tokenizer('simple', x'4141414141414141')",
		"SELECT * FROM csv('theirs.db')",
		"SELECT * FROM \"theirs.db\"",
		// Settings.
		"PRAGMA writable_schema = 1",
		"PRAGMA query_only = 0",
		"PRAGMA query_only(0)",
		"PRAGMA journal_mode = DELETE",
		"PRAGMA temp_store_directory = '/tmp'",
		"PRAGMA user_version = 7",
		"PRAGMA wal_checkpoint(TRUNCATE)",
		"SELECT * FROM pragma_writable_schema(1)",
		"SELECT * FROM pragma_query_only(0)",
		"SELECT * FROM pragma_journal_mode('DELETE')",
		"SELECT * FROM pragma_wal_checkpoint",
		// Transactions.
		"BEGIN", "BEGIN EXCLUSIVE", "COMMIT", "ROLLBACK", "SAVEPOINT s", "RELEASE s",
		// Several statements, and what hides them.
		"SELECT 1; SELECT 2",
		"SELECT 1; DELETE FROM notes",
		"SELECT 1;;; PRAGMA query_only = 0",
		"SELECT 1 /* ; */ ; DELETE FROM notes",
		"SELECT 1 -- ;\n; DELETE FROM notes",
		"SELECT ';' ; DELETE FROM notes --'",
		"SELECT \"a;\" ; DELETE FROM notes",
		"SELECT [;] ; DELETE FROM notes",
		"SELECT 1) ; DELETE FROM notes; SELECT (1",
		"SELECT 1) LIMIT 1); DELETE FROM notes; --",
		"SELECT 1 /*",
		"SELECT '",
		"SELECT 1\x00; DELETE FROM notes",
		"SELECT * FROM (DELETE FROM notes RETURNING *)",
		"EXPLAIN DELETE FROM notes",
		"/* only a comment */",
		"",
		// What belongs to the reader.
		"SELECT toolhost_row('x', 1)",
		"SELECT toolhost_row()",
		"SELECT toolhost_row(x'00', 1) FROM notes",
		// Too much.
		"SELECT zeroblob(1000000000)",
		"SELECT printf('%900000000s', 'x')",
		"SELECT group_concat(hex(zeroblob(4000000))) FROM (VALUES (1), (2), (3), (4))",
	} {
		answer, err := r.Query(t.Context(), mine, attack, nil, enough)
		if err == nil {
			t.Errorf("%q is answered: %v", attack, answer)
		} else if strings.Contains(err.Error(), "sesame") {
			t.Errorf("%q: %v", attack, err)
		}
		if diff := cmp.Diff(before, digests(t, dir)); diff != "" {
			t.Fatalf("%q changed a file:\n%s", attack, diff)
		}
	}
}

// Statements that only look like attacks succeed.
func TestHarmless(t *testing.T) {
	mine := makeFile(t, filepath.Join(t.TempDir(), "mine.db"), "CREATE TABLE notes(id INTEGER PRIMARY KEY, body TEXT)", "INSERT INTO notes VALUES (1, 'a;b')")
	r := newReader(t)
	for query, want := range map[string]string{
		"SELECT body FROM notes;":                                `[["a;b"]]`,
		"SELECT body FROM notes -- the end":                      `[["a;b"]]`,
		"SELECT body FROM notes; -- the end\n /* of all */ ;":    `[["a;b"]]`,
		"SELECT ';--''', \";\" FROM (SELECT 1 AS \";\")":         `[[";--'",1]]`,
		"VALUES (1), (2)":                                        `[[1],[2]]`,
		"WITH x(a) AS (VALUES (3)) SELECT a FROM x":              `[[3]]`,
		"SELECT name FROM pragma_table_info('notes') ORDER BY 1": `[["body"],["id"]]`,
		"SELECT 1 AS a, 2 AS a":                                  `[[1,2]]`,
	} {
		answer, err := r.Query(t.Context(), mine, query, nil, enough)
		if err != nil {
			t.Errorf("%q: %v", query, err)
			continue
		}
		if got, _ := json.Marshal(answer.Rows); string(got) != want {
			t.Errorf("%q: %s, want %s", query, got, want)
		}
	}
}

// A statement cannot add a row to the answer of another query, because it cannot guess the token.
func TestForeignRows(t *testing.T) {
	mine := makeFile(t, filepath.Join(t.TempDir(), "mine.db"), "CREATE TABLE t(a)")
	r := newReader(t)
	answer, err := r.Query(t.Context(), mine, "SELECT sql FROM sqlite_stmt", nil, enough)
	if err == nil {
		t.Errorf("statements under way can be seen: %v", answer)
	}
}

// A missing file is not created.
func TestMissingFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := newReader(t).Query(t.Context(), filepath.Join(dir, "none.db"), "SELECT 1", nil, enough); err == nil {
		t.Error("a file that is not there answers")
	}
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("made %v", entries)
	}
}

// A path is not parsed as a URI with options.
func TestPathIsNoURI(t *testing.T) {
	dir := t.TempDir()
	path := makeFile(t, filepath.Join(dir, "a.db"), "CREATE TABLE t(a)")
	odd := filepath.Join(dir, "a.db?mode=rwc&x=%41#y")
	if err := os.Rename(path, odd); err != nil {
		t.Fatal(err)
	}
	r := newReader(t)
	if _, err := r.Query(t.Context(), odd, "SELECT * FROM t", nil, enough); err != nil {
		t.Error(err)
	}
	if _, err := r.Query(t.Context(), path+"?mode=rwc", "SELECT 1", nil, enough); err == nil {
		t.Error("options in a path are heeded")
	}
}

// An endless query ends with its context.
func TestEndlessQueryEnds(t *testing.T) {
	path := makeFile(t, filepath.Join(t.TempDir(), "a.db"), "CREATE TABLE t(a)")
	r := newReader(t)
	const endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
	for _, query := range []string{
		endless + "SELECT count(*) FROM c",
		"SELECT 1 UNION ALL SELECT * FROM (" + endless + "SELECT count(*) FROM c)",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, err := r.Query(ctx, path, query, nil, enough)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", query, err)
		}
	}
	limits := enough
	limits.Rows = 3
	answer, err := r.Query(t.Context(), path, endless+"SELECT x FROM c", nil, limits)
	if err != nil || len(answer.Rows) != 3 || !answer.Truncated {
		t.Errorf("the first rows of an endless query: %v, %v", answer, err)
	}
}

// A reader does not block a writer, and sees committed data.
func TestWriterGoesOn(t *testing.T) {
	path := makeFile(t, filepath.Join(t.TempDir(), "a.db"), "PRAGMA journal_mode = WAL", "CREATE TABLE t(a)")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r := newReader(t)
	for want := range 3 {
		answer, err := r.Query(t.Context(), path, "SELECT count(*) FROM t", nil, enough)
		if err != nil || string(answer.Rows[0][0]) != string(rune('0'+want)) {
			t.Fatalf("after %d rows: %v, %v", want, answer, err)
		}
		if _, err := db.Exec("INSERT INTO t VALUES (1)"); err != nil {
			t.Fatal(err)
		}
	}
}
