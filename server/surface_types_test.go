package server_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// checker type-checks packages of this module from source, and reads everything that they import
// from the compiler's output. So it also sees unexported types.
type checker struct {
	t        *testing.T
	fset     *token.FileSet
	importer types.Importer
	packages map[string]*types.Package
	files    map[string][]*ast.File
	info     types.Info
}

// compiled are the files with the exported declarations of all packages, by import path.
var compiled map[string]string

func newChecker(t *testing.T) *checker {
	t.Helper()
	if compiled == nil {
		// with the same flags as `make compile`, so that no package is compiled twice
		cmd := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-json=ImportPath,Export", "./cmd/...", "./internal/toolhost/commands/...", "./internal/agentd/commands")
		cmd.Dir, cmd.Env = "server", append(os.Environ(), "CGO_ENABLED=0")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, &stderr)
		}
		compiled = map[string]string{}
		for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
			var p struct{ ImportPath, Export string }
			if err := d.Decode(&p); err != nil {
				t.Fatal(err)
			}
			compiled[p.ImportPath] = p.Export
		}
	}
	fset := token.NewFileSet()
	return &checker{
		t: t, fset: fset, packages: map[string]*types.Package{}, files: map[string][]*ast.File{},
		importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(compiled[path]) }),
		info:     types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}},
	}
}

// check returns the package of a folder.
func (c *checker) check(folder string) *types.Package {
	c.t.Helper()
	if p := c.packages[folder]; p != nil {
		return p
	}
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		c.t.Fatal(err)
	}
	for _, name := range slices.DeleteFunc(names, isTest) {
		if built, err := build.Default.MatchFile(folder, filepath.Base(name)); err != nil {
			c.t.Fatal(err)
		} else if !built {
			continue // for another system, or for the demo
		}
		file, err := parser.ParseFile(c.fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			c.t.Fatal(err)
		}
		c.files[folder] = append(c.files[folder], file)
	}
	config := types.Config{Importer: c.importer}
	p, err := config.Check(module+"/"+folder, c.fset, c.files[folder], &c.info)
	if err != nil {
		c.t.Fatal(err)
	}
	c.packages[folder] = p
	return p
}

// lookup returns a type of a package, exported or not.
func (c *checker) lookup(folder, name string) types.Type {
	c.t.Helper()
	object := c.check(folder).Scope().Lookup(name)
	if object == nil {
		c.t.Fatalf("%s has no type %s", folder, name)
	}
	return object.Type()
}

// printed returns the possible types of a printed expression. These are the type of the expression,
// or, if that type is an interface and the expression is a call of a function of the package, the
// types of that function's results.
func (c *checker) printed(folder string, expr ast.Expr) []types.Type {
	c.t.Helper()
	typ := c.info.Types[expr].Type
	if !types.IsInterface(typ) {
		return []types.Type{typ}
	}
	var all []types.Type
	if call, ok := expr.(*ast.CallExpr); ok {
		for _, file := range c.files[folder] {
			for _, decl := range file.Decls {
				f, ok := decl.(*ast.FuncDecl)
				if name, isName := call.Fun.(*ast.Ident); !ok || !isName || f.Name.Name != name.Name {
					continue
				}
				ast.Inspect(f, func(n ast.Node) bool {
					if r, ok := n.(*ast.ReturnStmt); ok {
						all = append(all, c.info.Types[r.Results[0]].Type)
					}
					return true
				})
			}
		}
	}
	if len(all) == 0 {
		c.t.Errorf("%s: the type of the printed value is an interface, so that its keys cannot be listed; give it a type", c.fset.Position(expr.Pos()))
	}
	return all
}

// keys adds a line for each key of a type: the path of the key and its type. The names of keys come
// from the struct tags.
func keys(found map[string]bool, at string, typ types.Type, tag string, above []types.Type) {
	if slices.Contains(above, typ) {
		found[at+" as above"] = true
		return
	}
	above = append(slices.Clip(above), typ)
	if method, _, _ := types.LookupFieldOrMethod(typ, true, nil, "MarshalJSON"); tag == "json" && method != nil && typ.String() != "encoding/json.RawMessage" {
		if typ.String() == "time.Time" {
			found[at+" time"] = true
		} else {
			found[at+" value of "+typ.String()] = true
		}
		return
	}
	switch under := typ.Underlying().(type) {
	case *types.Pointer:
		keys(found, at, under.Elem(), tag, above)
	case *types.Slice:
		if typ.String() == "encoding/json.RawMessage" {
			found[at+" any value"] = true
		} else if under.Elem().String() == "byte" {
			found[at+" bytes"] = true
		} else {
			keys(found, at+"[]", under.Elem(), tag, above)
		}
	case *types.Map:
		keys(found, at+".NAME", under.Elem(), tag, above)
	case *types.Struct:
		for i := range under.NumFields() {
			field := under.Field(i)
			written, has := reflect.StructTag(under.Tag(i)).Lookup(tag)
			name, _, _ := strings.Cut(written, ",")
			if reflect.StructTag(under.Tag(i)).Get("short") != "" { // its value can stand for the mapping
				keys(found, at, field.Type(), tag, above)
			}
			switch {
			case name == "-":
			case name != "":
				keys(found, at+"."+name, field.Type(), tag, above)
			case field.Embedded():
				keys(found, at, field.Type(), tag, above)
			case field.Exported() && (tag == "json" || has):
				keys(found, at+"."+field.Name(), field.Type(), tag, above)
			}
		}
	default:
		found[at+" "+leaf(typ)] = true
	}
}

// leaf returns the type of a single value.
func leaf(typ types.Type) string {
	if named, ok := typ.(*types.Named); ok && (named.Obj().Name() == "Duration" || named.Obj().Name() == "Size") {
		return strings.ToLower(named.Obj().Name())
	}
	if basic, ok := typ.Underlying().(*types.Basic); ok {
		switch {
		case basic.Info()&types.IsInteger != 0:
			return "integer"
		case basic.Info()&types.IsFloat != 0:
			return "number"
		}
		return basic.Name()
	}
	return "any value"
}
