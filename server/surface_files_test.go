package server_test

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// listConfiguration lists the keys of the files that operators and authors write.
func listConfiguration(t *testing.T) []string {
	t.Helper()
	found := map[string]bool{}
	c := newChecker(t)
	for _, f := range []struct{ name, folder, typ string }{
		{"toolhost.yaml", "server/internal/toolhost/config", "Config"},
		{"agentd.yaml", "server/internal/agentd/agentconfig", "Config"},
		{"plugin.yaml", "server/internal/toolhost/manifest", "manifestFile"},
		{"toolhost.lock", "server/internal/toolhost/manifest", "lockFile"},
		{"cases of a policy", "server/internal/toolhost/policy", "caseFile"},
	} {
		keys(found, f.name, c.lookup(f.folder, f.typ), "yaml", nil)
	}
	c.calls("server/internal/agentd/model/scripted", func(method *ast.SelectorExpr, args []ast.Expr) {
		if method.Sel.Name != "Entries" || len(args) < 2 {
			return
		}
		for _, key := range args[1:] {
			found[fmt.Sprintf("script of a scripted model, %s: %s", literal(t, args[0]), literal(t, key))] = true
		}
	})
	return slices.Sorted(maps.Keys(found))
}

// listRules lists the names that the rules of a policy can use: variables, the properties of tools,
// verdicts, and CEL's libraries of functions.
func listRules(t *testing.T) []string {
	t.Helper()
	found := map[string]bool{}
	c := newChecker(t)
	const folder = "server/internal/toolhost/policy"
	keys(found, "tool", c.lookup(folder, "toolFacts"), "cel", nil)
	declaring := []string{"NativeTypes", "ParseStructTags", "StringsVersion"} // the type of the variable tool, and options
	c.calls(folder, func(f *ast.SelectorExpr, args []ast.Expr) {
		switch name := types.ExprString(f); {
		case name == "cel.Variable":
			found[literal(t, args[0])+" "+strings.ReplaceAll(types.ExprString(args[1]), "cel.", "")] = true
		case strings.HasPrefix(name, "ext.") && !slices.Contains(declaring, f.Sel.Name):
			library := "library " + f.Sel.Name
			for _, arg := range args {
				library += " " + types.ExprString(arg)
			}
			found[library] = true
		}
	})
	verdict := c.lookup(folder, "Verdict")
	scope := c.check(folder).Scope()
	for _, name := range scope.Names() {
		if v, ok := scope.Lookup(name).(*types.Const); ok && types.Identical(v.Type(), verdict) {
			found["verdict "+constant.StringVal(v.Val())] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// listFilter lists the keys of the JSON objects that a filter receives and returns.
func listFilter(t *testing.T) []string {
	t.Helper()
	found := map[string]bool{}
	c := newChecker(t)
	const folder = "internal/wire/filterjson"
	keys(found, "request", c.lookup(folder, "requestForm"), "json", nil)
	scope := c.check(folder).Scope()
	for _, name := range scope.Names() {
		if v, ok := scope.Lookup(name).(*types.Const); ok && strings.HasPrefix(name, "member") {
			found["answer."+constant.StringVal(v.Val())] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// listStored lists the keys of the JSON files that a later version has to read.
func listStored(t *testing.T) []string {
	t.Helper()
	found := map[string]bool{}
	c := newChecker(t)
	for _, f := range []struct{ name, folder, typ string }{
		{"trust.json", "server/internal/trust", "records"},
		{"audit log", "server/internal/audit", "line"},
		{"catalog index", "server/internal/toolhost/catalog", "indexFile"},
		{"artifact", "server/internal/toolhost/artifact", "entry"},
	} {
		keys(found, f.name, c.lookup(f.folder, f.typ), "json", nil)
	}
	return slices.Sorted(maps.Keys(found))
}

// calls visits the calls of methods, and of functions of other packages, in a package.
func (c *checker) calls(folder string, visit func(called *ast.SelectorExpr, args []ast.Expr)) {
	c.t.Helper()
	c.check(folder)
	for _, file := range c.files[folder] {
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if f, ok := call.Fun.(*ast.SelectorExpr); ok {
					visit(f, call.Args)
				}
			}
			return true
		})
	}
}

// literal returns the value of a text in the source.
func literal(t *testing.T, e ast.Expr) string {
	t.Helper()
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		t.Fatalf("%s is not a literal text, so that the keys cannot be listed", types.ExprString(e))
	}
	text, err := strconv.Unquote(lit.Value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
