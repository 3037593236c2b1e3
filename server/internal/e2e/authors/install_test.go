package authors

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/e2e/programs"
)

// versionplugin writes the plugin versionplugin to a file. Its tool `versionplugin_read` returns
// the version in stamp.
func (a *author) versionplugin(t *testing.T, name string, stamp map[string]string) {
	t.Helper()
	program, err := os.ReadFile(filepath.Join(bin, "versionplugin"))
	if err != nil {
		t.Fatal(err)
	}
	last, err := json.Marshal(stamp)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(a.folder, name)
	_ = os.Remove(path) // a running executable cannot be overwritten
	if err := programs.Write(path, bytes.Join([][]byte{program, last}, []byte("\n")), 0o700); err != nil {
		t.Fatal(err)
	}
}

// fails runs a line that must end with the exit code and print the words.
func (a *author) fails(t *testing.T, code int, line string, words ...string) {
	t.Helper()
	cmd := a.command(t, line)
	out, _ := cmd.CombinedOutput() // the exit code is checked below
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("%s: exit code %d, want %d", line, got, code)
	}
	for _, w := range words {
		if !strings.Contains(string(out), w) {
			t.Errorf("%s says\n%s\nwant %q in it", line, out, w)
		}
	}
}

// says runs a line that must succeed and print the words.
func (a *author) says(t *testing.T, line string, words ...string) {
	t.Helper()
	out := a.types(t, line)
	for _, w := range words {
		if !strings.Contains(out, w) {
			t.Errorf("%s says\n%s\nwant %q in it", line, out, w)
		}
	}
}

// holds checks that the plugin folder contains exactly the files in want, including hidden files.
func (a *author) holds(t *testing.T, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(a.home, "data", "toolhost", "plugins"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("the folder of plugins holds %q, want %q", got, want)
	}
}

