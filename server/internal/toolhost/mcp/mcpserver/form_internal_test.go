package mcpserver

import (
	"encoding/json"
	"testing"
)

// A form keeps what clients show, in its order, and nothing that they cannot show is offered.
func TestFormOf(t *testing.T) {
	properties := `{"z":{"type":"string","format":"email","default":"a@b.c"},"n":{"type":"integer","minimum":1},"b":{"type":"boolean"},` +
		`"e":{"type":"string","enum":["x"],"enumNames":["X"]},"o":{"type":"string","oneOf":[{"const":"x","title":"X"}]},` +
		`"m":{"type":"array","items":{"type":"string","enum":["x"]}},"a":{"type":"array","items":{"anyOf":[{"const":"x","title":"X"}]}}}`
	got, err := formOf(json.RawMessage(`{"$schema":"x","additionalProperties":false,"required":["z"],"properties":` + properties + `,"type":"object"}`))
	if want := `{"type":"object","properties":` + properties + `,"required":["z"]}`; string(got) != want || err != nil {
		t.Errorf("%s, %v\nwant %s", got, err, want)
	}
	if got, err := formOf(json.RawMessage(`{"type":"object"}`)); string(got) != `{"type":"object","properties":{}}` || err != nil {
		t.Errorf("an empty form: %s, %v", got, err)
	}
	for _, p := range []string{
		`{}`, `true`, `{"type":["string","null"]}`, `{"type":"object"}`, `{"type":"string","properties":{}}`, `{"$ref":"#/x","type":"string"}`,
		`{"type":"array"}`, `{"type":"array","items":{"type":"string"}}`, `{"type":"array","items":{"type":"object"}}`,
		`{"type":"array","items":{"anyOf":[{"type":"object"}]}}`, `{"type":"string","enum":[1]}`, `{"type":"integer","enum":[1]}`,
		`{"type":"string","oneOf":[{"pattern":"x"}]}`, `{"type":"string","anyOf":[]}`, `{"type":"null"}`,
	} {
		if got, err := formOf(json.RawMessage(`{"type":"object","properties":{"p":` + p + `}}`)); err == nil {
			t.Errorf("the property %s is offered as %s", p, got)
		}
	}
	for _, schema := range []string{`{}`, `[]`, `{"type":"string"}`, `{"type":"object","properties":[]}`, `{"type":"object","required":"x"}`} {
		if got, err := formOf(json.RawMessage(schema)); err == nil {
			t.Errorf("%s is offered as %s", schema, got)
		}
	}
}
