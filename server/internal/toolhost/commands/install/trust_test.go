package install

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/trust"
)

// trusting returns an environment, and a function that runs the command `trust` in it.
func trusting(t *testing.T, environment map[string]string) (getenv func(string) string, run func(args ...string) (string, error)) {
	getenv = func(name string) string { return environment[name] }
	return getenv, func(args ...string) (string, error) {
		var out bytes.Buffer
		cmd := NewTrustCommand(cli.Process{Getenv: getenv, Stdout: &out, Stderr: &out})
		cmd.SetArgs(args)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		err := cmd.ExecuteContext(t.Context())
		return out.String(), err
	}
}

// What `trust --diff` showed is trusted with its digest, and nothing that is in its place later.
func TestTrustWithADigest(t *testing.T) {
	state, path := t.TempDir(), filepath.Join(t.TempDir(), trust.ToolhostFile)
	getenv, run := trusting(t, map[string]string{"XDG_STATE_HOME": state})
	write := func(text string) string {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return trust.Digest([]byte(text))
	}
	trusted := func() bool {
		_, known, err := trust.NewUserStore(getenv).File(path)
		return known && err == nil
	}
	code := func(err error) int {
		if exit, ok := errors.AsType[*cli.ExitError](err); ok {
			return exit.Code
		}
		return 0
	}
	seen := write("locked: true\n")
	if out, err := run("--diff", path); err != nil || !strings.Contains(out, "to trust exactly this: toolhost trust "+path+" --digest "+seen) {
		t.Errorf("--diff says %q, %v", out, err)
	}
	write("locked: false\n")
	if _, err := run(path, "--digest", seen); code(err) != cli.ExitUntrusted || trusted() {
		t.Errorf("what came since is trusted: %v", err)
	}
	if _, err := run(path, "--digest", ""); err == nil || trusted() {
		t.Errorf("a digest that is empty, such as that of an unset variable: %v", err)
	}
	if _, err := run("--all", "--digest", seen); code(err) != cli.ExitUsage {
		t.Errorf("a digest of all plugins: %v", err)
	}
	write("locked: true\n")
	if _, err := run(path, "--digest", seen); err != nil || !trusted() {
		t.Errorf("what was seen is not trusted: %v", err)
	}
}

// A toolhost that serves a folder by a flag tells its operator to trust a plugin by its name. The
// command finds it there, unless several folders have the name, and never beside the folder that
// --plugins names.
func TestTrustFindsThePluginsOfAllFolders(t *testing.T) {
	state, home := t.TempDir(), t.TempDir()
	getenv, run := trusting(t, map[string]string{"XDG_STATE_HOME": state, "HOME": home, "XDG_DATA_HOME": home})
	served := func() string {
		t.Helper()
		folder := trust.RealFolder(t.TempDir())
		path := filepath.Join(folder, "weather")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := trust.NewUserStore(getenv).Begin([]string{folder}, map[string]string{path: trust.Digest([]byte("#!/bin/sh\n"))}); err != nil {
			t.Fatal(err)
		}
		return folder
	}
	if _, err := run("--revoke", "weather"); err == nil || !strings.Contains(err.Error(), "there is no plugin weather") {
		t.Errorf("without any folder: %v", err)
	}
	first := served()
	if out, err := run("--revoke", "weather", "--plugins", t.TempDir()); err == nil || !strings.Contains(err.Error(), "there is no plugin weather") {
		t.Errorf("in another folder: %q, %v", out, err)
	}
	if out, err := run("--revoke", "weather"); err != nil || !strings.Contains(out, filepath.Join(first, "weather")) {
		t.Errorf("in the folder that was used: %q, %v", out, err)
	}
	if err := trust.NewUserStore(getenv).AddWritable(first); err != nil {
		t.Fatal(err)
	}
	if _, err := run("--revoke", "weather"); err == nil || !strings.Contains(err.Error(), "--plugins "+first) {
		t.Errorf("in a folder that tools may write: %v", err)
	}
	second := served()
	if _, err := run("--revoke", "weather"); err == nil || !strings.Contains(err.Error(), first) || !strings.Contains(err.Error(), second) {
		t.Errorf("in two folders: %v", err)
	}
	if out, err := run("--revoke", "weather", "--plugins", second); err != nil || !strings.Contains(out, filepath.Join(second, "weather")) {
		t.Errorf("in the named folder: %q, %v", out, err)
	}
}
