package catalog_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/tool"
)

const someManifest = "command: [./run, --fast]\nargs: [main.json]\nenv: {set: {B: fixed, A: a}, pass: [GIVEN, B, MISSING]}\n"

// writeFolder makes a plugin folder. Files that begin with #! are executable.
func writeFolder(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o644)
		if strings.HasPrefix(content, "#!") {
			mode = 0o755
		}
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
	}
}

func someFolder(name string, tools ...tool.Spec) map[string]string {
	return map[string]string{
		"plugin.yaml": someManifest, "run": "#!/bin/sh\n", "main.json": plugin(name, tools...), "lib/deep/data.txt": "data",
	}
}

func folderConfig(state string, fake *fakePlugins, folders ...string) catalog.Config {
	return catalog.Config{Folders: folders, StateDir: state, Describe: fake.describe}
}

func load(t *testing.T, cfg catalog.Config) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	settled(t, c)
	return c
}

// The copy of a plugin folder runs as its manifest says.
func TestFolderPlugin(t *testing.T) {
	dir, state := t.TempDir(), stateDir(t)
	writeFolder(t, filepath.Join(dir, "weather"), someFolder("weather", spec("rain")))
	p := load(t, folderConfig(state, &fakePlugins{}, dir)).Snapshot().Plugin("weather")
	if p == nil {
		t.Fatal("the folder is no plugin")
	}
	if !strings.HasPrefix(p.Dir, state) || p.Path != filepath.Join(p.Dir, "run") || !p.Pinned {
		t.Errorf("runs %s in %s (pinned: %v), want the copy in %s", p.Path, p.Dir, p.Pinned, state)
	}
	if diff := cmp.Diff([]string{"--fast", "main.json"}, p.Args); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"GIVEN", "B", "MISSING"}, p.Variables()); diff != "" {
		t.Errorf("the variables that it asks for (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"A=a", "B=fixed"}, p.Env); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
	for name, mode := range map[string]os.FileMode{"run": 0o500, "main.json": 0o400, "lib/deep": 0o500, "lib/deep/data.txt": 0o400, ".": 0o500} {
		if info, err := os.Stat(filepath.Join(p.Dir, name)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s in the copy: %v, %v; want %v", name, info.Mode(), err, mode)
		}
	}
}

// A change of any part of a plugin changes its digest. Other changes do not.
func TestFolderDigest(t *testing.T) {
	digest := func(t *testing.T, change func(dir string)) string {
		dir := t.TempDir()
		writeFolder(t, filepath.Join(dir, "p"), someFolder("p", spec("a")))
		if err := os.Symlink("run", filepath.Join(dir, "p", "link")); err != nil {
			t.Fatal(err)
		}
		change(filepath.Join(dir, "p"))
		plugins := load(t, folderConfig(stateDir(t), &fakePlugins{}, dir)).Snapshot().Plugins()
		if len(plugins) != 1 || plugins[0].Problem != "" {
			t.Fatalf("plugins %+v", plugins)
		}
		return plugins[0].Digest
	}
	must := func(t *testing.T, err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	same := digest(t, func(string) {})
	for name, tc := range map[string]struct {
		changes bool
		change  func(t *testing.T, dir string)
	}{
		"content":    {true, func(t *testing.T, dir string) { writeFolder(t, dir, map[string]string{"lib/deep/data.txt": "dat4"}) }},
		"new file":   {true, func(t *testing.T, dir string) { writeFolder(t, dir, map[string]string{".env": ""}) }},
		"new folder": {true, func(t *testing.T, dir string) { must(t, os.Mkdir(filepath.Join(dir, "x"), 0o755)) }},
		"renamed": {true, func(t *testing.T, dir string) {
			must(t, os.Rename(filepath.Join(dir, "lib"), filepath.Join(dir, "bib")))
		}},
		"executable": {true, func(t *testing.T, dir string) { must(t, os.Chmod(filepath.Join(dir, "main.json"), 0o755)) }},
		"link": {true, func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, "link")))
			must(t, os.Symlink("lib", filepath.Join(dir, "link")))
		}},
		"mode":     {false, func(t *testing.T, dir string) { must(t, os.Chmod(filepath.Join(dir, "main.json"), 0o600)) }},
		"git":      {false, func(t *testing.T, dir string) { writeFolder(t, dir, map[string]string{".git/HEAD": "x"}) }},
		"bytecode": {false, func(t *testing.T, dir string) { writeFolder(t, dir, map[string]string{"lib/__pycache__/a.pyc": "x"}) }},
	} {
		t.Run(name, func(t *testing.T) {
			got := digest(t, func(dir string) { tc.change(t, dir) })
			if (got != same) != tc.changes {
				t.Errorf("digest %s, before %s; should it have changed: %v", got, same, tc.changes)
			}
		})
	}
}

