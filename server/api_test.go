package server_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/doc"
	"go/format"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "accept the changes of the public API: rewrite the listings in api")

// publicPackages are the packages that other modules may import.
var publicPackages = []string{"client", "sdk", "sdk/egress", "sdk/sdktest", "sdk/workspace", "tool"}

// TestAPI fails if an exported declaration of a public package differs from the listing in api. A
// change of the listing is a change that users of the package notice, so that a review sees it.
func TestAPI(t *testing.T) {
	for _, folder := range publicPackages {
		t.Run(folder, func(t *testing.T) {
			got := listAPI(t, folder)
			file := filepath.Join("api", strings.ReplaceAll(folder, "/", "_")+".txt")
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := differences(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
				t.Errorf("the public API of %s has changed. If users may see this change, accept it with\n\n\tgo -C server test . -run TestAPI -update\n\n(-listed +now)\n%s", folder, diff)
			}
		})
	}
}

// listAPI returns the exported declarations of a package without comments and bodies, in the order
// of their names. A type is followed by its constructors and methods.
func listAPI(t *testing.T, folder string) []byte {
	t.Helper()
	fset := token.NewFileSet()
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no Go files in %s: %v", folder, err)
	}
	var files []*ast.File
	for _, name := range slices.DeleteFunc(names, isTest) {
		file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	p, err := doc.NewFromFiles(fset, files, module+"/"+folder)
	if err != nil {
		t.Fatal(err)
	}
	l := listing{t: t, fset: fset}
	fmt.Fprintf(&l, "package %s // import %q\n", p.Name, p.ImportPath)
	l.values(p.Consts)
	l.values(p.Vars)
	l.functions(p.Funcs)
	for _, typ := range p.Types {
		l.declaration(typ.Decl)
		l.values(typ.Consts)
		l.values(typ.Vars)
		l.functions(typ.Funcs)
		l.functions(typ.Methods)
	}
	return l.Bytes()
}

func isTest(name string) bool { return strings.HasSuffix(name, "_test.go") }

// listing collects declarations.
type listing struct {
	bytes.Buffer
	t    *testing.T
	fset *token.FileSet
}

func (l *listing) values(values []*doc.Value) {
	for _, v := range values {
		l.declaration(v.Decl)
	}
}

func (l *listing) functions(functions []*doc.Func) {
	for _, f := range functions {
		f.Decl.Body = nil
		l.declaration(f.Decl)
	}
}

// declaration writes a declaration without its comments. go/doc has removed what is not exported.
func (l *listing) declaration(decl ast.Decl) {
	l.t.Helper()
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			n.Doc = nil
		case *ast.FuncDecl:
			n.Doc = nil
		case *ast.TypeSpec:
			n.Doc, n.Comment = nil, nil
		case *ast.ValueSpec:
			n.Doc, n.Comment = nil, nil
		case *ast.Field:
			n.Doc, n.Comment = nil, nil
		}
		return true
	})
	var text bytes.Buffer
	config := printer.Config{Mode: printer.TabIndent, Tabwidth: 8}
	if err := config.Fprint(&text, token.NewFileSet(), decl); err != nil {
		l.t.Fatal(err)
	}
	formatted, err := format.Source(text.Bytes())
	if err != nil {
		l.t.Fatal(err)
	}
	l.WriteByte('\n')
	l.Write(bytes.TrimRight(formatted, "\n"))
	l.WriteByte('\n')
}

// TestAPIHasNoInternalTypes fails if an exported declaration names a package that users cannot
// import.
func TestAPIHasNoInternalTypes(t *testing.T) {
	for _, folder := range publicPackages {
		internal := map[string]bool{}
		files, err := fs.Glob(os.DirFS(folder), "*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range slices.DeleteFunc(files, isTest) {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(folder, name), nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, spec := range file.Imports {
				path := strings.Trim(spec.Path.Value, `"`)
				if strings.Contains(path, "/internal/") {
					internal[path[strings.LastIndex(path, "/")+1:]] = true
				}
			}
		}
		for line := range strings.Lines(string(listAPI(t, folder))) {
			if strings.HasPrefix(line, "var ") || strings.HasPrefix(line, "const ") {
				line, _, _ = strings.Cut(line, " = ") // the value may come from an internal package
			}
			for name := range internal {
				if strings.Contains(line, name+".") {
					t.Errorf("%s exports a declaration with a type of an internal package: %s", folder, strings.TrimSpace(line))
				}
			}
		}
	}
}
