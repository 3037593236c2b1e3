package secrets_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/secrets"
)

// A value reaches the principals and tenants that the operator named, and no others.
func TestTenantsHaveTheirOwnValues(t *testing.T) {
	place := func(name string) secrets.Place { return secrets.Place{Env: name} }
	store := secrets.New(secrets.Config{
		Sources: []secrets.Source{
			{
				Name: "S", Plugins: []string{"p"},
				Tenants:    map[string]secrets.Place{"default": place("DEFAULT"), "red": place("RED")},
				Principals: map[string]secrets.Place{"red/ada": place("ADA"), "bob": place("BOB")},
			},
			{Name: "T", Plugins: []string{"q"}, Tenants: map[string]secrets.Place{"all": place("ALL"), "red": place("RED")}},
		},
		Getenv: func(name string) string { return "the value " + name },
	})
	for _, tc := range []struct{ principal, plugin, name, want string }{
		{"ada", "p", "S", "DEFAULT"}, {"bob", "p", "S", "BOB"}, {"red/ada", "p", "S", "ADA"}, {"red/bob", "p", "S", "RED"},
		{"blue/ada", "p", "S", ""}, {"default/ada", "p", "S", "DEFAULT"}, {"Red/ada", "p", "S", ""}, {"red/", "p", "S", "RED"},
		{"blue/ada", "q", "T", "ALL"}, {"red/ada", "q", "T", "RED"}, {"", "q", "T", "ALL"}, {"red/ada", "q", "S", ""},
	} {
		got, err := store.View(tc.principal).Values(tc.plugin, []string{tc.name})
		switch {
		case tc.want == "" && err == nil:
			t.Errorf("%s got %q of %s", tc.principal, got, tc.name)
		case tc.want != "" && got[tc.name] != "the value "+tc.want:
			t.Errorf("%s got %q of %s, %v, and not %s", tc.principal, got, tc.name, err, tc.want)
		case err != nil && strings.Contains(err.Error(), "the value "):
			t.Errorf("the error has a value: %v", err)
		}
	}
	if !store.PerPrincipal("p") || store.PerPrincipal("q") || store.PerPrincipal("r") {
		t.Error("PerPrincipal differs from the grants")
	}
	if got := store.Redactor().Text("the value ADA, the value RED, the value ALL"); got != "[secret S], [secret S], [secret T]" {
		t.Errorf("redacted: %s", got)
	}
}

// script writes a shell script and returns a place that runs it.
func script(t *testing.T, text string) secrets.Place {
	t.Helper()
	path := filepath.Join(t.TempDir(), "print")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
	return secrets.Place{Command: []string{path, "an argument; echo $(injected)"}}
}

func printedBy(t *testing.T, place secrets.Place) (string, error) {
	t.Helper()
	store := secrets.New(secrets.Config{
		Sources: []secrets.Source{{Name: "S", Plugins: []string{"p"}, Tenants: forAll(place)}},
		Getenv:  environment(map[string]string{"PATH": os.Getenv("PATH"), "HOME": "/home/x", "SECRET": "of toolhost"}),
	})
	got, err := store.View("ada").Values("p", []string{"S"})
	return got["S"], err
}

// A command gets its arguments without a shell, and a small environment. Its output is the value.
func TestCommandsPrintValues(t *testing.T) {
	for name, tc := range map[string]struct{ text, want, fault string }{
		"a value":         {"echo 'the value'\n", "the value", ""},
		"an argument":     {`printf %s "$1"`, "an argument; echo $(injected)", ""},
		"the environment": {`printf %s "$HOME $SECRET,"; pwd`, "/home/x ,/", ""},
		"no input":        {"cat; echo end", "end", ""},
		"a failure":       {"echo the value; echo the value >&2; exit 3", "", "exit status 3"},
		"no output":       {"exit 0", "", "is empty"},
		"too much":        {"head -c 100000 /dev/zero", "", "more than a secret may have"},
		"no text":         {`printf '\377'`, "", "no UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := printedBy(t, script(t, tc.text))
			if got != tc.want || (err != nil) != (tc.fault != "") || err != nil && !strings.Contains(err.Error(), tc.fault) {
				t.Errorf("printed %q, %v", got, err)
			}
			if err != nil && strings.Contains(err.Error(), "the value") {
				t.Errorf("the error quotes the output: %v", err)
			}
		})
	}
	if _, err := printedBy(t, secrets.Place{Command: []string{"/no/such/program"}}); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a program that does not exist: %v", err)
	}
}

// A printed value is used until the time of its refresh, for one tenant. Then the command runs
// again, and both values stay redacted. A failure is not repeated for every call.
func TestPrintedValuesAreRefreshed(t *testing.T) {
	count := filepath.Join(t.TempDir(), "count")
	place := script(t, `n=$(cat '`+count+`' 2>/dev/null | wc -c); printf x >>'`+count+`'; [ $n -lt 2 ] && echo "the value $n"`)
	place.Refresh = time.Hour
	now := time.Now()
	store := secrets.New(secrets.Config{
		Now:     func() time.Time { return now },
		Sources: []secrets.Source{{Name: "S", Plugins: []string{"p"}, Tenants: map[string]secrets.Place{"all": place}}},
	})
	value := func() string {
		got, err := store.View("ada").Values("p", []string{"S"})
		if err != nil {
			return "failed"
		}
		return got["S"]
	}
	ran := func() int { text, _ := os.ReadFile(count); return len(text) }
	if _, err := store.Glance("ada").Values("p", []string{"S"}); err != nil || ran() != 0 {
		t.Errorf("a glance ran the command %d times, %v", ran(), err)
	}
	if first, second := value(), value(); first != "the value 0" || second != first || ran() != 1 {
		t.Errorf("the values were %q and %q after %d runs", first, second, ran())
	}
	now = now.Add(time.Hour)
	if got := value(); got != "the value 1" {
		t.Errorf("after the refresh: %q", got)
	}
	now = now.Add(time.Hour)
	if first, second := value(), value(); first != "failed" || second != first || ran() != 3 {
		t.Errorf("the failures were %q and %q after %d runs", first, second, ran())
	}
	if got := store.Redactor().Text("the value 0 the value 1"); got != "[secret S] [secret S]" {
		t.Errorf("redacted: %s", got)
	}
}
