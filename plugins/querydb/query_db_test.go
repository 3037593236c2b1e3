package main

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/sdktest"
)

func tenant(name string) sdktest.Option { return sdktest.WithValue(keyTenant, name) }

// Each row is in the answer once (MoonshotAI/kimi-code#3234, NousResearch/hermes-agent#96807).
func TestAnswer(t *testing.T) {
	h, _ := openLibrary(t, twoTenants)
	got := h.Call("query_db", `{"database":"books","sql":"SELECT id, title, NULL AS x FROM books WHERE title = ?1","parameters":["Rye"]}`, tenant("acme"))
	want := []sdk.Content{
		sdk.JSON([]byte(`{"columns":[{"name":"id","type":"INTEGER"},{"name":"title","type":"TEXT"},{"name":"x"}],"rows":[[1,"Rye",null]],"truncated":false}`)),
	}
	if diff := cmp.Diff(want, got.Content); got.Err != nil || diff != "" {
		t.Errorf("%v\n%s", got.Err, diff)
	}
	got = h.Call("query_db", `{"database":"books","sql":"VALUES (1), (2), (3)","max_rows":2}`, tenant("acme"))
	if !strings.Contains(got.Text(), "[2 rows; there are more, cut at the limit of 2 rows: ") {
		t.Errorf("a limit: %s", got.Text())
	}
}

// Only the context determines the tenant.
func TestTenants(t *testing.T) {
	h, dir := openLibrary(t, twoTenants)
	const all = `{"database":"books","sql":"SELECT title FROM books"}`
	for name, want := range map[string]string{"acme": "Rye", "globex": "Sesame"} {
		if got := h.Call("query_db", all, tenant(name)); !strings.Contains(got.Text(), want) {
			t.Errorf("%s: %s, %v", name, got.Text(), got.Err)
		}
	}
	for name, options := range map[string][]sdktest.Option{
		"none":           nil,
		"no text":        {sdktest.WithValue(keyTenant, 7)},
		"a path":         {tenant("../acme")},
		"empty":          {tenant("")},
		"another key":    {sdktest.WithValue("user", "acme")},
		"a session":      {sdktest.WithSession("acme")},
		"a list":         {sdktest.WithValue(keyTenant, []string{"acme"})},
		"a file's name":  {tenant("acme.db?mode=rwc")},
		"with a newline": {tenant("acme\n")},
	} {
		got := h.Call("query_db", all, options...)
		if infra, ok := errors.AsType[*sdk.Error](got.Err); !ok || infra.Kind != "denied" {
			t.Errorf("%s: %s, %v", name, got.Text(), got.Err)
		}
	}
	got := h.Call("query_db", all, tenant("nobody"))
	if infra, ok := errors.AsType[*sdk.Error](got.Err); !ok || infra.Kind != "unavailable" {
		t.Errorf("a tenant without a file: %s, %v", got.Text(), got.Err)
	}
	if got := h.Call("query_db", `{"database":"books","sql":"SELECT 1","tenant":"globex"}`, tenant("acme")); !got.IsError {
		t.Errorf("an argument says whose call it is: %s", got.Text())
	}
	if entries, _ := filepath.Glob(filepath.Join(dir, "*")); len(entries) != 3 {
		t.Errorf("files appeared: %v", entries)
	}
}

func TestOneTenant(t *testing.T) {
	h, _ := openLibrary(t, "tenant: acme\n"+twoTenants)
	for _, options := range [][]sdktest.Option{nil, {tenant("globex")}} {
		if got := h.Call("query_db", `{"database":"books","sql":"SELECT title FROM books"}`, options...); !strings.Contains(got.Text(), "Rye") {
			t.Errorf("%s, %v", got.Text(), got.Err)
		}
	}
}

