package docs

import (
	"io/fs"
	"iter"
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

// The tests that hold the claims of three pages are in testdata/claims.txt, by page and claim. Each
// row of the limits, each cell of the guarantees, and each boundary of the threat model has an
// entry there and only there, and all tests of the entries exist.
func TestClaimsHaveTests(t *testing.T) {
	declared, listed := declaredTests(t), readClaims(t)
	for page, claims := range map[string][]string{
		"docs/limits.md":       rowsOfLimits(t),
		"docs/guarantees.md":   cellsOfGuarantees(t),
		"docs/threat-model.md": boundariesOfThreats(t),
	} {
		if len(claims) < 30 {
			t.Errorf("found %d claims in %s: does the test still read the page?", len(claims), page)
		}
		for _, claim := range claims {
			if len(listed[page][claim]) == 0 {
				t.Errorf("%s has no tests for %q of %s", claimsFile, claim, page)
			}
			for _, name := range listed[page][claim] {
				if !declared[name] {
					t.Errorf("%q of %s names %s, which does not exist", claim, page, name)
				}
			}
			delete(listed[page], claim)
		}
		for claim := range listed[page] {
			t.Errorf("%s has tests for %q, which %s does not claim", claimsFile, claim, page)
		}
		if text := readPage(t, page); namedTest.MatchString(text) {
			t.Errorf("%s names %s, which belongs in %s", page, namedTest.FindString(text), claimsFile)
		}
	}
}

const claimsFile = "server/internal/e2e/docs/testdata/claims.txt"

// readClaims returns the tests by page and claim.
func readClaims(t *testing.T) map[string]map[string][]string {
	t.Helper()
	listed := map[string]map[string][]string{}
	var page, claim string
	for line := range strings.Lines(readPage(t, claimsFile)) {
		switch line = strings.TrimSuffix(line, "\n"); {
		case line == "" || strings.HasPrefix(line, "# "):
		case strings.HasPrefix(line, "docs/"):
			page = line
			listed[page] = map[string][]string{}
		case strings.HasPrefix(line, "\t"):
			listed[page][claim] = append(listed[page][claim], strings.Fields(line)...)
		case listed[page][line] != nil:
			t.Errorf("%s has two entries for %q of %s", claimsFile, line, page)
		default:
			claim = line
		}
	}
	return listed
}

// rowsOfLimits returns the name of each row: that of its section, and its first cell. It checks
// that the keys in the rows are in a table of keys.
func rowsOfLimits(t *testing.T) (rows []string) {
	t.Helper()
	keys := readPage(t, "docs/configuration.md") + readPage(t, "docs/agentd.md") + readPage(t, "docs/common-settings.md")
	for row := range tableRows(readPage(t, "docs/limits.md")) {
		for _, key := range namedKey.FindAllStringSubmatch(strings.Join(row.cells, " "), -1) {
			if key[1] != "yaml" && !strings.Contains(keys, "\n| `"+key[1]+"` |") {
				t.Errorf("%q names the key %s, which does not exist", row.cells[0], key[0])
			}
		}
		rows = append(rows, row.section+": "+row.cells[0])
	}
	return rows
}

var namedKey = regexp.MustCompile("`[A-Za-z_]+(?:\\.[A-Za-z_]+)*\\.([a-z_]+)`")

// cellsOfGuarantees returns the name of each cell that has a promise: section, row and column.
func cellsOfGuarantees(t *testing.T) (cells []string) {
	t.Helper()
	for row := range tableRows(readPage(t, "docs/guarantees.md")) {
		for i, cell := range row.cells[1:] {
			if cell != "–" {
				cells = append(cells, row.section+": "+row.cells[0]+": "+row.columns[i+1])
			}
		}
	}
	return cells
}

// boundariesOfThreats returns the titles of the boundaries.
func boundariesOfThreats(t *testing.T) (titles []string) {
	t.Helper()
	_, boundaries, _ := strings.Cut(readPage(t, "docs/threat-model.md"), "\n## Boundaries\n")
	boundaries, _, _ = strings.Cut(boundaries, "\n## ")
	for _, section := range strings.Split(boundaries, "\n### ")[1:] {
		title, _, _ := strings.Cut(section, "\n")
		titles = append(titles, title)
	}
	return titles
}

// tableRow is one row of a table in a page.
type tableRow struct {
	section        string
	columns, cells []string
}

// tableRows returns the rows of all tables in a page, without those above the dashes.
func tableRows(page string) iter.Seq[tableRow] {
	return func(yield func(tableRow) bool) {
		var row tableRow
		for line := range strings.Lines(page) {
			title, isTitle := strings.CutPrefix(line, "## ")
			switch cells := strings.Split(strings.Trim(line, "| \n"), " | "); {
			case isTitle:
				row.section = strings.TrimSpace(title)
			case !strings.HasPrefix(line, "| "):
				row.columns = nil
			case row.columns == nil:
				row.columns = cells
			case cells[0] != "---":
				row.cells = cells
				if !yield(row) {
					return
				}
			}
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

// declaredTests returns the names of all Go tests of the repository, alone and as FOLDER:NAME.
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
		folder, _ := filepath.Rel(root(t), filepath.Dir(path))
		for _, match := range declaredTest.FindAllStringSubmatch(string(text), -1) {
			declared[match[1]], declared[filepath.ToSlash(folder)+":"+match[1]] = true, true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return declared
}