func TestInstall(t *testing.T) {
	for name, test := range map[string]func(*testing.T, *author){
		"what is no plugin is refused": func(t *testing.T, a *author) {
			a.write(t, "text", "hello")
			a.write(t, "script", "#!/bin/sh\necho no plugin >&2\nexit 7\n")
			if err := os.Chmod(filepath.Join(a.folder, "script"), 0o700); err != nil {
				t.Fatal(err)
			}
			a.fails(t, 2, "toolhost install none", "there is no plugin at none")
			a.fails(t, 2, "toolhost install text", "is not executable")
			a.fails(t, 2, "toolhost install .", "holds no plugin.yaml")
			a.fails(t, 3, "toolhost install script", "script is refused, and nothing is changed", "exit code 7", "`toolhost verify script` may tell more")
			if err := os.Chmod(filepath.Join(a.folder, "text"), 0o700); err != nil {
				t.Fatal(err)
			}
			a.fails(t, 3, "toolhost install text", "fork/exec text: exec format error; it is no program for this machine")
			a.fails(t, 3, "toolhost uninstall script", "not_found", "it is empty")
			a.holds(t)
		},
		"a toolhost that runs takes it over": func(t *testing.T, a *author) {
			a.versionplugin(t, "first", map[string]string{"version": "1"})
			a.says(t, "toolhost install first", "installed versionplugin 1: 4 tools", "no toolhost runs")
			a.serves(t, "toolhost serve")
			a.says(t, "toolhost call versionplugin_read", "1")
			a.versionplugin(t, "second", map[string]string{"version": "2"})
			a.says(t, "toolhost install second", "replaced versionplugin 2", "in service")
			a.says(t, "toolhost call versionplugin_read", "2")
			a.holds(t, "versionplugin")
			a.says(t, "toolhost uninstall versionplugin", "uninstalled versionplugin")
			a.fails(t, 3, "toolhost call versionplugin_read", "not_found")
			a.holds(t)
		},
		"what the toolhost does not take over is put back": func(t *testing.T, a *author) {
			a.write(t, "toolhost.yaml", "defaults: {sandbox: {mode: off}}\n")
			a.versionplugin(t, "first", map[string]string{"version": "1"})
			a.says(t, "toolhost install first")
			a.serves(t, "toolhost serve")
			a.versionplugin(t, "second", map[string]string{"version": "2", "fault": "exit", "later": filepath.Join(a.home, "later")})
			a.fails(t, 3, "toolhost install second", "did not take versionplugin over, and what was there before is put back")
			a.says(t, "toolhost call versionplugin_read", "1")
			a.holds(t, "versionplugin")
			a.says(t, "toolhost reload", "nothing changed")
		},
		"what it asks for is shown": func(t *testing.T, a *author) {
			a.folderPlugin(t, "asking", "permissions: {network: true, read: [/srv/data]}\n")
			a.says(t, "toolhost install asking", "asks for the network, which is not granted; in toolhost.yaml: plugin.versionplugin.sandbox.network: true",
				"plugin.versionplugin.sandbox.read: [/srv/data]")
			a.write(t, "toolhost.yaml", "plugin: {versionplugin: {sandbox: {network: true}}}\n")
			var done struct {
				Replaced  bool
				Ungranted []struct{ Grant string }
			}
			if err := json.Unmarshal([]byte(a.types(t, "toolhost install asking -o json")), &done); err != nil {
				t.Fatal(err)
			}
			if !done.Replaced || len(done.Ungranted) != 1 || !strings.Contains(done.Ungranted[0].Grant, "/srv/data") {
				t.Errorf("got %+v", done)
			}
		},
		"a folder takes the place of a file": func(t *testing.T, a *author) {
			a.versionplugin(t, "file", map[string]string{"version": "1"})
			a.says(t, "toolhost install file")
			a.serves(t, "toolhost serve")
			a.folderPlugin(t, "folder", "")
			a.says(t, "toolhost install folder", "replaced versionplugin folder", "in service")
			a.says(t, "toolhost call versionplugin_read", "folder")
			a.says(t, "toolhost install file", "replaced versionplugin 1", "in service")
			a.holds(t, "versionplugin")
		},
		"the lock file allows it": func(t *testing.T, a *author) {
			a.versionplugin(t, "first", map[string]string{"version": "1"})
			a.write(t, "toolhost.lock", "version: 1\nplugins: {}\n")
			a.says(t, "toolhost install first", "allowed in "+filepath.Join(a.folder, "toolhost.lock"))
			a.serves(t, "toolhost serve --locked")
			a.says(t, "toolhost call versionplugin_read", "1")
			a.versionplugin(t, "second", map[string]string{"version": "2"})
			a.says(t, "toolhost install second", "allowed in", "in service")
			a.says(t, "toolhost call versionplugin_read", "2")
			a.says(t, "toolhost uninstall versionplugin", "toolhost.lock does not allow it any more")
			lock, err := os.ReadFile(filepath.Join(a.folder, "toolhost.lock"))
			if err != nil || strings.Contains(string(lock), "sha256") {
				t.Errorf("the lock file says\n%s%v", lock, err)
			}
		},
		"another file that says that it is the same plugin does no harm": func(t *testing.T, a *author) {
			a.versionplugin(t, "first", map[string]string{"version": "1"})
			a.says(t, "toolhost install first")
			a.serves(t, "toolhost serve")
			a.versionplugin(t, "other", map[string]string{"version": "other"})
			a.types(t, "mv other "+filepath.Join(a.home, "data", "toolhost", "plugins", "z"))
			a.fails(t, 3, "toolhost reload", `it is new in its folder`)
			a.versionplugin(t, "second", map[string]string{"version": "2"})
			a.says(t, "toolhost install second", "replaced versionplugin 2", "in service")
			a.says(t, "toolhost call versionplugin_read", "2")
		},
		"a tool that another plugin ships is not counted": func(t *testing.T, a *author) {
			a.versionplugin(t, "first", map[string]string{"version": "1"})
			a.says(t, "toolhost install first")
			a.serves(t, "toolhost serve")
			a.folderPlugin(t, "other", "")
			a.write(t, "other/plugin.yaml", "name: other\ncommand: [./program]\n")
			a.versionplugin(t, "other/program", map[string]string{"plugin": "other"})
			a.says(t, "toolhost install other", "installed other: 0 tools", `which had it first`)
		},
		"a name that another plugin has is refused": func(t *testing.T, a *author) {
			a.versionplugin(t, "first", map[string]string{"version": "1"})
			a.says(t, "toolhost install first --plugins elsewhere")
			a.serves(t, "toolhost serve --plugins elsewhere --plugins "+filepath.Join(a.home, "data", "toolhost", "plugins"))
			a.versionplugin(t, "second", map[string]string{"version": "2"})
			a.fails(t, 3, "toolhost install second", `it calls itself "versionplugin", and that is`, "elsewhere")
			a.holds(t)
			a.says(t, "toolhost call versionplugin_read", "1")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAuthor(t)
			if err := os.MkdirAll(filepath.Join(a.home, "data", "toolhost", "plugins"), 0o700); err != nil {
				t.Fatal(err)
			}
			test(t, a)
		})
	}
}

// folderPlugin writes versionplugin as a folder with a manifest. more is appended to the manifest.
func (a *author) folderPlugin(t *testing.T, name, more string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(a.folder, name, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	a.versionplugin(t, filepath.Join(name, "program"), map[string]string{"version": name})
	a.write(t, filepath.Join(name, "plugin.yaml"), "command: [./program]\n"+more)
}
