package setup_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/plugins/querydb/setup"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "databases.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRead(t *testing.T) {
	path := write(t, `
databases:
  a: {sqlite: {file: "data/{tenant}.db"}}
  b:
    tenants: [acme]
    description: one
    postgres: {server: host=/run dbname=b, role: "{tenant}_r", password_file: "/p/{tenant}", allow_functions: [pg_sleep]}
    max_rows: 5
    timeout: 2s
`)
	f, err := setup.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Dir(path)
	got, ok := f.Find("a", "acme")
	want := setup.Database{SQLite: &setup.SQLite{File: filepath.Join(folder, "data/acme.db")}, MaxRows: 200, MaxBytes: 256 << 10, Timeout: 10 * time.Second}
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Error(diff)
	}
	got, ok = f.Find("b", "acme")
	want = setup.Database{Description: "one", Tenants: []string{"acme"}, MaxRows: 5, MaxBytes: 256 << 10, Timeout: 2 * time.Second,
		Postgres: &setup.Postgres{Server: "host=/run dbname=b", Role: "acme_r", PasswordFile: "/p/acme", AllowFunctions: []string{"pg_sleep"}}}
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Error(diff)
	}
	if _, ok := f.Find("b", "globex"); ok {
		t.Error("globex has a database that is acme's alone")
	}
	if _, ok := f.Find("c", "acme"); ok {
		t.Error("a database that is not there is found")
	}
	if diff := cmp.Diff([]string{"a"}, f.Names("globex")); diff != "" {
		t.Error(diff)
	}
}

func TestReadSaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"{}":                                     "databases: there are none",
		"databases: {a: {}}":                     "databases.a.sqlite, postgres: set one of the two",
		"databases: {a: {sqlite: {}}}":           "databases.a.sqlite.file: say where",
		"databases: {a: {sqlite: {file: x.db}}}": "is the same file for every tenant",
		"databases: {a: {tenants: [x, y], sqlite: {file: x.db}}}":                     "is the same file for every tenant",
		"databases: {a: {postgres: {server: x, role: r}}}":                            "is the same role for every tenant",
		"databases: {a: {postgres: {server: x}}}":                                     "databases.a.postgres.role: say as which role",
		"databases: {'1 2': {sqlite: {file: '{tenant}'}}}":                            `"1 2" is no name`,
		"databases: {a: {sqlite: {file: '{tenant}'}, postgres: {}}}":                  "set one of the two",
		"databases: {a: {sqlite: {file: '{tenant}'}, max_rows: 100000}}":              "max_rows: 100000 is not from 1 to 10000",
		"databases: {a: {sqlite: {file: '{tenant}'}, timeout: 1h}}":                   "timeout: 1h0m0s is not",
		"databases: {a: {sqlite: {file: '{tenant}'}, tenants: [../x]}}":               `"../x" is no tenant`,
		"databases: {a: {sqlite: {file: '{tenant}', mode: rw}}}":                      "mode",
		"tenant: a/b\ndatabases: {a: {sqlite: {file: x.db}}}":                         `"a/b" is no tenant`,
		"databases: {a: {sqlite: {file: x.db}}, b: {postgres: {server: x, role: y}}}": "databases.b.postgres.role",
	} {
		if f, err := setup.Read(write(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v, want %q", text, f, err, want)
		}
	}
	for _, text := range []string{"tenant: acme\ndatabases: {a: {sqlite: {file: x.db}}}", "databases: {a: {tenants: [acme], postgres: {server: x, role: r}}}",
		`{"databases": {"a": {"sqlite": {"file": "{tenant}.db"}}}}`} {
		if _, err := setup.Read(write(t, text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestCheckTenant(t *testing.T) {
	for _, name := range []string{"acme", "A-1", "0_x", strings.Repeat("a", 63)} {
		if err := setup.CheckTenant(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"", "..", "a/b", "a.b", "-a", "a b", "a\n", "ä", "a'", "{tenant}", "a\x00", strings.Repeat("a", 64)} {
		if setup.CheckTenant(name) == nil {
			t.Errorf("%q passes", name)
		}
	}
}