// The model reads errors that it can correct. The caller receives errors that an operator must
// correct.
func TestErrors(t *testing.T) {
	h, _ := openLibrary(t, twoTenants)
	for _, test := range []struct{ arguments, want string }{
		{`{"database":"films","sql":"SELECT 1"}`, "films"},
		{`{"database":"books","sql":"SELECT author FROM books"}`, "no such column: author"},
		{`{"database":"books","sql":"DELETE FROM books"}`, "nothing can be changed"},
		{`{"database":"books","sql":"SELECT 1; SELECT 2"}`, "only one statement"},
		{`{"database":"books","sql":"SELECT ?1"}`, "parameters has no value for each of the statement's"},
		{`{"database":"books","sql":"SELECT writer FROM books"}`, "no such column: writer (1). describe_db shows"},
		{`{"database":"books","sql":"WITH a AS (SELECT 1) DELETE FROM books"}`, "nothing can be changed"},
		{`{"database":"books","sql":"SELECT * FROM nowhere"}`, "no such table: nowhere (1). describe_db shows"},
	} {
		got := h.Call("query_db", test.arguments, tenant("acme"))
		if got.Err != nil || !got.IsError || !strings.Contains(got.Text(), test.want) {
			t.Errorf("%s: %q, %v", test.arguments, got.Text(), got.Err)
		}
		if strings.Contains(test.arguments, `"SELECT`) && strings.Contains(got.Text(), "SELECT, VALUES") {
			t.Errorf("%s: who writes SELECT is told to: %q", test.arguments, got.Text())
		}
	}
	for name, path := range map[string]string{"no setup": "", "no such file": filepath.Join(t.TempDir(), "none.yaml")} {
		l, err := newLibrary(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range []string{"query_db", "describe_db"} {
			arguments := map[string]string{"database": "books"}
			if tool == "query_db" {
				arguments["sql"] = "SELECT 1"
			}
			got := sdktest.New(t, plugin(l)).Call(tool, arguments, tenant("acme"))
			if infra, ok := errors.AsType[*sdk.Error](got.Err); !ok || infra.Kind != "unavailable" {
				t.Errorf("%s: %s: %s, %v", name, tool, got.Text(), got.Err)
			}
		}
	}
}

func TestTimeLimit(t *testing.T) {
	h, _ := openLibrary(t, `databases: {books: {timeout: 20ms, sqlite: {file: "DIR/{tenant}.db"}}}`)
	got := h.Call("query_db", `{"database":"books","sql":"WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"}`, tenant("acme"))
	if got.Err != nil || !got.IsError || !strings.Contains(got.Text(), "longer than the 20ms") {
		t.Errorf("%s, %v", got.Text(), got.Err)
	}
}

// Descriptions have only the tenant's databases and tables, and follow a change of the setup
// immediately.
func TestDescriptions(t *testing.T) {
	h, dir := openLibrary(t, twoTenants+"\n")
	spec := func(options ...sdktest.Option) sdk.Spec { return h.Describe(options...).Tools[0] }
	got := spec(tenant("acme"))
	if want := "books (SQLite, at most 200 rows): the books\n  books(id INTEGER primary key, title TEXT)"; !strings.HasSuffix(got.Description, want) {
		t.Errorf("acme is told:\n%s", got.Description)
	}
	if !strings.Contains(string(got.InputSchema), `"enum":["books"]`) {
		t.Errorf("acme's schema is %s", got.InputSchema)
	}
	if got := spec(); got.Description != queryDescription || strings.Contains(string(got.InputSchema), "enum") {
		t.Errorf("nobody is told:\n%s\n%s", got.Description, got.InputSchema)
	}
	if got := spec(tenant("nobody")); !strings.Contains(got.Description, "its tables cannot be listed now") {
		t.Errorf("a tenant without a file is told:\n%s", got.Description)
	}
	text := strings.ReplaceAll(`databases: {other: {tenants: [acme], sqlite: {file: "DIR/{tenant}.db"}}}`, "DIR", dir)
	if err := os.WriteFile(filepath.Join(dir, "setup.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := spec(tenant("acme")); !strings.Contains(got.Description, "other (SQLite") || strings.Contains(got.Description, "books (SQLite") {
		t.Errorf("after a change acme is told:\n%s", got.Description)
	}
	if got := spec(tenant("globex")); strings.Contains(got.Description, "other (") {
		t.Errorf("globex is told of what is not its own:\n%s", got.Description)
	}
}

func TestDescribeDB(t *testing.T) {
	h, _ := openLibrary(t, twoTenants)
	for _, test := range []struct {
		arguments, want string
		isError         bool
	}{
		{`{"database":"books"}`, "books(id INTEGER primary key, title TEXT)\n(tables: 1)", false},
		{`{"database":"books","table":"BOO"}`, "books(id", false},
		{`{"database":"books","table":"film"}`, `none of the 1 tables has "film"`, true},
		{`{"database":"x"}`, "database", true},
	} {
		got := h.Call("describe_db", test.arguments, tenant("acme"))
		if got.Err != nil || got.IsError != test.isError || !strings.Contains(got.Text(), test.want) {
			t.Errorf("%s: %q, %v", test.arguments, got.Text(), got.Err)
		}
	}
}

// A description of many tables does not fill the model's window. The test runs in a synctest
// bubble, whose clock stops while the database is read, so the time limit does not expire on a slow
// machine.
func TestDescriptionIsBounded(t *testing.T) { synctest.Test(t, testDescriptionIsBounded) }

func testDescriptionIsBounded(t *testing.T) {
	dir := t.TempDir()
	db, err := sql.Open("sqlite", filepath.Join(dir, "acme.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	columns := "id"
	for i := range 100 {
		columns += fmt.Sprintf(", a_column_whose_name_is_long_%d", i)
	}
	for i := range 200 {
		if _, err := db.Exec(fmt.Sprintf("CREATE TABLE t%03d(%s)", i, columns)); err != nil {
			t.Fatal(err)
		}
	}
	h := hostOf(t, filepath.Join(dir, "setup.yaml"), `databases: {big: {sqlite: {file: "`+dir+`/{tenant}.db"}}, none: {sqlite: {file: "`+dir+`/{tenant}.none"}}}`)
	got := h.Describe(tenant("acme")).Tools[0].Description
	if len(got) > len(queryDescription)+roomForTables || !strings.Contains(got, "t000(id") || !strings.Contains(got, "… and more tables: see describe_db\nnone (SQLite") {
		t.Errorf("%d bytes:\n%s", len(got), got)
	}
	described := h.Call("describe_db", `{"database":"big","table":"t199"}`, tenant("acme"))
	if !strings.Contains(described.Text(), "a_column_whose_name_is_long_99)") {
		t.Errorf("%.200s, %v", described.Text(), described.Err)
	}
}

// A description does not query the database each time, and shows new tables after some time.
func TestSchemasAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, dir := openLibrary(t, twoTenants)
		shows := func() bool { return strings.Contains(h.Describe(tenant("acme")).Tools[0].Description, "films(") }
		if shows() {
			t.Fatal("there are films already")
		}
		db, err := sql.Open("sqlite", filepath.Join(dir, "acme.db"))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Exec("CREATE TABLE films(id)"); err != nil {
			t.Fatal(err)
		}
		if shows() {
			t.Error("the schema was read again at once")
		}
		time.Sleep(fresh)
		if !shows() {
			t.Error("a new table is not noticed")
		}
	})
}
