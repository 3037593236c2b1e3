package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// filtering is a configuration with all filters of the plugin filterplugin.
const filtering = `
filters:
  - {filter: discreet}
  - {filter: redact, tools: ["read_*"]}
  - {filter: fragile, tools: [calculator], when_it_fails: WHEN}
`

// withFilters starts a toolhost with the plugin filterplugin. when is the setting for calls whose
// filter crashes.
func withFilters(t *testing.T, when string) *toolhost {
	t.Helper()
	h := prepare(t)
	if err := os.Symlink(filepath.Join(bin, "filterplugin"), filepath.Join(h.plugins, "filterplugin")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(h.home, "toolhost.yaml"), strings.Replace(filtering, "WHEN", when, 1), 0o600)
	h.serve(t)
	return h
}

// A filter redacts results of another plugin's tool. For the operator its plugin is like any other.
func TestAFilterRedactsResults(t *testing.T) {
	h := withFilters(t, "fail")
	write(t, filepath.Join(h.workspace, "notes.txt"), "the key is sk-4f9a1c, keep it\n", 0o600)
	read := h.do(t, "call", "read_file", `{"path":"notes.txt"}`)
	read.exits(t, 0)
	read.says(t, "the key is [removed], keep it")
	if strings.Contains(read.stdout+read.stderr, "4f9a1c") {
		t.Errorf("the key came out: %s%s", read.stdout, read.stderr)
	}
	h.do(t, "call", "read_file", `{"path":"notes.txt"}`, "-o", "json").says(t, "toolhost.filters")
	refused := h.do(t, "call", "read_file", `{"path":"sk-4f9a1c"}`)
	refused.says(t, "a key must not be in the arguments", `filter "discreet"`)
	if refused.code == 0 {
		t.Error("a call that a filter denied succeeded")
	}
	h.do(t, "plugins").says(t, "FILTERS", "discreet,fragile,redact")
	h.do(t, "stats").says(t, "redact", "discreet")
	h.do(t, "why", "filterplugin").says(t, "discreet, fragile, redact")
}

// After a crash of a filter, toolhost restarts its plugin, and the call ends as the operator chose.
func TestAFilterCrashes(t *testing.T) {
	failed := withFilters(t, "fail").do(t, "call", "calculator", `{"expression":"6*7"}`)
	failed.says(t, `the filter "fragile"`, "exit code 7", "its result is withheld")
	if failed.code == 0 || strings.Contains(failed.stdout, "42") {
		t.Errorf("got %+v", failed)
	}
	skipped := withFilters(t, "skip").do(t, "call", "calculator", `{"expression":"6*7"}`)
	skipped.exits(t, 0)
	skipped.says(t, "42")
}
