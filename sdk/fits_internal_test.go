package sdk

import (
	"strings"
	"testing"
)

func TestLightSchemasRefuse(t *testing.T) {
	for name, test := range map[string]struct{ schema, problem string }{
		"no JSON":               {`{`, "it is not JSON"},
		"no type":               {`{"type":"objekt"}`, `"objekt" is no type`},
		"no type deep down":     {`{"type":"object","properties":{"a":{"anyOf":[{"type":["string","nul"]}]}}}`, `"nul" is no type`},
		"no type of items":      {`{"type":"object","additionalProperties":{"items":{"type":"int"}}}`, `"int" is no type`},
		"a keyword's value":     {`{"type":"object","minProperties":"one"}`, "into an int"},
		"no regular expression": {`{"type":"object","properties":{"a":{"pattern":"("}}}`, "missing closing"},
		"nothing there":         {`{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}}}`, "$defs"},
		"another document":      {`{"$ref":"https://example.com/schema.json"}`, "remote"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := lightly([]byte(test.schema)); err == nil || !strings.Contains(err.Error(), test.problem) {
				t.Errorf("got %v, want %q in it", err, test.problem)
			}
		})
	}
}

func TestLightSchemasCheck(t *testing.T) {
	schema, err := lightly([]byte(`{"type":"object","properties":{"n":{"type":"integer","maximum":9}},"required":["n"]}`))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{`{ "n" : 9 }`: "", `{"n":10}`: "maximum", `{"n":"9"}`: "integer", `{"n":9.0}`: "", ``: "required", `{"n":1.5}`: "integer"} {
		canonical, err := schema.Canonical([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		err = schema.Check(canonical)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q in it", text, err, want)
		}
	}
	for _, text := range []string{`[]`, `null`, `{} {}`, `{"a":`} {
		if _, err := schema.Canonical([]byte(text)); err == nil || !strings.Contains(err.Error(), "no JSON object") {
			t.Errorf("%s: got %v", text, err)
		}
	}
	if got, err := schema.Canonical([]byte(`{"b":12345678901234567890,"a":1e2}`)); err != nil || string(got) != `{"a":1e2,"b":12345678901234567890}` {
		t.Errorf("got %s, %v", got, err)
	}
}
