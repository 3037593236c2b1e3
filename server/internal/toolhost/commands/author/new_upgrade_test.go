//go:build !race

package author_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/author"
)

// run executes `new` and returns what it prints.
func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var stdout bytes.Buffer
	cmd := author.NewNewCommand(cli.Process{Stdout: &stdout, Getenv: func(string) string { return "" }})
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.ExecuteContext(t.Context())
	return stdout.String(), err
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	args = append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)
	if out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v: %s", args, err, out)
	}
}

// older creates a plugin and changes its repository into one of SDK 0.0.9.
func older(t *testing.T, dir string) (requirements string) {
	t.Helper()
	if _, err := run(t, "weather", "--lang", "python", "--dir", dir); err != nil {
		t.Fatal(err)
	}
	requirements = filepath.Join(dir, "requirements.txt")
	if err := os.WriteFile(requirements, []byte("toolhost-sdk==0.0.9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return requirements
}

func wantText(t *testing.T, path, want string) {
	t.Helper()
	if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), want) {
		t.Errorf("%s contains %q, %v; want %s", path, text, err, want)
	}
}

// An upgrade overwrites only what git can restore, unless the author forces it. The path has
// characters that a shell would interpret.
func TestUpgradeKeepsUncommittedWork(t *testing.T) {
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	dir := filepath.Join(t.TempDir(), `my "weather" it's`)
	requirements := older(t, dir)
	if _, err := run(t, "--upgrade", dir); err == nil || !strings.Contains(err.Error(), "not a git repository") || !strings.Contains(err.Error(), "--force") {
		t.Errorf("outside of git: %v", err)
	}
	git(t, dir, "init", "--quiet")
	// The settings of a repository from elsewhere can name a command for git. An upgrade does not
	// run that command.
	ran := filepath.Join(t.TempDir(), "ran")
	git(t, dir, "config", "core.fsmonitor", "touch '"+ran+"'; true")
	if _, err := run(t, "--upgrade", dir); err == nil || !strings.Contains(err.Error(), "requirements.txt, whose content is not committed") {
		t.Errorf("with a file that git does not have: %v", err)
	}
	if out, err := run(t, "--upgrade", "--dry-run", dir); err != nil || !strings.Contains(out, "would upgrade the python SDK from 0.0.9 to 0.1.0:\n  changed requirements.txt\n") {
		t.Errorf("a dry run prints %q, %v", out, err)
	}
	wantText(t, requirements, "toolhost-sdk==0.0.9")
	if _, err := os.Lstat(ran); err == nil {
		t.Error("the upgrade ran a command of the repository")
	}
	git(t, dir, "config", "--unset", "core.fsmonitor")
	git(t, dir, "add", "--all")
	git(t, dir, "commit", "--quiet", "--message", "begin")
	if out, err := run(t, "--upgrade", dir, "-o", "json"); err != nil || !strings.Contains(out, `"from":"0.0.9"`) {
		t.Errorf("an upgrade of committed files prints %q, %v", out, err)
	}
	wantText(t, requirements, "./third_party/toolhost_sdk-0.1.0-py3-none-any.whl")
	if out, err := run(t, "--upgrade", "--dir", dir); err != nil || out != "the repository has the python SDK 0.1.0 already\n" {
		t.Errorf("a second upgrade prints %q, %v", out, err)
	}
	if _, err := run(t, "--upgrade", "--force", "--online", dir); err != nil {
		t.Errorf("a forced upgrade: %v", err)
	}
	wantText(t, requirements, "toolhost-sdk==0.1.0")
}

// A hook of a repository from elsewhere does not run, and a change that git was told to ignore is
// not lost.
func TestUpgradeDoesNotTrustWhatGitIsTold(t *testing.T) {
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	dir := filepath.Join(t.TempDir(), "weather")
	requirements := older(t, dir)
	git(t, dir, "init", "--quiet")
	git(t, dir, "add", "--all")
	git(t, dir, "commit", "--quiet", "--message", "begin")
	git(t, dir, "update-index", "--assume-unchanged", "requirements.txt")
	text, err := os.ReadFile(requirements)
	if err != nil {
		t.Fatal(err)
	}
	ran, hook := filepath.Join(t.TempDir(), "ran"), filepath.Join(dir, ".git", "hooks", "post-index-change")
	err = errors.Join(os.MkdirAll(filepath.Dir(hook), 0o700), os.WriteFile(hook, []byte("#!/bin/sh\ntouch '"+ran+"'\n"), 0o700),
		os.WriteFile(requirements, append(text, "mine==1\n"...), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, "--upgrade", dir); err == nil || !strings.Contains(err.Error(), "requirements.txt, whose changes git ignores") {
		t.Errorf("with a change that git ignores: %v", err)
	}
	wantText(t, requirements, "mine==1")
	// The index is older than the file now, so git would write it, and run the hook.
	git(t, dir, "-c", "core.hooksPath="+os.DevNull, "update-index", "--no-assume-unchanged", "requirements.txt")
	if err := os.WriteFile(requirements, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, "--upgrade", dir); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(ran); err == nil {
		t.Error("the upgrade ran a hook of the repository")
	}
}

// For a wrong combination of arguments, the error says what to write instead.
func TestNewRefuses(t *testing.T) {
	for want, args := range map[string][]string{
		"use --upgrade":                  {"--lang", "go"},
		"--lang is missing":              {"weather"},
		"use go, python, typescript":     {"weather", "--lang", "perl"},
		"--dry-run and --force need":     {"weather", "--lang", "go", "--dry-run"},
		"[offline online] were all set":  {"weather", "--lang", "go", "--offline", "--online"},
		"[offline sdk] were all set":     {"weather", "--lang", "go", "--offline", "--sdk", "."},
		"[lang upgrade] were all set":    {"--upgrade", "--lang", "go"},
		"toolhost's go.mod":              {"weather", "--lang", "go", "--sdk", t.TempDir()},
		"none of go.mod, requirements":   {"--upgrade", t.TempDir()},
		"no such file":                   {"--upgrade", filepath.Join(t.TempDir(), "none")},
		"--dir and the argument":         {"--upgrade", "a", "--dir", "b"},
		`"two" is one argument too many`: {"one", "two"},
		`name "a b" is ill-formed`:       {"a b", "--lang", "go"},
	} {
		t.Chdir(t.TempDir())
		if out, err := run(t, args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("new %q prints %q, %v; want an error with %q", args, out, err, want)
		}
	}
}
