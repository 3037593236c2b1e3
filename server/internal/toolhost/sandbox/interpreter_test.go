package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree makes files in a folder and returns it: executables with their text, links written as "-> "
// and the target, and files that are not executable, whose text begins with "+".
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if target, isLink := cutLink(text, root); isLink {
			err = os.Symlink(target, path)
		} else {
			mode := os.FileMode(0o755)
			if strings.HasPrefix(text, "+") {
				mode = 0o600
			}
			err = os.WriteFile(path, []byte(expand(text, root)), mode)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func cutLink(text, root string) (target string, isLink bool) {
	const arrow = "-> "
	if len(text) < len(arrow) || text[:len(arrow)] != arrow {
		return "", false
	}
	return expand(text[len(arrow):], root), true
}

func expand(text, root string) string {
	return os.Expand(text, func(name string) string {
		if name == "ROOT" {
			return root
		}
		return "$" + name
	})
}

func TestInstallationsBehindAProgram(t *testing.T) {
	for name, test := range map[string]struct {
		files   map[string]string
		program string
		path    string // of the environment
		never   string
		want    []string
	}{
		"a program alone":           {files: map[string]string{"plugin": "\x7fELF"}, program: "plugin"},
		"of the system":             {files: map[string]string{"plugin": "#!/bin/sh\n"}, program: "plugin"},
		"a script":                  {files: map[string]string{"plugin": "#!${ROOT}/py/bin/python3 -u\n", "py/bin/python3": "x", "py/lib/x": ""}, program: "plugin", want: []string{"py"}},
		"a script, by env":          {files: map[string]string{"plugin": "#!/usr/bin/env -S node --x\n", "node/bin/node": "x", "node/lib64/x": ""}, program: "plugin", path: "node/bin", want: []string{"node"}},
		"a link":                    {files: map[string]string{"p/python": "-> ${ROOT}/py/bin/python3", "py/bin/python3": "-> python3.9", "py/bin/python3.9": "x", "py/lib/x": ""}, program: "p/python", want: []string{"py"}},
		"a link to a single file":   {files: map[string]string{"p/tool": "-> ${ROOT}/x/tool", "x/tool": "x"}, program: "p/tool", want: []string{"x/tool"}},
		"a virtual environment":     {files: map[string]string{"venv/bin/python": "copied", "venv/pyvenv.cfg": "home = ${ROOT}/py/bin\nversion = 3\n", "py/bin/python": "x", "py/lib/x": ""}, program: "venv/bin/python", want: []string{"py"}},
		"a shim itself":             {files: map[string]string{"env/shims/python": "#!/bin/sh\n", "env/libexec/x": ""}, program: "env/shims/python", want: []string{"env"}},
		"a shim":                    {files: map[string]string{"plugin": "#!${ROOT}/env/shims/python\n", "env/shims/python": "#!/bin/sh\n", "env/libexec/x": ""}, program: "plugin", want: []string{"env"}},
		"what must not be seen":     {files: map[string]string{"plugin": "#!${ROOT}/all/bin/python\n", "all/bin/python": "x", "all/lib/x": ""}, program: "plugin", never: "all/state", want: []string{"all/bin/python"}},
		"a folder of somebody's":    {files: map[string]string{"plugin": "#!${ROOT}/diary/bin/run\n", "diary/bin/run": "x", "diary/today": ""}, program: "plugin", want: []string{"diary/bin/run"}},
		"what a user has of all":    {files: map[string]string{"plugin": "#!${ROOT}/home/.local/bin/run\n", "home/.local/bin/run": "x", "home/.local/lib/x": ""}, program: "plugin", want: []string{"home/.local/bin/run"}},
		"a file that is no program": {files: map[string]string{"venv/bin/key": "x", "venv/pyvenv.cfg": "home = ${ROOT}/secret\n", "secret/key": "+secret"}, program: "venv/bin/key"},
		"an interpreter is missing": {files: map[string]string{"plugin": "#!/usr/bin/env no-such-interpreter\n"}, program: "plugin"},
		"a home":                    {files: map[string]string{"plugin": "#!${ROOT}/home/bin/python\n", "home/bin/python": "x", "home/lib/x": ""}, program: "plugin", want: []string{"home/bin/python"}},
	} {
		t.Run(name, func(t *testing.T) {
			root := tree(t, test.files)
			t.Setenv("HOME", filepath.Join(root, "home"))
			t.Setenv("PATH", filepath.Join(root, test.path))
			var never, want []string
			if test.never != "" {
				never = []string{filepath.Join(root, test.never)}
			}
			for _, path := range test.want {
				want = append(want, filepath.Join(root, path))
			}
			got := new(Examiner).installations(filepath.Join(root, test.program), never)
			if len(got) == 0 {
				got = nil
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A script that is its own interpreter must not cause an endless loop.
func TestInterpretersInACircle(t *testing.T) {
	root := tree(t, map[string]string{"bin/a": "#!${ROOT}/bin/b\n", "bin/b": "#!${ROOT}/bin/a\n", "lib/x": ""})
	if got := new(Examiner).installations(filepath.Join(root, "bin", "a"), nil); len(got) != 1 || got[0] != root {
		t.Errorf("got %v", got)
	}
}
