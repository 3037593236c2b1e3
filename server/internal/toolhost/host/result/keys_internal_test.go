package result

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/text/arguments"
	"github.com/toolhost/toolhost/tool"
)

// ownKeys has each key of a result's metadata that toolhost sets, by its name in this package: how
// a report comes to have it, and the value that a caller gets.
var ownKeys = map[string]struct {
	key  string
	set  func(*Report) error
	want string
}{
	"repairsKey":    {repairsKey, func(r *Report) error { return r.SetRepairs([]arguments.Repair{}) }, `[]`},
	"undeclaredKey": {undeclaredKey, func(r *Report) error { return r.SetUndeclared([]arguments.Undeclared{}) }, `[]`},
	"leakedKey": {leakedKey, func(r *Report) error { r.SetLeaked([]arguments.Leaked{{Path: "a", Name: "b"}}); return nil },
		`[{"path":"a","name":"b","declared":false}]`},
	"filtersKey":    {filtersKey, func(r *Report) error { r.AddChange("mask"); return nil }, `["mask"]`},
	"answeredByKey": {answeredByKey, func(r *Report) error { r.SetAnsweredBy("cache"); return nil }, `"cache"`},
	"outputKey":     {outputKey, func(r *Report) error { r.SetBadOutput("no object"); return nil }, `"no object"`},
	"tool.KeyStandingApproval": {tool.KeyStandingApproval, func(r *Report) error {
		r.SetStanding(&tool.StandingApproval{ID: "approval-1", Approver: "red/olga"})
		return nil
	}, `{"approver":"red/olga","id":"approval-1"}`},
	"refusedEffectsKey": {refusedEffectsKey, nil, `[{"key":"run","reason":"the key says for which tenant or in which run the call is made, and no effect changes it"}]`},
}

// forged is the metadata of a plugin that sets all keys of toolhost, and some that toolhost does
// not have yet.
func forged() map[string]json.RawMessage {
	all := map[string]json.RawMessage{"own": []byte(`1`), tool.ReservedPrefix: []byte(`"forged"`), tool.ReservedPrefix + "later": []byte(`"forged"`)}
	for _, of := range ownKeys {
		all[of.key] = []byte(`"forged"`)
	}
	return all
}

// A plugin that sets toolhost's keys changes none of them, whether toolhost sets them or not.
func TestPluginsCannotSetToolhostsMetadata(t *testing.T) {
	for name, of := range ownKeys {
		for _, isSet := range []bool{false, true} {
			sent := forged()
			outcome := tool.Outcome{Result: tool.Result{Metadata: sent}}
			want, report := map[string]json.RawMessage{"own": []byte(`1`)}, Report{}
			if isSet {
				want[of.key] = []byte(of.want)
				if of.set == nil { // the effect of a tool is refused
					outcome.Result.Effects = []tool.Effect{{Key: "run", Value: []byte(`"other"`)}}
				} else if err := of.set(&report); err != nil {
					t.Fatal(err)
				}
			}
			report.AddTo(&outcome)
			EffectRules{Declared: []string{"run"}}.Apply(&outcome)
			if diff := cmp.Diff(want, outcome.Result.Metadata); diff != "" {
				t.Errorf("%s, set %v (-want +got):\n%s", name, isSet, diff)
			}
			if diff := cmp.Diff(forged(), sent); diff != "" {
				t.Errorf("%s: the plugin's map has changed:\n%s", name, diff)
			}
		}
	}
}

// No effect changes a key of the context that belongs to toolhost, even if the tool declares it and
// the operator grants it.
func TestEffectsOnToolhostsKeysAreRefused(t *testing.T) {
	keys := []string{tool.ReservedPrefix, tool.ReservedPrefix + "later", tool.KeyPrincipal, tool.KeyWorkingDirectory, tool.KeyStandingApproval, tool.KeyArguments}
	outcome := tool.Outcome{}
	for _, key := range keys {
		outcome.Result.Effects = append(outcome.Result.Effects, tool.Effect{Key: key, Value: []byte(`"forged"`)})
	}
	rules := EffectRules{Declared: keys, Granted: keys, Read: func(string) bool { return false }}
	if count, _, _ := rules.Apply(&outcome); count != len(keys) || len(outcome.Result.Effects) > 0 {
		t.Errorf("%d of %d effects were refused; the caller gets %v", count, len(keys), outcome.Result.Effects)
	}
}

// ownKeys has all keys that the package sets: the source names no other one.
func TestAllKeysAreInTheTable(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	set := map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 3 {
				return true
			}
			if name, ok := call.Fun.(*ast.Ident); ok && name.Name == "setMetadata" {
				set[nameOf(call.Args[1])] = true
			}
			return true
		})
	}
	want := slices.Sorted(maps.Keys(ownKeys))
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(set))); diff != "" {
		t.Errorf("keys that the package sets (-in the table +in the source):\n%s", diff)
	}
}

// nameOf returns the name of a constant as the source has it.
func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return nameOf(e.X) + "." + e.Sel.Name
	}
	return "?"
}
