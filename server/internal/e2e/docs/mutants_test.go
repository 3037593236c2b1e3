package docs

import (
	"slices"
	"strings"
	"testing"
)

const mutantsFile = "server/internal/e2e/docs/testdata/mutants.txt"

// mutant is a change of a source file that a test must notice.
type mutant struct {
	of           string // the row of guarantees.md, or the folder of a package
	file         string
	old, new     []string // lines
	folder, test string   // an empty test stands for all of the folder
}

// TestMutantsFit checks that each row of the guarantees has a mutant, that the test of the mutant
// is one of those that hold the row, and that its text is in its file once. TestMutants, which has
// the build tag mutants, runs the tests.
func TestMutantsFit(t *testing.T) {
	declared, listed := declaredTests(t), readClaims(t)["docs/guarantees.md"]
	tests, without := map[string][]string{}, map[string]bool{}
	for row := range tableRows(readPage(t, "docs/guarantees.md")) {
		name := row.section + ": " + row.cells[0]
		without[name] = true
		for _, column := range row.columns[1:] {
			tests[name] = append(tests[name], listed[name+": "+column]...)
		}
	}
	for _, m := range readMutants(t) {
		if n := strings.Count(readPage(t, m.file), m.text(m.old)); n != 1 {
			t.Errorf("%q: %s has %d times\n%s", m.of, m.file, n, m.text(m.old))
		}
		holds, ofRow := tests[m.of]
		switch key := m.folder + ":" + m.test; {
		case ofRow && !slices.Contains(holds, m.test) && !slices.Contains(holds, key):
			t.Errorf("%q: %s names %s, which is not among the tests of the row: %v", m.of, mutantsFile, m.test, holds)
		case !ofRow && m.of != m.folder:
			t.Errorf("%s has %q, which is neither a row of the guarantees nor the folder of its test", mutantsFile, m.of)
		case (m.test != "" || ofRow) && !declared[key]:
			t.Errorf("%q: %s names %s, which does not exist", m.of, mutantsFile, key)
		}
		delete(without, m.of)
	}
	for name := range without {
		t.Errorf("%s has no mutant of %q", mutantsFile, name)
	}
}

func (m *mutant) text(lines []string) string { return strings.Join(lines, "\n") }

func readMutants(t *testing.T) (all []mutant) {
	t.Helper()
	for line := range strings.Lines(readPage(t, mutantsFile)) {
		text, inside := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "\t")
		switch {
		case text == "" || text[0] == '#':
		case !inside:
			all = append(all, mutant{of: text})
		case text[0] == '-':
			m := &all[len(all)-1]
			m.old = append(m.old, text[1:])
		case text[0] == '+':
			m := &all[len(all)-1]
			m.new = append(m.new, text[1:])
		case strings.HasSuffix(text, ".go"):
			all[len(all)-1].file = text
		default:
			m := &all[len(all)-1]
			m.folder, m.test, _ = strings.Cut(text, ":")
		}
	}
	return all
}