func TestBadFolders(t *testing.T) {
	for name, tc := range map[string]struct {
		change map[string]string
		link   [2]string
		want   string
	}{
		"bad manifest":      {change: map[string]string{"plugin.yaml": "comand: x\n"}, want: `plugin.yaml:1:1: comand: there is no such key; did you mean command?`},
		"misnamed manifest": {change: map[string]string{"plugin.yaml": "", "plugin.yml": "command: [x]\n"}, want: "named plugin.yaml"},
		"no program":        {change: map[string]string{"plugin.yaml": "command: [./nothing]\n"}, want: "no such file in the plugin's folder"},
		"data as program":   {change: map[string]string{"plugin.yaml": "command: [./main.json]\n"}, want: "not executable"},
		"not installed":     {change: map[string]string{"plugin.yaml": "command: [no-such-interpreter]\n"}, want: "write ./no-such-interpreter if it is in"},
		"another name":      {change: map[string]string{"plugin.yaml": someManifest + "name: other\n"}, want: `its name is "p", but its plugin.yaml says "other"`},
		"link out":          {link: [2]string{"../secret", "lib/out"}, want: ""},
		"link far out":      {link: [2]string{"../../secret", "lib/out"}, want: "the link lib/out leads out of the folder by a relative path"},
		"link to itself":    {link: [2]string{"out", "lib/out"}, want: ""},
		"link around":       {link: [2]string{"..", "lib/up"}, want: ""},
		"manifest is link":  {change: map[string]string{"plugin.yaml": "", "real.yaml": someManifest}, link: [2]string{"real.yaml", "plugin.yaml"}, want: "has to be a file, not a link"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeFolder(t, filepath.Join(dir, "p"), someFolder("p", spec("a")))
			writeFolder(t, filepath.Join(dir, "p"), tc.change)
			if tc.change != nil && tc.change["plugin.yaml"] == "" {
				if err := os.Remove(filepath.Join(dir, "p", "plugin.yaml")); err != nil {
					t.Fatal(err)
				}
			}
			if tc.link[0] != "" {
				if err := os.Symlink(tc.link[0], filepath.Join(dir, "p", tc.link[1])); err != nil {
					t.Fatal(err)
				}
			}
			plugins := load(t, folderConfig(stateDir(t), &fakePlugins{}, dir)).Snapshot().Plugins()
			if len(plugins) != 1 || !strings.Contains(plugins[0].Problem, tc.want) || (tc.want == "") != (plugins[0].Problem == "") {
				t.Errorf("plugins %+v, want one with the problem %q", plugins, tc.want)
			}
		})
	}
}

// A link that leads to itself makes one plugin unusable and affects no other.
func TestSymlinkLoopsAreReported(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("loop", filepath.Join(dir, "loop")); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "good", plugin("good", spec("a")), 0o755)
	s := load(t, folderConfig(stateDir(t), &fakePlugins{}, dir)).Snapshot()
	if s.Plugin("good") == nil || len(s.Plugins()) != 2 || !strings.Contains(s.Plugins()[1].Problem, "too many") {
		t.Errorf("plugins %+v", s.Plugins())
	}
}

