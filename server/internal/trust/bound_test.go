package trust_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/toolhost/toolhost/server/internal/trust"
	"github.com/toolhost/toolhost/tool"
)

// An upgrade does not relax the order of the calls of a response before the operator trusts it.
func TestAnUpgradeKeepsTheOrder(t *testing.T) {
	for name, test := range map[string]struct {
		before, now, want tool.Spec
		held              []string
	}{
		"parallel":       {tool.Spec{}, tool.Spec{Parallel: true}, tool.Spec{}, []string{"parallel"}},
		"still parallel": {tool.Spec{Parallel: true}, tool.Spec{Parallel: true}, tool.Spec{Parallel: true}, nil},
		"seals":          {tool.Spec{Settles: true}, tool.Spec{Settles: true, Seals: true}, tool.Spec{Settles: true}, []string{"its check seals"}},
		"still seals":    {tool.Spec{Settles: true, Seals: true}, tool.Spec{Settles: true, Seals: true}, tool.Spec{Settles: true, Seals: true}, nil},
		"seals no more":  {tool.Spec{Settles: true, Seals: true}, tool.Spec{Settles: true}, tool.Spec{Settles: true}, nil},
		"not parallel":   {tool.Spec{Parallel: true}, tool.Spec{}, tool.Spec{}, nil},
		"not serial":     {tool.Spec{Serial: true}, tool.Spec{}, tool.Spec{Serial: true}, []string{"not serial"}},
		"serial":         {tool.Spec{}, tool.Spec{Serial: true}, tool.Spec{Serial: true}, nil},
		"read only":      {tool.Spec{}, tool.Spec{ReadOnly: true}, tool.Spec{}, []string{"read only"}},
	} {
		got, held := trust.ToolOf(test.before).Bound(test.now, true)
		if got.Parallel != test.want.Parallel || got.Serial != test.want.Serial || got.ReadOnly != test.want.ReadOnly || !slices.Equal(held, test.held) {
			t.Errorf("%s: %+v, held %q", name, got, held)
		}
	}
	if got, _ := (trust.Tool{}).Bound(tool.Spec{Parallel: true}, false); got.Parallel {
		t.Error("a new tool is parallel")
	}
}

// What an MCP server hints about its order is not a part of the definition that the operator
// trusts.
func TestAHintIsNotADefinition(t *testing.T) {
	plain := tool.Spec{Name: "a", Metadata: map[string]json.RawMessage{"x": json.RawMessage(`1`), "mcp": json.RawMessage(`{"name":"a.b"}`)}}
	hinted := tool.Spec{Name: "a", Metadata: map[string]json.RawMessage{"x": json.RawMessage(`1`), "mcp": json.RawMessage(`{"name":"a.b","read_only_hint":true}`)}}
	if trust.ToolOf(plain).Definition != trust.ToolOf(hinted).Definition || trust.Text(plain) != trust.Text(hinted) {
		t.Error("the hint changes the definition")
	}
	if !hinted.Reads() || plain.Reads() {
		t.Errorf("%v, %v", hinted.Reads(), plain.Reads())
	}
	only := tool.Spec{Name: "a", Metadata: map[string]json.RawMessage{"mcp": json.RawMessage(`{"read_only_hint":true}`)}}
	if trust.ToolOf(only).Definition != trust.ToolOf(tool.Spec{Name: "a"}).Definition || len(only.Metadata) != 1 {
		t.Error("the hint alone changes the definition")
	}
	other := tool.Spec{Name: "a", Metadata: map[string]json.RawMessage{"mcp": json.RawMessage(`{"name":"a.c","read_only_hint":true}`)}}
	if trust.ToolOf(only).Definition == trust.ToolOf(other).Definition {
		t.Error("the name at the server is not in the definition")
	}
}
