package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	namedTest    = regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9_]+)`")
	declaredTest = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Za-z0-9_]+)\(`)
)

// Each test that the threat model names exists in the repository, and each boundary names a test.
func TestThreatModelNamesTestsThatExist(t *testing.T) {
	declared := declaredTests(t)
	_, boundaries, _ := strings.Cut(readPage(t, "docs/threat-model.md"), "\n## Boundaries\n")
	boundaries, _, _ = strings.Cut(boundaries, "\n## ")
	for _, section := range strings.Split(boundaries, "\n### ")[1:] {
		title, _, _ := strings.Cut(section, "\n")
		namesTests(t, declared, title, section)
	}
}

var namedKey = regexp.MustCompile("`[A-Za-z_]+(?:\\.[A-Za-z_]+)*\\.([a-z_]+)`")

// Each row of the page about limits names tests that exist in the repository, and its keys are in a
// table of keys.
func TestLimitsNameTestsAndKeysThatExist(t *testing.T) {
	declared := declaredTests(t)
	keys := readPage(t, "docs/configuration.md") + readPage(t, "docs/agentd.md") + readPage(t, "docs/common-settings.md")
	rows := 0
	for _, line := range strings.Split(readPage(t, "docs/limits.md"), "\n") {
		for _, key := range namedKey.FindAllStringSubmatch(line, -1) {
			if key[1] != "yaml" && !strings.Contains(keys, "\n| `"+key[1]+"` |") {
				t.Errorf("%q names the key %s, which does not exist", line, key[0])
			}
		}
		if strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| what it causes") && !strings.HasPrefix(line, "| ---") {
			namesTests(t, declared, line, line)
			rows++
		}
	}
	if rows < 100 {
		t.Errorf("found %d rows: does the test still read the page?", rows)
	}
}

// Each cell of the page about guarantees names tests that exist, or is a dash.
func TestGuaranteesNameTestsThatExist(t *testing.T) {
	declared := declaredTests(t)
	cells := 0
	for _, line := range strings.Split(readPage(t, "docs/guarantees.md"), "\n") {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| what happens") || strings.HasPrefix(line, "| data |") || strings.HasPrefix(line, "| ---") {
			continue
		}
		for _, cell := range strings.Split(strings.Trim(line, "| "), " | ")[1:] {
			if cells++; cell != "–" {
				namesTests(t, declared, cell, cell)
			}
		}
	}
	if cells < 80 {
		t.Errorf("found %d cells: does the test still read the page?", cells)
	}
}

// namesTests checks that a text names a test, and that all tests that it names exist.
func namesTests(t *testing.T, declared map[string]bool, title, text string) {
	t.Helper()
	named := namedTest.FindAllStringSubmatch(text, -1)
	if len(named) == 0 {
		t.Errorf("%q names no test", title)
	}
	for _, name := range named {
		if !declared[name[1]] {
			t.Errorf("%q names %s, which does not exist", title, name[1])
		}
	}
}

func readPage(t *testing.T, name string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root(t), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

var namedPath = regexp.MustCompile("`([A-Za-z_.]+/[A-Za-z0-9_./-]+)`")

// The files, packages and tests that CONTRIBUTING.md names exist.
func TestContributingNamesWhatExists(t *testing.T) {
	page := readPage(t, "CONTRIBUTING.md")
	declared := declaredTests(t)
	for _, name := range namedTest.FindAllStringSubmatch(page, -1) {
		if !declared[name[1]] {
			t.Errorf("CONTRIBUTING.md names %s, which does not exist", name[1])
		}
	}
	paths := namedPath.FindAllStringSubmatch(page, -1)
	if len(paths) < 40 {
		t.Errorf("found %d paths in CONTRIBUTING.md: does the test still read it?", len(paths))
	}
	for _, path := range paths {
		first, _, _ := strings.Cut(path[1], "/")
		if strings.ToUpper(filepath.Base(path[1])) == filepath.Base(path[1]) || first == "testing" {
			continue // a placeholder, or a package of the standard library
		}
		if _, err := os.Stat(filepath.Join(root(t), path[1])); err != nil {
			t.Errorf("CONTRIBUTING.md names %s: %v", path[1], err)
		}
	}
}

// declaredTests returns the names of all Go tests of the repository.
func declaredTests(t *testing.T) map[string]bool {
	t.Helper()
	declared := map[string]bool{}
	err := filepath.WalkDir(root(t), func(path string, entry fs.DirEntry, err error) error {
		switch name := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && path != root(t) && (strings.HasPrefix(name, ".") || name == "node_modules"):
			return fs.SkipDir
		// Shared suites are in files whose names do not end in _test.go.
		case !strings.HasSuffix(name, ".go"):
			return nil
		}
		text, err := os.ReadFile(path)
		for _, match := range declaredTest.FindAllStringSubmatch(string(text), -1) {
			declared[match[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return declared
}