// The copy keeps absolute links, such as those of a Python environment, with a warning.
func TestAbsoluteLinksAreKept(t *testing.T) {
	dir := t.TempDir()
	writeFolder(t, filepath.Join(dir, "p"), map[string]string{"plugin.yaml": "command: [venv/sh]\n", "main.json": plugin("p", spec("a")), "venv/x": ""})
	if err := os.Symlink("/bin/sh", filepath.Join(dir, "p", "venv", "sh")); err != nil {
		t.Fatal(err)
	}
	p := load(t, folderConfig(stateDir(t), &fakePlugins{}, dir)).Snapshot().Plugin("p")
	if p == nil || len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], "venv/sh leads out") {
		t.Fatalf("plugin %+v, want a warning of the link", p)
	}
	if target, err := os.Readlink(p.Path); err != nil || target != "/bin/sh" {
		t.Errorf("the copy's link leads to %q, %v", target, err)
	}
}

// The link of a Python environment to its interpreter causes no warning. Other links that lead out
// of the folder do.
func TestNoWarningOfAnInterpreter(t *testing.T) {
	dir := t.TempDir()
	p := filepath.Join(dir, "p")
	writeFolder(t, p, map[string]string{"plugin.yaml": "command: [.venv/bin/python3]\n", "main.json": plugin("p", spec("a")), ".venv/pyvenv.cfg": "", ".venv/bin/pip": "", "bin/x": ""})
	for link, target := range map[string]string{".venv/bin/python3": "/bin/sh", ".venv/bin/activate": "/bin/sh", ".venv/bin/python-data": "/etc/passwd", "bin/python": "/bin/sh", ".venv/lib": "/usr/lib"} {
		if err := os.Symlink(target, filepath.Join(p, filepath.FromSlash(link))); err != nil {
			t.Fatal(err)
		}
	}
	found := load(t, folderConfig(stateDir(t), &fakePlugins{}, dir)).Snapshot().Plugin("p")
	if found == nil {
		t.Fatal("it is not found")
	}
	told := strings.Join(found.Warnings, "\n")
	for _, link := range []string{".venv/bin/activate", ".venv/bin/python-data", "link bin/python", ".venv/lib"} {
		if !strings.Contains(told, link+" leads out") {
			t.Errorf("the warnings say nothing of %s:\n%s", link, told)
		}
	}
	if len(found.Warnings) != 4 {
		t.Errorf("the warnings are\n%s\nwant none of the interpreter", told)
	}
}

// Large folders are checked but not copied, and are shown as not pinned.
func TestLargeFoldersRunInPlace(t *testing.T) {
	for name, change := range map[string]func(*catalog.Config){
		"many files": func(c *catalog.Config) { c.MaxFolderFiles = 3 },
		"many bytes": func(c *catalog.Config) { c.MaxFolderBytes = 100 },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeFolder(t, filepath.Join(dir, "p"), someFolder("p", spec("a")))
			cfg := folderConfig(stateDir(t), &fakePlugins{}, dir)
			pinned := load(t, cfg).Snapshot().Plugin("p")
			change(&cfg)
			cfg.StateDir = stateDir(t)
			c := load(t, cfg)
			p := c.Snapshot().Plugin("p")
			if p.Pinned || p.Dir != filepath.Join(dir, "p") || p.Digest != pinned.Digest || !strings.Contains(strings.Join(p.Warnings, ""), "too large") {
				t.Errorf("plugin %+v, want it in place at %s with a warning", p, pinned.Digest)
			}
			c.Close()
			again := &fakePlugins{}
			cfg.Describe = again.describe
			if s := load(t, cfg).Snapshot(); s.Plugin("p") == nil || len(again.questions()) > 0 {
				t.Errorf("asked again: %v", again.questions())
			}
		})
	}
}

// The error of an interrupted load is the cause of the cancellation, also if the interruption came
// during reading.
func TestAnInterruptionSaysWhatItWas(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "p", plugin("p", spec("a")), 0o755)
	c, err := catalog.Open(folderConfig(stateDir(t), &fakePlugins{}, dir))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("somebody pressed a key"))
	if err := c.Load(ctx); err == nil || !strings.Contains(err.Error(), "somebody pressed a key") {
		t.Errorf("got %v", err)
	}
}
