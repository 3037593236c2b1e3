package sqlite_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/plugins/querydb/rowset"
)

// Answers have exactly SQLite's values.
func TestValuesAreExact(t *testing.T) {
	path := makeFile(t, filepath.Join(t.TempDir(), "a.db"),
		"CREATE TABLE t(i INTEGER, r REAL, s TEXT, b BLOB, d DATE, ts TIMESTAMP, n NUMERIC, flag BOOLEAN)",
		"INSERT INTO t VALUES (9007199254740992, 0.1, 'a\nb', x'00ff', '2026-11-21', '2026-11-21 12:00', 3.0, 1)",
		"INSERT INTO t VALUES (9223372036854775807, 9e999, 'ü\"<', x'', '2026-11-21T00:00:00Z', '2026-11-21 12:00:00 +0000 UTC', 7, 0)",
		"INSERT INTO t VALUES (-9007199254740993, -0.0, CAST(x'ff41' AS TEXT), NULL, 'tomorrow', 1732190400, NULL, 'maybe')")
	answer, err := newReader(t).Query(t.Context(), path, "SELECT * FROM t ORDER BY rowid", nil, enough)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(answer)
	want := `{"columns":[{"name":"i","type":"INTEGER"},{"name":"r","type":"REAL"},{"name":"s","type":"TEXT"},{"name":"b","type":"BLOB"},` +
		`{"name":"d","type":"DATE"},{"name":"ts","type":"TIMESTAMP"},{"name":"n","type":"NUMERIC"},{"name":"flag","type":"BOOLEAN"}],"rows":[` +
		`[9007199254740992,0.1,"a\nb",{"base64":"AP8="},"2026-11-21","2026-11-21 12:00",3,1],` +
		`["9223372036854775807","Infinity","ü\"\u003c",{"base64":""},"2026-11-21T00:00:00Z","2026-11-21 12:00:00 +0000 UTC",7,0],` +
		`["-9007199254740993",0.0,{"base64":"/0E="},null,"tomorrow",1732190400,null,"maybe"]],"truncated":false}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

// Rows keep the order of the query: with a sorter, with an index, and of an expression.
func TestOrderIsKept(t *testing.T) {
	path := makeFile(t, filepath.Join(t.TempDir(), "a.db"), "CREATE TABLE t(a INTEGER, b INTEGER)", "CREATE INDEX i ON t(b)",
		"WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 100) INSERT INTO t SELECT x, (x * 37) % 101 FROM c")
	r := newReader(t)
	for _, query := range []string{
		"SELECT (a * 37) % 101 FROM t ORDER BY 1 DESC",
		"SELECT b FROM t ORDER BY b DESC",
		"SELECT b FROM t GROUP BY b ORDER BY b DESC",
		"SELECT b FROM t UNION SELECT b FROM t ORDER BY b DESC",
		"WITH q AS (SELECT b FROM t) SELECT b FROM q ORDER BY -b",
		"SELECT x.b FROM t x JOIN t y USING (a) ORDER BY y.b DESC LIMIT 100",
	} {
		answer, err := r.Query(t.Context(), path, query, nil, enough)
		if err != nil || len(answer.Rows) != 100 {
			t.Fatalf("%s: %d rows, %v", query, len(answer.Rows), err)
		}
		for i, row := range answer.Rows {
			if string(row[0]) != fmt.Sprint(100-i) {
				t.Fatalf("%s: row %d is %s", query, i, row[0])
			}
		}
	}
}

func TestLimits(t *testing.T) {
	path := makeFile(t, filepath.Join(t.TempDir(), "a.db"), "CREATE TABLE t(a)", "INSERT INTO t VALUES (1), (2), (3)")
	r := newReader(t)
	for _, test := range []struct {
		query  string
		limits rowset.Limits
		rows   int
		limit  string
	}{
		{"SELECT a FROM t", rowset.Limits{Rows: 3, Bytes: 100}, 3, ""},
		{"SELECT a FROM t", rowset.Limits{Rows: 2, Bytes: 100}, 2, "the limit of 2 rows"},
		{"SELECT a FROM t LIMIT 2", rowset.Limits{Rows: 2, Bytes: 100}, 2, ""},
		{"SELECT printf('%40d', a) FROM t", rowset.Limits{Rows: 5, Bytes: 100}, 2, "the limit of 100 bytes"},
		{"SELECT hex(zeroblob(1000))", rowset.Limits{Rows: 5, Bytes: 100}, 0, "the limit of 100 bytes"},
		{"SELECT a FROM t WHERE 0", rowset.Limits{Rows: 5, Bytes: 100}, 0, ""},
	} {
		answer, err := r.Query(t.Context(), path, test.query, nil, test.limits)
		if err != nil || len(answer.Rows) != test.rows || answer.Limit != test.limit || answer.Truncated != (test.limit != "") {
			t.Errorf("%s: %+v, %v", test.query, answer, err)
		}
	}
}

func TestParameters(t *testing.T) {
	path := makeFile(t, filepath.Join(t.TempDir(), "a.db"), "CREATE TABLE t(a)", "INSERT INTO t VALUES (1), ('x'' OR 1=1')")
	r := newReader(t)
	for _, test := range []struct {
		query      string
		parameters []any
		want       string
	}{
		{"SELECT a FROM t WHERE a = ?", []any{int64(1)}, "[[1]]"},
		{"SELECT a FROM t WHERE a = ?1", []any{"x' OR 1=1"}, `[["x' OR 1=1"]]`},
		{"SELECT ?2, ?1, ?3, ?4, ?5", []any{1.5, nil, true, "s", int64(1) << 60}, `[[null,1.5,1,"s","1152921504606846976"]]`},
	} {
		answer, err := r.Query(t.Context(), path, test.query, test.parameters, enough)
		got, _ := json.Marshal(answer.Rows)
		if err != nil || string(got) != test.want {
			t.Errorf("%s: %s, %v", test.query, got, err)
		}
	}
	if _, err := r.Query(t.Context(), path, "SELECT ?", nil, enough); err == nil {
		t.Error("a parameter that is missing is not missed")
	}
}

// A query may have more columns than a function may have arguments.
func TestManyColumns(t *testing.T) {
	path := makeFile(t, filepath.Join(t.TempDir(), "a.db"), "CREATE TABLE t(a)")
	var list []string
	for i := range 250 {
		list = append(list, fmt.Sprint(i))
	}
	answer, err := newReader(t).Query(t.Context(), path, "VALUES ("+strings.Join(list, ", ")+")", nil, enough)
	if err != nil || len(answer.Rows) != 1 || len(answer.Rows[0]) != 250 || string(answer.Rows[0][249]) != "249" {
		t.Errorf("%v, %v", answer.Rows, err)
	}
}

func TestSchema(t *testing.T) {
	path := makeFile(t, filepath.Join(t.TempDir(), "a.db"),
		"CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT NOT NULL)",
		"CREATE TABLE orders(id INTEGER PRIMARY KEY AUTOINCREMENT, customer INTEGER REFERENCES customers(id), total NUMERIC, tax GENERATED ALWAYS AS (total / 5))",
		"CREATE VIEW big AS SELECT id FROM orders WHERE total > 100")
	r := newReader(t)
	got, err := r.Schema(t.Context(), path, 10)
	if err != nil {
		t.Fatal(err)
	}
	want := rowset.Schema{Tables: []rowset.Table{
		{Name: "big", Columns: []rowset.TableColumn{{Name: "id", Type: "INTEGER"}}},
		{Name: "customers", Columns: []rowset.TableColumn{{Name: "id", Type: "INTEGER", Key: "primary key"}, {Name: "name", Type: "TEXT"}}},
		{Name: "orders", Columns: []rowset.TableColumn{{Name: "id", Type: "INTEGER", Key: "primary key"},
			{Name: "customer", Type: "INTEGER", Key: "references customers"}, {Name: "total", Type: "NUMERIC"}, {Name: "tax"}}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got, err = r.Schema(t.Context(), path, 2); err != nil || len(got.Tables) != 2 || !got.More {
		t.Errorf("two tables: %+v, %v", got, err)
	}
}

// Each of many concurrent queries receives its own rows of its own file. Nothing is left afterward.
func TestConcurrentQueries(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	dir := t.TempDir()
	r := newReader(t)
	var asking sync.WaitGroup
	for tenant := range 4 {
		path := makeFile(t, filepath.Join(dir, fmt.Sprint(tenant)), "CREATE TABLE t(a)",
			fmt.Sprintf("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 200) INSERT INTO t SELECT %d FROM c", tenant))
		for range 4 {
			asking.Go(func() { // ends with its queries
				for range 5 {
					answer, err := r.Query(t.Context(), path, "SELECT a FROM t ORDER BY random()", nil, enough)
					if err != nil || len(answer.Rows) != 200 {
						t.Errorf("tenant %d: %d rows, %v", tenant, len(answer.Rows), err)
					}
					for _, row := range answer.Rows {
						if string(row[0]) != fmt.Sprint(tenant) {
							t.Errorf("tenant %d has a row of tenant %s", tenant, row[0])
						}
					}
				}
			})
		}
	}
	asking.Wait()
}
