package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// verified has the fields of `toolhost verify -o json` that the tests use.
type verified struct {
	Path, Plugin string
	OK           bool
	Summary      struct{ Pass, Fail, Advice int }
	Called       []string
	Checks       []struct{ ID, Status, Remedy, Contract string }
}

// found returns the ids of the checks with a status.
func (v verified) found(status string) []string {
	var ids []string
	for _, c := range v.Checks {
		if c.Status == status {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// verify runs `toolhost verify` with a separate home.
func verify(t *testing.T, args ...string) result {
	t.Helper()
	home, err := os.MkdirTemp("/tmp", "tv") // t.TempDir is too long for a socket path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		entries, err := os.ReadDir(home)
		if err != nil || len(entries) > 0 {
			t.Errorf("verify left %v, %v", entries, err)
		}
		_ = os.RemoveAll(home)
	})
	return run(t, command(t.Context(), home, nil, "toolhost", append([]string{"verify"}, args...)...))
}

func verdict(t *testing.T, r result) verified {
	t.Helper()
	var v verified
	if err := json.Unmarshal([]byte(r.stdout), &v); err != nil {
		t.Fatalf("%v: exit code %d, stdout %s, stderr %s", err, r.code, r.stdout, r.stderr)
	}
	return v
}

// passes fails the test unless the plugin passes.
func passes(t *testing.T, args ...string) verified {
	t.Helper()
	r := verify(t, append(args, "-o", "json")...)
	v := verdict(t, r)
	if r.code != 0 || !v.OK || v.Summary.Fail > 0 {
		t.Errorf("exit code %d, failed: %q; run toolhost verify %s", r.code, v.found("fail"), strings.Join(args, " "))
	}
	return v
}

func TestVerifyGoPlugins(t *testing.T) {
	shipped, err := filepath.Glob(filepath.Join(bin, "plugins", "*"))
	if err != nil || len(shipped) == 0 {
		t.Fatalf("no plugins, %v", err)
	}
	for _, path := range shipped {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			v := passes(t, path)
			if v.Summary.Advice > 0 || len(v.Called) == 0 {
				t.Errorf("advice on a plugin that ships: %q; called: %q", v.found("advice"), v.Called)
			}
		})
	}
	for _, name := range []string{"approvalplugin", "dynamicplugin", "filterplugin", "secretplugin"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, filepath.Join(bin, name))
		})
	}
}

// script writes an executable, and the configuration that makes its parts visible in the sandbox.
func script(t *testing.T, name string, reads []string, text string) (path, config string) {
	t.Helper()
	dir := t.TempDir()
	path, config = filepath.Join(dir, name), filepath.Join(dir, "toolhost.yaml")
	settings, err := json.Marshal(map[string]any{"defaults": map[string]any{"sandbox": map[string]any{"read": reads}}})
	if err == nil {
		err = os.WriteFile(config, settings, 0o600) // JSON is valid YAML
	}
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path, config
}

func TestVerifyTellsWhatIsWrong(t *testing.T) {
	path, config := script(t, "noisy", []string{bin}, fmt.Sprintf("#!/bin/sh\necho hello\nexec '%s/calculator'\n", filepath.Join(bin, "plugins")))
	r := verify(t, path, "--config", config)
	r.exits(t, 1)
	r.says(t, "FAIL", "handshake", `"hello"`, "contract: proto/toolhost/plugin/v1/plugin.proto, Handshake", "to fix it: ", "log to standard error", "1 failed")
	if strings.Contains(r.stdout, "\x1b") {
		t.Errorf("colours where no terminal is: %q", r.stdout)
	}
	v := verdict(t, verify(t, path, "--config", config, "-o", "json"))
	if got := v.found("fail"); v.OK || !slices.Equal(got, []string{"start.handshake"}) {
		t.Errorf("ok is %v, failed: %q", v.OK, got)
	}
}

func TestVerifyCommandLine(t *testing.T) {
	plugins := filepath.Join(bin, "plugins")
	data := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(data, []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	repository := t.TempDir()
	if err := os.WriteFile(filepath.Join(repository, "Makefile"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"a name":           {[]string{"calculator", "--plugins", plugins}, 0, "called: calculator"},
		"everything":       {[]string{filepath.Join(plugins, "calculator"), "-v"}, 0, "pass"},
		"strict, good":     {[]string{filepath.Join(plugins, "calculator"), "--strict"}, 0, "0 failed, 0 with advice"},
		"advice":           {[]string{filepath.Join(bin, "dynamicplugin")}, 0, "to fix it: describe in a few sentences"},
		"strict":           {[]string{filepath.Join(bin, "dynamicplugin"), "--strict"}, 1, "with advice"},
		"one tool":         {[]string{filepath.Join(plugins, "fs"), "--tool", "list_dir", "--arguments", `{"path":"."}`}, 0, "called: list_dir;"},
		"no such name":     {[]string{"nothing", "--plugins", plugins}, 2, `there is no plugin "nothing": it is not in `},
		"no such path":     {[]string{"./nothing"}, 2, "there is no plugin at ./nothing"},
		"no program":       {[]string{data}, 2, "is not executable; a plugin is an executable, or a folder with a plugin.yaml"},
		"a repository":     {[]string{repository}, 2, "holds no plugin.yaml; a plugin is an executable, or a folder with a plugin.yaml; if it is the repository of one, build it"},
		"no such tool":     {[]string{filepath.Join(plugins, "calculator"), "--tool", "sing"}, 2, `the plugin "calculator" has no tool "sing"`},
		"arguments alone":  {[]string{filepath.Join(plugins, "calculator"), "--arguments", "{}"}, 2, "say with --tool which tool they are for"},
		"broken arguments": {[]string{filepath.Join(plugins, "calculator"), "--tool", "calculator", "--arguments", "{"}, 2, "is no JSON"},
		"no time":          {[]string{filepath.Join(plugins, "calculator"), "--timeout", "0s"}, 2, "is not positive"},
		"nothing":          {nil, 2, "PATH|NAME is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := verify(t, c.args...)
			r.exits(t, c.code)
			r.says(t, c.says)
		})
	}
}
