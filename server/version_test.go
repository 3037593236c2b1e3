package server_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"

	"github.com/toolhost/toolhost/internal/version"
)

// TestOneVersion fails if a package of the repository has another version than
// internal/version.Number, which is the source.
func TestOneVersion(t *testing.T) {
	for file, pattern := range map[string]string{
		"sdk/python/src/toolhost/__init__.py": `(?m)^__version__ = "([^"]*)"$`,
		"sdk/typescript/src/version.ts":       `(?m)^export const VERSION = "([^"]*)";$`,
		"sdk/typescript/package.json":         `(?m)^  "version": "([^"]*)",$`,
		"sdk/typescript/package-lock.json":    `(?m)^  "version": "([^"]*)",$`,
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(pattern).FindAllSubmatch(text, -1)
		if len(found) != 1 || string(found[0][1]) != version.Number {
			t.Errorf("%s has the versions %q; internal/version says %q: change the file", file, found, version.Number)
		}
	}
}

// TestOneGoVersion fails if a module or a page names another minimum version of Go than go.mod. An
// author can build a plugin with that version. tools/go.mod may need a later patch release, because
// buf does. Its toolchain line is the only place that names the version of Go for forges and
// releases.
func TestOneGoVersion(t *testing.T) {
	minimum := readModule(t, "go.mod").Go.Version
	modules := []string{}
	for _, pattern := range []string{"*/go.mod", "*/*/go.mod", "*/*/*/go.mod"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		modules = append(modules, files...)
	}
	for _, file := range slices.DeleteFunc(modules, func(file string) bool { return file == "tools/go.mod" }) {
		m := readModule(t, file)
		if m.Go.Version != minimum || m.Toolchain != nil {
			t.Errorf("%s requires Go %s and the toolchain %v; go.mod requires Go %s, and no toolchain", file, m.Go.Version, m.Toolchain, minimum)
		}
	}
	tools := readModule(t, "tools/go.mod")
	if tools.Toolchain == nil {
		t.Fatal("tools/go.mod has no toolchain line")
	}
	built := strings.TrimPrefix(tools.Toolchain.Name, "go")
	if minor := semver.MajorMinor("v" + minimum); semver.MajorMinor("v"+tools.Go.Version) != minor || semver.MajorMinor("v"+built) != minor {
		t.Errorf("tools/go.mod requires Go %s and the toolchain %s; go.mod requires Go %s", tools.Go.Version, built, minimum)
	}

	series := strings.TrimPrefix(semver.MajorMinor("v"+minimum), "v")
	for _, file := range []string{"README.md", "CONTRIBUTING.md", "docs/quick-start.md", "docs/install.md", "docs/write-a-tool-go.md"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		named := regexp.MustCompile(`Go(?: \|)? (\d+\.\d+(?:\.\d+)?)`).FindAllStringSubmatch(string(text), -1)
		if len(named) == 0 || slices.ContainsFunc(named, func(m []string) bool { return m[1] != series }) {
			t.Errorf("%s names the versions of Go %q, want %s", file, named, series)
		}
	}
	workflows, err := filepath.Glob(".github/workflows/*.yml")
	if err != nil || len(workflows) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	for _, file := range workflows {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(string(text), "actions/setup-go@") != strings.Count(string(text), "go-version-file: tools/go.mod") {
			t.Errorf("%s sets up another version of Go than tools/go.mod names", file)
		}
	}
}

func readModule(t *testing.T, file string) *modfile.File {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m, err := modfile.Parse(file, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
