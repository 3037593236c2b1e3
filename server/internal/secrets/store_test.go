package secrets_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/secrets"
)

// write creates a file and returns its path.
func write(t *testing.T, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // regardless of the umask
		t.Fatal(err)
	}
	return path
}

func environment(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

// forAll returns the same place of a value for all tenants.
func forAll(place secrets.Place) map[string]secrets.Place {
	return map[string]secrets.Place{secrets.AllTenants: place}
}

func TestValues(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	large := strings.Repeat("x", 64<<10)
	for name, tc := range map[string]struct {
		place secrets.Place
		want  string // alternative to errs
		errs  []string
	}{
		"a variable":            {secrets.Place{Env: "V"}, " a value\n", nil},
		"a file":                {secrets.Place{File: write(t, "a value", 0o600)}, "a value", nil},
		"a line":                {secrets.Place{File: write(t, "a value\n", 0o600)}, "a value", nil},
		"a line of Windows":     {secrets.Place{File: write(t, "a value\r\n", 0o600)}, "a value", nil},
		"lines":                 {secrets.Place{File: write(t, "a\nb\n\n", 0o600)}, "a\nb\n", nil},
		"as large as may be":    {secrets.Place{File: write(t, large+"\r\n", 0o600)}, large, nil},
		"a variable not set":    {secrets.Place{Env: "W"}, "", []string{`the secret "S" is missing`, "the variable W", "start toolhost with it"}},
		"an empty file":         {secrets.Place{File: write(t, "\n", 0o600)}, "", []string{`"S" is missing`, "is empty", "write the value into it"}},
		"no file":               {secrets.Place{File: "/no/such/file"}, "", []string{`"S" is missing`, "the file /no/such/file", "no such file", "write the value into it"}},
		"a folder":              {secrets.Place{File: t.TempDir()}, "", []string{"no regular file"}},
		"a pipe without writer": {secrets.Place{File: pipe}, "", []string{"no regular file"}},
		"too large":             {secrets.Place{File: write(t, large+"xxx", 0o600)}, "", []string{"larger than 65536 bytes"}},
		"too large by one":      {secrets.Place{File: write(t, large+"x", 0o600)}, "", []string{"larger than 65536 bytes"}},
		"no text":               {secrets.Place{File: write(t, "a\xffb", 0o600)}, "", []string{"no UTF-8 text", "base64"}},
	} {
		t.Run(name, func(t *testing.T) {
			source := secrets.Source{Name: "S", Plugins: []string{"p"}, Tenants: forAll(tc.place)}
			store := secrets.New(secrets.Config{Sources: []secrets.Source{source}, Getenv: environment(map[string]string{"V": " a value\n"})})
			got, err := store.View("ada").Values("p", []string{"S"})
			if tc.errs == nil {
				if diff := cmp.Diff(map[string]string{"S": tc.want}, got); diff != "" || err != nil {
					t.Errorf("%v (-want +got):\n%s", err, diff)
				}
				return
			}
			for _, want := range tc.errs {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("the error is %v, without %q", err, want)
				}
			}
			if got != nil {
				t.Errorf("there is %q", got)
			}
		})
	}
}

