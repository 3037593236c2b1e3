package arguments_test

import (
	"encoding/json"
	"testing"

	"github.com/toolhost/toolhost/internal/text/arguments"
)

// A schema from an OpenAPI 3.0 document allows null where it says nullable, and a repair keeps the
// null (jlowin/fastmcp#1280).
func TestNullable(t *testing.T) {
	const item = `{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"price":{"type":"number","format":"double","nullable":true,"example":9.5},` +
		`"tags":{"type":"array","nullable":true,"items":{"type":"string"}}},"additionalProperties":false}`
	for name, test := range map[string]struct {
		schema, value string
		fits          bool
	}{
		"optional":               {item, `{"name":"a","price":null,"tags":null}`, true},
		"its type":               {item, `{"name":"a","price":1.5,"tags":["x"]}`, true},
		"another type":           {item, `{"name":"a","price":true}`, false},
		"not nullable":           {item, `{"name":null}`, false},
		"required":               {`{"type":"object","required":["price"],"properties":{"price":{"type":"number","nullable":true}}}`, `{"price":null}`, true},
		"required and missing":   {`{"type":"object","required":["price"],"properties":{"price":{"type":"number","nullable":true}}}`, `{}`, false},
		"false":                  {`{"type":"object","properties":{"a":{"type":"number","nullable":false}},"required":["a"]}`, `{"a":null}`, false},
		"an enumeration":         {`{"type":"object","properties":{"a":{"type":"string","nullable":true,"enum":["x"]}}}`, `{"a":null}`, true},
		"not in the enumeration": {`{"type":"object","properties":{"a":{"type":"string","nullable":true,"enum":["x"]}}}`, `{"a":"y"}`, false},
		"a reference":            {`{"type":"object","properties":{"a":{"nullable":true,"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"integer"}}}`, `{"a":null}`, true},
		"the reference's type":   {`{"type":"object","properties":{"a":{"nullable":true,"allOf":[{"$ref":"#/$defs/n"}]}},"$defs":{"n":{"type":"integer"}}}`, `{"a":"x"}`, false},
		"all of a reference":     {`{"type":"object","properties":{"a":{"nullable":true,"allOf":[{"$ref":"#/$defs/n"}]}},"$defs":{"n":{"type":"integer"}}}`, `{"a":null}`, true},
		"items":                  {`{"type":"object","properties":{"a":{"type":"array","items":{"type":"integer","nullable":true}}}}`, `{"a":[1,null]}`, true},
		"a property of the name": {`{"type":"object","properties":{"nullable":{"type":"boolean"}},"required":["nullable"]}`, `{"nullable":null}`, false},
		"data of the name":       {`{"type":"object","properties":{"a":{"const":{"type":"x","nullable":true}}}}`, `{"a":{"type":"x","nullable":true}}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := arguments.Compile(json.RawMessage(test.schema))
			if err != nil {
				t.Fatal(err)
			}
			parsed, err := arguments.Parse([]byte(test.value))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(parsed); (err == nil) != test.fits {
				t.Fatalf("got %v", err)
			}
			if !test.fits {
				return
			}
			repaired, _ := s.Repair(parsed)
			if string(repaired.Canonical()) != string(parsed.Canonical()) {
				t.Errorf("repaired to %s", repaired.Canonical())
			}
		})
	}
}
