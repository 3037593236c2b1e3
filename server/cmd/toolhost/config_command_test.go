package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/config"
)

func TestConfigShowPrintsWhatHolds(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"HOME": "/home/x", "XDG_RUNTIME_DIR": "/run/x"}
	want := config.Default()
	want.Listen, want.State, want.Workspace.Folder = "unix:///run/x/toolhost/toolhost.sock", "/home/x/.local/state/toolhost", dir
	want.LockFile = filepath.Join(dir, "toolhost.lock")
	want.Audit.File = "/home/x/.local/state/toolhost/audit.jsonl"
	show(t, env, want, "")

	// From here on, toolhost finds the file in the current folder.
	write := func(text string) {
		if err := os.WriteFile("toolhost.yaml", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("plugins: [tools]\nlisten: 127.0.0.1:0\nstate: st\nworkspace: ..\nplugin: {fs: {max_queue: 3}}\n")
	fs := want.Defaults
	fs.MaxQueue = 3
	want.Listen, want.State, want.Workspace.Folder = "127.0.0.1:0", filepath.Join(dir, "st"), filepath.Dir(dir)
	want.Audit.File = filepath.Join(dir, "st", "audit.jsonl")
	want.Folders, want.ByPlugin = []string{filepath.Join(dir, "tools")}, map[string]config.PluginSettings{"fs": fs}
	show(t, env, want, "`toolhost serve` refuses this file")

	write("nonsense: 1")
	code, stdout, stderr := toolhost(t.Context(), env, "", "config", "show")
	if code != cli.ExitUsage || stdout != "" || !strings.Contains(stderr, "toolhost.yaml:1:1: nonsense: there is no such key") {
		t.Errorf("exit %d, %s%s", code, stdout, stderr)
	}
}

// show checks that `config show` prints a file that loads as want, and a note.
func show(t *testing.T, env map[string]string, want config.Config, note string) {
	t.Helper()
	code, stdout, stderr := toolhost(t.Context(), env, "", "config", "show")
	if code != cli.ExitOK || !strings.Contains(stderr, note) || note == "" && stderr != "" {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	got, err := config.Parse("/elsewhere/toolhost.yaml", []byte(stdout))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what is shown (-want +got):\n%s\n%s", diff, stdout)
	}
}

// `config` checks and shows a file in the current folder, and notes that `serve` refuses it. A file
// that the operator trusts, or named outside the workspace, has no such note.
func TestConfigSaysThatAFileIsNotTrusted(t *testing.T) {
	t.Chdir(t.TempDir())
	env := map[string]string{"HOME": t.TempDir()}
	if err := os.WriteFile("toolhost.yaml", []byte("locked: true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"config", "check"}, {"config", "show"}} {
		if code, _, stderr := toolhost(t.Context(), env, "", args...); code != cli.ExitOK || !strings.Contains(stderr, "`toolhost serve` refuses this file") {
			t.Errorf("%q: exit %d: %s", args, code, stderr)
		}
	}
	if code, stdout, stderr := toolhost(t.Context(), env, "", "config", "check", "-o", "json"); code != cli.ExitOK || !strings.Contains(stdout, `"trusted":false`) {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	if code, stdout, stderr := toolhost(t.Context(), env, "", "serve", "--plugins", "."); code != cli.ExitUntrusted || !strings.Contains(stderr, "toolhost trust ") {
		t.Errorf("serve: exit %d: %s%s", code, stdout, stderr)
	}
	if code, stdout, stderr := toolhost(t.Context(), env, "", "trust"); code != cli.ExitOK || !strings.Contains(stdout, "trusted toolhost.yaml") {
		t.Errorf("trust: exit %d: %s%s", code, stdout, stderr)
	}
	if code, stdout, stderr := toolhost(t.Context(), env, "", "config", "check", "-o", "json"); code != cli.ExitOK || !strings.Contains(stdout, `"trusted":true`) || stderr != "" {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	elsewhere := filepath.Join(t.TempDir(), "other.yaml")
	if err := os.WriteFile(elsewhere, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := toolhost(t.Context(), env, "", "config", "check", elsewhere); code != cli.ExitOK || stderr != "" {
		t.Errorf("a file elsewhere: exit %d: %s", code, stderr)
	}
}
