package toolpb_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
)

// The table in docs/declared-fields.md has exactly one row for each field of ToolSpec, and each
// test that a row names exists.
func TestDeclaredFieldsAreDocumented(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	page, err := os.ReadFile(filepath.Join(root, "docs", "declared-fields.md"))
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("^\\| `([a-z_]+)` \\|(?:[^|]+\\|){5} `(Test\\w+)` \\(([\\w/]+)\\) \\|$")
	seen := map[string]bool{}
	table, _, _ := strings.Cut(string(page), "\n## ")
	for line := range strings.Lines(table) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		parts := row.FindStringSubmatch(line)
		if parts == nil {
			t.Errorf("a row that cannot be read: %s", line)
			continue
		}
		field, test, folder := parts[1], parts[2], parts[3]
		if seen[field] {
			t.Errorf("%s has two rows", field)
		}
		if seen[field] = true; !hasTest(t, filepath.Join(root, folder), test) {
			t.Errorf("%s: there is no %s in %s", field, test, folder)
		}
	}
	fields := (*toolv1.ToolSpec)(nil).ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		name := string(fields.Get(i).Name())
		if !seen[name] {
			t.Errorf("the field %s has no row", name)
		}
		delete(seen, name)
	}
	for name := range seen {
		t.Errorf("the row %s is of no field", name)
	}
}

func hasTest(t *testing.T, folder, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+name+"(t *testing.T)") {
			return true
		}
	}
	return false
}
