//go:build more

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	"github.com/toolhost/toolhost/sdk/sdktest"
)

// This is the example of docs/query_db.md, with folders and a server of the test.
func TestExample(t *testing.T) {
	server := postgrestest.Start(t)
	server.Do(t, "postgres", "CREATE DATABASE shop")
	server.Do(t, "shop", `CREATE TABLE customers (id int PRIMARY KEY, name text);
		CREATE TABLE orders (id int PRIMARY KEY, tenant text NOT NULL, customer int REFERENCES customers, total numeric(10,2));
		COMMENT ON TABLE orders IS 'in euros';
		INSERT INTO customers VALUES (1, 'Ada'); INSERT INTO orders VALUES (1, 'acme', 1, 12.50), (2, 'globex', 1, 99)`)
	for _, sql := range blocks(t, "sql") {
		server.Do(t, "shop", sql)
	}
	dir := t.TempDir()
	branch(t, dir, "acme", "Rye")
	if err := os.WriteFile(filepath.Join(dir, "acme"), []byte("change me\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	setup := strings.NewReplacer("/srv/library", dir, "/etc/toolhost/passwords", dir, "host=/run/postgresql", "sslmode=disable host="+server.Folder()).Replace(blocks(t, "yaml")[1])
	h := hostOf(t, filepath.Join(dir, "setup.yaml"), setup)

	spec := h.Describe(tenant("acme")).Tools[0]
	const want = `library (SQLite, at most 200 rows): The books of each branch, and who has borrowed them.
  books(id INTEGER primary key, title TEXT)
shop (PostgreSQL, at most 500 rows): Customers and their orders; totals are in euros.
  customers(id integer primary key, name text)
  orders(id integer primary key, tenant text, customer integer references customers, total numeric(10,2)) -- in euros`
	if !strings.HasSuffix(spec.Description, want) {
		t.Errorf("acme is told:\n%s", spec.Description)
	}
	for _, test := range []struct {
		tenant, arguments, want string
		infra                   bool
	}{
		{"acme", `{"database":"library","sql":"SELECT title FROM books"}`, `[["Rye"]]`, false},
		{"acme", `{"database":"shop","sql":"SELECT c.name, o.total FROM orders o JOIN customers c ON c.id = o.customer WHERE c.name = $1 AND o.total > $2","parameters":["Ada", 1.5]}`, `[["Ada","12.50"]]`, false},
		{"acme", `{"database":"shop","sql":"SELECT $1::bool, $2::text, $3::int8","parameters":[true, null, 9007199254740993]}`, `"rows":[[true,null,"9007199254740993"]]`, false},
		{"acme", `{"database":"shop","sql":"DELETE FROM orders"}`, "One statement that answers with rows", false},
		{"acme", `{"database":"shop","sql":"SELECT pg_advisory_lock(1)"}`, "permission denied", false},
		{"globex", `{"database":"shop","sql":"SELECT 1"}`, "", true},
		{"initech", `{"database":"library","sql":"SELECT 1"}`, "", true},
	} {
		got := h.Call("query_db", test.arguments, tenant(test.tenant))
		if (got.Err != nil) != test.infra || !test.infra && !strings.Contains(got.Text(), test.want) {
			t.Errorf("%s: %s: %q, %v", test.tenant, test.arguments, got.Text(), got.Err)
		}
	}
	if got := h.Call("query_db", `{"database":"shop","sql":"SELECT 1"}`, tenant("initech")); got.Err != nil || !got.IsError {
		t.Errorf("a tenant that is not listed: %q, %v", got.Text(), got.Err)
	}
	server.Do(t, "shop", "ALTER ROLE acme_reader SUPERUSER")
	if got := h.Call("query_db", `{"database":"shop","sql":"SELECT 1"}`, tenant("acme")); got.Err == nil || !strings.Contains(got.Err.Error(), "SUPERUSER") {
		t.Errorf("an unfit role: %q, %v", got.Text(), got.Err)
	}
	if got := h.Call("describe_db", `{"database":"library"}`, tenant("acme"), sdktest.WithSession("s")); !strings.Contains(got.Text(), "books(") {
		t.Errorf("%q, %v", got.Text(), got.Err)
	}
}
