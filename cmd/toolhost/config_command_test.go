package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/internal/config"
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
	want.Listen, want.State, want.Workspace = "unix:///run/x/toolhost/toolhost.sock", "/home/x/.local/state/toolhost", dir
	want.LockFile = filepath.Join(dir, "toolhost.lock")
	want.Audit.File = "/home/x/.local/state/toolhost/audit.jsonl"
	show(t, env, want)

	// From here on the file in the current folder is found.
	write := func(text string) {
		if err := os.WriteFile("toolhost.yaml", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("plugins: [tools]\nlisten: 127.0.0.1:0\nstate: st\nworkspace: ..\nplugin: {fs: {max_queue: 3}}\n")
	fs := want.Defaults
	fs.MaxQueue = 3
	want.Listen, want.State, want.Workspace = "127.0.0.1:0", filepath.Join(dir, "st"), filepath.Dir(dir)
	want.Audit.File = filepath.Join(dir, "st", "audit.jsonl")
	want.Folders, want.ByPlugin = []string{filepath.Join(dir, "tools")}, map[string]config.PluginSettings{"fs": fs}
	show(t, env, want)

	write("nonsense: 1")
	code, stdout, stderr := toolhost(t.Context(), env, "", "config", "show")
	if code != cli.ExitUsage || stdout != "" || !strings.Contains(stderr, "toolhost.yaml:1:1: nonsense: there is no such key") {
		t.Errorf("exit %d, %s%s", code, stdout, stderr)
	}
}

// show checks that `config show` prints a file that loads as want, wherever it is.
func show(t *testing.T, env map[string]string, want config.Config) {
	t.Helper()
	code, stdout, stderr := toolhost(t.Context(), env, "", "config", "show")
	if code != cli.ExitOK || stderr != "" {
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

func TestConfigRefusesAFileThatEverybodyMayChange(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("toolhost.yaml", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod("toolhost.yaml", 0o666); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := toolhost(t.Context(), nil, "", "config", "check")
	if code != cli.ExitUsage || !strings.Contains(stderr, "chmod o-w") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if code, _, stderr := toolhost(t.Context(), nil, "", "config", "check", "toolhost.yaml"); code != cli.ExitOK {
		t.Errorf("a file that is named: exit %d: %s", code, stderr)
	}
}
