package serve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/tool"
)

// toolhost reports the keys of a change, or why it would refuse to start. It reports nothing of the
// content of a file that is not trusted.
func TestStaleConfiguration(t *testing.T) {
	dir := t.TempDir()
	home, file := filepath.Join(dir, "home"), filepath.Join(dir, "toolhost.yaml")
	getenv := func(name string) string { return map[string]string{"HOME": home}[name] }
	write := func(text string, trusted bool) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if !trusted {
			return
		}
		// the file is in the workspace
		if err := TrustStore(getenv).TrustFile(file, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	mentions := func(c *tool.ConfigurationChange, words ...string) {
		t.Helper()
		for _, word := range words {
			if c == nil || !strings.Contains(c.Problem, word) {
				t.Errorf("got %+v, want a problem with %q", c, word)
			}
		}
	}
	const first = "plugins: [plugins]\nworkspace: .\nstate: state\nevents: {kept: 71}\nplugin: {p: {env: {A: b}}}\n"
	write(first, true)
	flags := Flags{Config: file}
	options, err := flags.Options(getenv)
	if err != nil {
		t.Fatal(err)
	}
	if options.staleConfiguration() != nil {
		t.Error("a configuration that cannot be read again is compared")
	}
	options.again = func() (Options, error) { return flags.Options(getenv) }
	stale := options.staleConfiguration()
	for _, tc := range []struct {
		text    string
		trusted bool
		want    *tool.ConfigurationChange
	}{
		{first, true, nil},
		{first + "# a comment\n", true, nil},
		{first + "new_plugins: allow\nlog: {level: debug}\n", true, &tool.ConfigurationChange{File: file, Keys: []string{"log", "new_plugins"}}},
		{"plugins: [plugins]\nworkspace: .\nstate: state\nevents: {kept: 71}\nplugin: {p: {env: {A: c}}}\n", true,
			&tool.ConfigurationChange{File: file, Keys: []string{"plugin"}}},
	} {
		write(tc.text, tc.trusted)
		if diff := cmp.Diff(tc.want, stale()); diff != "" {
			t.Errorf("after\n%s(-want +got):\n%s", tc.text, diff)
		}
	}
	write(first+"no_such_key: planted\n", false)
	refused := stale()
	mentions(refused, file+" is not trusted", "toolhost trust --diff "+file)
	if len(refused.Keys) > 0 {
		t.Errorf("keys of a file that is not trusted: %q", refused.Keys)
	}
	write("listen: [\n", true)
	mentions(stale(), "1 error")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	mentions(stale(), "gone")
}
