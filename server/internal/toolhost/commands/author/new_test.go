//go:build !race

package author_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// `new --caller` writes the repository of a caller and says so. It refuses an unknown language, and
// an upgrade, which needs no kind.
func TestNewCaller(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "calls")
	out, err := run(t, "calls", "--caller", "--lang", "python", "--dir", dir, "-o", "json")
	if err != nil || !strings.Contains(out, `"caller":"calls"`) || strings.Contains(out, `"plugin"`) {
		t.Errorf("it prints %s, %v", out, err)
	}
	wantText(t, filepath.Join(dir, "main.py"), "from toolhost.client import Client")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"calls", "--caller", "--lang", "rust"}, `there is no language "rust"; use go, python, typescript`},
		{[]string{"calls", "--caller"}, "--lang is missing; name a language: go, python, typescript"},
		{[]string{"--upgrade", "--caller", dir}, "none of the others can be"},
	} {
		if _, err := run(t, c.args...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.args, err, c.want)
		}
	}
}
