package server_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAReleasedVersionKeepsItsRecords runs `make baseline` and `make fixtures` in a small checkout.
// Both refuse a version that is released, and leave its listings alone.
func TestAReleasedVersionKeepsItsRecords(t *testing.T) {
	const version = "1.2.3"
	for name, c := range map[string]struct {
		heading, tag string
		refused      string // a part of the message, or empty
	}{
		"no section yet":        {heading: "## 1.2.2 (2026-01-31)"},
		"not published":         {heading: "## 1.2.3 (not published yet)"},
		"tag of another":        {heading: "## 1.2.3 (not published yet)", tag: "v1.2.30"},
		"a date in parentheses": {heading: "## 1.2.3 (2026-02-28)", refused: `its heading in CHANGELOG.md is "## 1.2.3 (2026-02-28)"`},
		"a date in words":       {heading: "## 1.2.3 of 28 February 2026", refused: "its heading"},
		"a date after a dash":   {heading: "## 1.2.3 - 2026-02-28", refused: "its heading"},
		"a tag":                 {heading: "## 1.2.3 (not published yet)", tag: "v1.2.3", refused: "the tag v1.2.3 exists"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			listing := filepath.Join(dir, "api", "releases", version, "tool.txt")
			for name, text := range map[string]string{
				"CHANGELOG.md":                "# Changelog\n\n" + c.heading + "\n\nText.\n\n## 1.2.1 (2026-01-01)\n",
				"internal/version/version.go": "package version\n\nconst Number = \"" + version + "\"\n",
				"api/tool.txt":                "new\n",
				"api/releases/1.2.3/tool.txt": "old\n",
				"sdk/python/api.txt":          "new\n",
				"sdk/typescript/api.txt":      "new\n",
				"scripts/needs.sh":            "#!/bin/sh\n",
			} {
				writeInto(t, filepath.Join(dir, name), []byte(text))
			}
			for _, name := range []string{"Makefile", "scripts/unreleased.sh"} {
				text, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				writeInto(t, filepath.Join(dir, name), text)
			}
			git := [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", "all"}}
			if c.tag != "" {
				git = append(git, []string{"tag", c.tag})
			}
			for _, args := range git {
				if out, err := commandIn(dir, "git", args...).CombinedOutput(); err != nil {
					t.Fatalf("git %v: %v\n%s", args, err, out)
				}
			}
			for _, target := range []string{"baseline", "fixtures"} {
				out, err := commandIn(dir, "make", target, "GO=true", "BUF=true").CombinedOutput()
				if (err == nil) != (c.refused == "") || !strings.Contains(string(out), c.refused) {
					t.Errorf("make %s: %v, want a message with %q:\n%s", target, err, c.refused, out)
				}
			}
			want := "new\n"
			if c.refused != "" {
				want = "old\n"
			}
			if got, err := os.ReadFile(listing); err != nil || string(got) != want {
				t.Errorf("the listing of the version is %q, want %q: %v", got, want, err)
			}
		})
	}
}

// writeInto writes a file that can be executed, and its folder.
func writeInto(t *testing.T, file string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o755); err != nil {
		t.Fatal(err)
	}
}

// commandIn returns a command in a folder, without the settings of a surrounding make or git.
func commandIn(dir, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
	return cmd
}
