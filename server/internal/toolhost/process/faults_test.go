package process_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/process/fault"
)

// TestEveryFaultHasATest checks the table in the documentation of package fault: it contains all
// faults of the plugin, and each test that it names exists, causes the fault, and checks that
// nothing is left.
func TestEveryFaultHasATest(t *testing.T) {
	here, whole := readTests(t, "."), readTests(t, filepath.Join("..", "..", "e2e"))
	untested := map[string]bool{}
	for _, name := range fault.Flags() {
		untested["-"+name] = true
	}
	for _, name := range fault.Actions() {
		untested[name] = true
	}
	for _, row := range readTable(t) {
		told := map[string]bool{}
		for _, name := range row.tests {
			code, checked := here, "leavesNothing"
			if code[name] == nil {
				code, checked = whole, "endsClean"
			}
			words, uses := code.reach(name)
			if !uses[checked] {
				t.Errorf("%q: %s is no test that checks by %s that nothing is left", row.fault, name, checked)
			}
			scripts := slices.DeleteFunc(slices.Clone(row.scripts), func(script string) bool {
				return !slices.ContainsFunc(words, func(word string) bool { return tells(word, script) })
			})
			if len(scripts) == 0 {
				t.Errorf("%q: %s does none of %q", row.fault, name, row.scripts)
			}
			for _, script := range scripts {
				told[script] = true
			}
		}
		for _, script := range row.scripts {
			if !told[script] {
				t.Errorf("%q: none of %q does %s", row.fault, row.tests, script)
			}
			name, _, _ := strings.Cut(script, "=")
			delete(untested, name)
		}
	}
	if len(untested) > 0 {
		t.Errorf("the table does not have %q", slices.Sorted(maps.Keys(untested)))
	}
}

// Tests that launch a plugin check that nothing of it is left, whether they are in the table or
// not.
func TestEveryLaunchIsCheckedForWhatItLeaves(t *testing.T) {
	code := readTests(t, ".")
	for name := range code {
		if _, uses := code.reach(name); strings.HasPrefix(name, "Test") && name != "TestMain" && uses["Launch"] && !uses["leavesNothing"] {
			t.Errorf("%s does not", name)
		}
	}
}

// row is a row of the table.
type row struct {
	fault          string
	scripts, tests []string
}

func readTable(t *testing.T) []row {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("fault", "doc.go"))
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(strings.TrimPrefix(line, "//"), " | "); len(cells) == 3 {
			rows = append(rows, row{strings.TrimSpace(cells[0]), strings.Fields(cells[1]), strings.Fields(cells[2])})
		}
	}
	if len(rows) == 0 {
		t.Fatal("there is no table")
	}
	return rows
}

// tells reports whether a string in a test causes a fault: as a flag, or as the argument of a call.
func tells(word, script string) bool {
	if strings.HasPrefix(script, "-") {
		return strings.HasPrefix(word, script)
	}
	return word == script || strings.Contains(word, `"do":"`+script+`"`)
}

// testCode holds the declarations of a folder's tests, by name. Methods of the same name count as
// one.
type testCode map[string][]ast.Node

func readTests(t *testing.T, dir string) testCode {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	code := testCode{}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				code[decl.Name.Name] = append(code[decl.Name.Name], decl)
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					if values, ok := spec.(*ast.ValueSpec); ok {
						code[values.Names[0].Name] = append(code[values.Names[0].Name], values)
					}
				}
			}
		}
	}
	return code
}

// reach returns the strings in a declaration and in all that it uses, and the names that it uses.
func (c testCode) reach(name string) (words []string, uses map[string]bool) {
	uses = map[string]bool{name: true}
	for next := []string{name}; len(next) > 0; next = next[1:] {
		for _, node := range c[next[0]] {
			ast.Inspect(node, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.Ident:
					if !uses[n.Name] {
						uses[n.Name] = true
						next = append(next, n.Name)
					}
				case *ast.BasicLit:
					if word, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
						words = append(words, word)
					}
				}
				return true
			})
		}
	}
	return words, uses
}
