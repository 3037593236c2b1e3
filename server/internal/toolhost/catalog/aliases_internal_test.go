package catalog

import (
	"encoding/json"
	"testing"

	"github.com/toolhost/toolhost/internal/text/arguments"
	"github.com/toolhost/toolhost/tool"
)

// Other names of parameters are used for the repair, also as a plugin describes them for a session,
// and are in the digest of the definition. The spec that callers see has none.
func TestAliases(t *testing.T) {
	const seen = `{"type":"object","properties":{"path":{"type":"string"}}}`
	spec := func(names string) tool.Spec {
		schema := `{"type":"object","properties":{"path":{"type":"string","x-toolhost-aliases":[` + names + `]}}}`
		return tool.Spec{Name: "t", Description: "Does it.", InputSchema: json.RawMessage(schema), OutputSchema: json.RawMessage(schema)}
	}
	check := func(of *Tool, sent string) {
		t.Helper()
		if string(of.Spec.InputSchema) != seen || string(of.Spec.OutputSchema) != seen {
			t.Errorf("callers see %s and %s", of.Spec.InputSchema, of.Spec.OutputSchema)
		}
		p, err := arguments.Parse([]byte(sent))
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := of.Schema.Repair(p); string(got.Canonical()) != `{"path":"a"}` {
			t.Errorf("%s became %s", sent, got.Canonical())
		}
	}
	declared := func(names string) *Tool {
		made, err := newTool(&Plugin{}, spec(names), map[string]bool{}, "")
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	first := declared(`"file"`)
	check(first, `{"file":"a"}`)
	described, err := first.Described(spec(`"name"`))
	if err != nil {
		t.Fatal(err)
	}
	check(described, `{"name":"a"}`)
	if declared(`"name"`).DefinitionDigest() == first.DefinitionDigest() {
		t.Error("another alias has the same digest")
	}
}
