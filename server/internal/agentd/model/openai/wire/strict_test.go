package wire

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// The cases follow the section "Supported schemas" of OpenAI's guide to structured outputs.
func TestStrict(t *testing.T) {
	object := func(properties, required string) string {
		return `{"type":"object","properties":{` + properties + `},"required":[` + required + `],"additionalProperties":false}`
	}
	nested := `{"type":"string"}`
	for range 6 {
		nested = object(`"a":`+nested, `"a"`)
	}
	var many, names []string
	for i := range 101 {
		many = append(many, fmt.Sprintf(`"p%d":{"type":"string"}`, i))
		names = append(names, fmt.Sprintf(`"p%d"`, i))
	}
	for schema, want := range map[string]bool{
		object(``, ``): true,
		object(`"a":{"type":"string","description":"d","pattern":"^a"}`, `"a"`):                  true,
		object(`"a":{"type":["string","null"],"enum":["x",null]}`, `"a"`):                        true,
		object(`"a":{"type":"array","items":{"type":"number","minimum":0},"maxItems":3}`, `"a"`): true,
		object(`"a":{"anyOf":[{"type":"string","format":"uuid"},{"type":"null"}]}`, `"a"`):       true,
		object(`"a":{"anyOf":[`+object(`"b":{"type":"boolean"}`, `"b"`)+`]}`, `"a"`):             true,
		object(`"a":{"$ref":"#"}`, `"a"`):                                                        true,
		object(`"a":{"$ref":"#","description":"d"}`, `"a"`):                                      false,
		object(`"a":{"type":"string"}`, ``):                                                      false,
		object(`"a":{"type":"string"}`, `"a","b"`):                                               false,
		object(`"a":{"type":"string","minLength":1}`, `"a"`):                                     false,
		object(`"a":{"type":"string","format":"uri"}`, `"a"`):                                    false,
		object(`"a":{"type":"string","default":"x"}`, `"a"`):                                     false,
		object(`"a":{}`, `"a"`):                                                                  false,
		object(`"a":true`, `"a"`):                                                                false,
		object(`"a":{"enum":["x"]}`, `"a"`):                                                      false,
		object(`"a":{"type":"array"}`, `"a"`):                                                    false,
		object(`"a":{"type":"object"}`, `"a"`):                                                   false,
		object(`"a":{"oneOf":[{"type":"string"}]}`, `"a"`):                                       false,
		object(`"a":{"anyOf":[{"type":"string"},{"not":{}}]}`, `"a"`):                            false,
		`{"type":"object"}`: false,
		`{"type":"object","properties":{},"required":[],"additionalProperties":true}`:             false,
		`{"type":"object","properties":{},"required":[],"additionalProperties":false,"allOf":[]}`: false,
		`{"anyOf":[` + object(``, ``) + `]}`:                                                      false,
		`{"type":"string"}`:                                                                       false,
		`true`:                                                                                    false,
		`{`:                                                                                       false,
		``:                                                                                        false,
		`{"type":"object","$defs":{"d":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/d"}},"required":["a"],"additionalProperties":false}`: true,
		`{"type":"object","$defs":{"d":{"type":"file"}},"properties":{"a":{"$ref":"#/$defs/d"}},"required":["a"],"additionalProperties":false}`:   false,
		nested: false,
		object(strings.Join(many[:100], ","), strings.Join(names[:100], ",")): true,
		object(strings.Join(many, ","), strings.Join(names, ",")):             false,
	} {
		if got := Strict(json.RawMessage(schema)); got != want {
			t.Errorf("%.300s: got %t", schema, got)
		}
	}
}