// TestGrants checks that a plugin receives exactly the secrets that were granted and requested.
func TestGrants(t *testing.T) {
	store := secrets.New(secrets.Config{
		Sources: []secrets.Source{{Name: "A", Tenants: forAll(secrets.Place{Env: "A"}), Plugins: []string{"p", "q"}}, {Name: "B", Tenants: forAll(secrets.Place{Env: "B"}), Plugins: []string{"q"}}, {Name: "C", Tenants: forAll(secrets.Place{Env: "C"})}},
		Getenv:  environment(map[string]string{"A": "value a", "B": "value b", "C": "value c"}),
	})
	for name, tc := range map[string]struct {
		store  *secrets.Store
		plugin string
		names  []string
		want   map[string]string
		errs   []string
	}{
		"all":       {store, "q", []string{"A", "B"}, map[string]string{"A": "value a", "B": "value b"}, nil},
		"some":      {store, "q", []string{"B"}, map[string]string{"B": "value b"}, nil},
		"none":      {store, "q", nil, nil, nil},
		"forbidden": {store, "p", []string{"A", "B"}, nil, []string{`the secret "B" is not granted to the plugin "p"`, "secrets.B.plugins of toolhost.yaml"}},
		"nobody's":  {store, "p", []string{"C"}, nil, []string{`the secret "C" is not granted`}},
		"unknown":   {store, "p", []string{"X", "B", "X"}, nil, []string{`the secret "X" is not in the configuration`, "plugins: [p]", `; and the secret "X"`}},
		"no store":  {nil, "p", []string{"A"}, nil, []string{`the secret "A" is not in the configuration`}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tc.store.View("ada").Values(tc.plugin, tc.names)
			if diff := cmp.Diff(tc.want, got); diff != "" || (err != nil) != (tc.errs != nil) {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			for _, want := range tc.errs {
				if err == nil || strings.Count(err.Error(), want) != 1 || strings.Contains(err.Error(), "value") && !strings.Contains(err.Error(), "values") {
					t.Errorf("the error is %v; want once %q, and no value", err, want)
				}
			}
		})
	}
}

// TestNewValues checks that a changed value is read again, and that both values are redacted.
func TestNewValues(t *testing.T) {
	path := write(t, "the first value", 0o600)
	store := secrets.New(secrets.Config{Sources: []secrets.Source{{Name: "S", Tenants: forAll(secrets.Place{File: path}), Plugins: []string{"p"}}}})
	for _, value := range []string{"the first value", "the other value"} {
		if err := os.WriteFile(path, []byte(value), 0o600); err != nil {
			t.Fatal(err)
		}
		view := store.View("ada")
		got, err := view.Values("p", []string{"S"})
		if err != nil || got["S"] != value {
			t.Errorf("got %q, %v", got, err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if got, err := view.Values("p", []string{"S"}); err != nil || got["S"] != value {
			t.Errorf("the view looked again: %q, %v", got, err)
		}
	}
	if got := store.Redactor().Text("the first value, the other value"); got != "[secret S], [secret S]" {
		t.Errorf("shown is %q", got)
	}
}

// TestInspect checks that Inspect warns about what no tool reports, and that all values are
// redacted afterwards.
func TestInspect(t *testing.T) {
	open := write(t, "open to all", 0o604)
	store := secrets.New(secrets.Config{
		Sources: []secrets.Source{
			{Name: "OPEN", Tenants: forAll(secrets.Place{File: open})}, {Name: "CLOSED", Tenants: forAll(secrets.Place{File: write(t, "closed to others", 0o640)})}, {Name: "MISSING", Tenants: forAll(secrets.Place{File: "/no/such/file"})},
			{Name: "SHORT", Tenants: forAll(secrets.Place{Env: "SHORT"})}, {Name: "UNSET", Tenants: forAll(secrets.Place{Env: "UNSET"})},
		},
		Getenv: environment(map[string]string{"SHORT": "12345"}),
	})
	got := store.Inspect()
	if len(got) != 2 || !strings.Contains(got[0], open) || !strings.Contains(got[0], "chmod 600") ||
		!strings.Contains(got[1], `"SHORT" is shorter than 6 bytes`) || strings.Contains(got[1], "12345") {
		t.Errorf("the warnings are %q", got)
	}
	if got := store.Redactor().Text("open to all, closed to others, 12345"); got != "[secret OPEN], [secret CLOSED], 12345" {
		t.Errorf("shown is %q", got)
	}
	var none *secrets.Store
	if none.Inspect() != nil || none.Redactor() != nil || secrets.New(secrets.Config{}).Redactor() != nil {
		t.Error("a store without secrets has something")
	}
}
