package serve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/trust"
	"github.com/toolhost/toolhost/tool"
)

// A reload finds the settings that differ, and keeps those that need a restart. It finds nothing in
// the content of a file that is not trusted.
func TestReadChangedConfiguration(t *testing.T) {
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
		if err := trust.NewUserStore(getenv).TrustFile(file, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	const first = "plugins: [plugins]\nworkspace: .\nstate: state\nevents: {kept: 71}\nplugin: {p: {env: {A: b}}}\n"
	write(first, true)
	flags := Flags{Config: file}
	options, err := flags.Options(getenv)
	if err != nil {
		t.Fatal(err)
	}
	options.again = func() (Options, error) { return flags.Options(getenv) }
	r := &reloader{inForce: options}
	for _, tc := range []struct {
		text string
		want []tool.SettingChange
	}{
		{first, nil},
		{first + "# a comment\n", nil},
		{first + "new_plugins: allow\nlog: {level: debug}\n", []tool.SettingChange{
			{Key: "new_plugins", Old: "ask", New: "allow", Restart: true}, {Key: "log.level", Old: "info", New: "debug"},
		}},
		{strings.Replace(first, "A: b", "A: c", 1), []tool.SettingChange{{Key: "plugin.p.env.A", Old: "(hidden)", New: "(hidden)"}}},
	} {
		write(tc.text, true)
		change, next := r.read()
		var got []tool.SettingChange
		if change != nil {
			got = change.Changes
		}
		if diff := cmp.Diff(tc.want, got); diff != "" || change != nil && (change.File != file || change.Problem != "") {
			t.Errorf("after\n%sthe change is %+v (-want +got):\n%s", tc.text, change, diff)
		}
		if tc.want != nil && next.NewPlugins != "ask" {
			t.Errorf("a setting that needs a restart is %q", next.NewPlugins)
		}
	}
	refused := func(words ...string) {
		t.Helper()
		change, _ := r.read()
		for _, word := range words {
			if change == nil || !strings.Contains(change.Problem, word) || len(change.Changes) > 0 {
				t.Errorf("got %+v, want only a problem with %q", change, word)
			}
		}
	}
	write(first+"no_such_key: planted\n", false)
	refused(file+" is not trusted", "toolhost trust --diff "+file)
	write("listen: [\n", true)
	refused("1 error", file+":")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	refused("gone")
}
