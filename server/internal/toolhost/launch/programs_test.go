package launch

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/manifest"
)

// What plugins execute is protected by each name on the way to it. Where the folder of a name was
// granted itself, the name stays, and the sandbox refuses it.
func TestSandboxKeepsWhatPluginsExecute(t *testing.T) {
	root := withoutLinks(t.TempDir())
	at := func(path string) string { return filepath.Join(root, path) }
	for _, dir := range []string{"ws/dist/v1", "ws/venv/bin", "ws/path", "ws/early", "bin", "plugins"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range map[string]string{
		"ws/dist/v1/main": "", "ws/dist/twice": "", "ws/top": "", "ws/path/py": "", "ws/venv/bin/py": "",
		"plugins/direct": "#!" + at("ws/venv/bin/py") + "\n", "plugins/env": "#!/usr/bin/env py\n",
		"bin/other": "#!/usr/bin/env last\n", "bin/last": "", "plugins/split": "#!/usr/bin/env -S A=b other -x\n", "plugins/top": "#!" + at("ws/top") + "\n",
	} {
		if err := os.WriteFile(at(path), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{"ws/dist/v1/cur": "main", "ws/latest": "dist", "plugins/away": at("ws/latest/v1/cur")} {
		if err := os.Symlink(to, at(from)); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{"ws/dist/twice": "plugins/other", "ws/top": "plugins/second"} {
		if err := os.Link(at(from), at(to)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../early", at("ws/dist/early")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", strings.Join([]string{"relative", at("ws/path"), at("bin"), at("ws/early")}, ":"))
	early := strings.Join([]string{at("ws/none/bin"), at("ws/dist/early"), at("bin")}, ":")
	for name, test := range map[string]struct {
		plugin   catalog.Plugin
		writable string // ws by default
		want     []string
	}{
		"a free name in PATH":            {catalog.Plugin{Path: at("plugins/split")}, "", []string{"ws/path/other", "ws/path/last"}},
		"the name of a command in PATH":  {catalog.Plugin{Path: at("bin/last"), Manifest: &manifest.Manifest{Command: []string{"last"}}}, "", []string{"ws/path/last"}},
		"a free name in a PATH of links": {catalog.Plugin{Path: at("plugins/split"), Env: []string{early}}, "", []string{"ws/none", "ws/dist", "ws/early/other", "ws/early/last"}},
		"a file":                         {catalog.Plugin{Outside: []string{at("ws/dist/v1/main")}}, "", []string{"ws/dist/v1/main"}},
		"a link":                         {catalog.Plugin{Outside: []string{at("ws/dist/v1/cur")}}, "", []string{"ws/dist/v1", "ws/dist/v1/main"}},
		"a link directly in the grant":   {catalog.Plugin{Outside: []string{at("ws/latest")}}, "", []string{"ws/latest", "ws/dist"}},
		"links on the way":               {catalog.Plugin{Outside: []string{at("plugins/away")}}, "", []string{"ws/latest", "ws/dist/v1", "ws/dist/v1/main"}},
		"a file that is not there yet":   {catalog.Plugin{Outside: []string{at("ws/dist/new/main")}}, "", []string{"ws/dist/new"}},
		"a second name":                  {catalog.Plugin{Outside: []string{at("ws/dist/twice")}}, "", []string{"ws/dist"}},
		"a second name in the grant":     {catalog.Plugin{Outside: []string{at("ws/top")}}, "", []string{"ws/top"}},
		"the interpreter of a script":    {catalog.Plugin{Path: at("plugins/direct")}, "", []string{"ws/venv/bin/py"}},
		"an interpreter in PATH":         {catalog.Plugin{Path: at("plugins/env")}, "", []string{"ws/path/py"}},
		"an interpreter with two names":  {catalog.Plugin{Path: at("plugins/top")}, "", []string{"ws/top"}},
		"the folder of it is granted":    {catalog.Plugin{Path: at("plugins/env")}, "ws/path", []string{"ws/path/py"}},
		"it is granted by its own name":  {catalog.Plugin{Path: at("plugins/env")}, "ws/path/py", nil},
		"it is outside of what is given": {catalog.Plugin{Path: at("plugins/env")}, "ws/dist", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			if len(test.plugin.Env) > 0 {
				t.Setenv("PATH", test.plugin.Env[0])
			}
			test.plugin.Path = cmp.Or(test.plugin.Path, at("plugins/none"))
			for _, path := range (Places{Writable: []string{at(cmp.Or(test.writable, "ws"))}}).executed([]*catalog.Plugin{&test.plugin}) {
				got = append(got, strings.TrimPrefix(path, root+"/"))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	// A second name of the operator's own program may be in any folder, so the sandbox refuses it.
	if got := (Places{Writable: []string{at("ws")}}).Protectable([]string{at("ws/dist/twice")}, true); !slices.Equal(got, []string{at("ws/dist/twice")}) {
		t.Errorf("for the operator's own: %q", got)
	}
	if got := ProgramPaths(at("ws/latest/v1/cur")); !slices.Contains(got, at("ws/latest")) || !slices.Contains(got, at("ws/dist/v1/cur")) {
		t.Errorf("a program that was started by links: %q", got)
	}
}

// What plugins execute is looked up again when another plugin is known, and after a moment.
func TestWhatPluginsExecuteIsLookedUpAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := withoutLinks(t.TempDir())
		script := func(name, interpreter string) *catalog.Plugin {
			path := filepath.Join(root, name)
			if err := os.WriteFile(path, []byte("#!"+interpreter+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			return &catalog.Plugin{Path: path, Source: path, Digest: name}
		}
		one, other := script("one", filepath.Join(root, "first")), script("other", "/bin/sh")
		var last lastExecuted
		wants := func(step string, plugins []*catalog.Plugin, interpreter string) {
			t.Helper()
			got := last.of(Places{Writable: []string{root}}, plugins)
			if !slices.Contains(got, filepath.Join(root, interpreter)) {
				t.Errorf("%s: %q has no %s", step, got, interpreter)
			}
		}
		for _, name := range []string{"first", "second", "third"} {
			script(name, "/bin/sh")
		}
		wants("at first", []*catalog.Plugin{one}, "first")
		script("one", filepath.Join(root, "second"))
		wants("at once", []*catalog.Plugin{one}, "first")
		wants("with another plugin", []*catalog.Plugin{one, other}, "second")
		script("one", filepath.Join(root, "third"))
		time.Sleep(lately + 1)
		wants("later", []*catalog.Plugin{one, other}, "third")
	})
}
