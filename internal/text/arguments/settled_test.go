package arguments_test

import (
	"testing"

	"github.com/toolhost/toolhost/internal/text/arguments"
)

// TestPlainArgumentsCostNothing checks that Settled recognizes usual arguments without an
// allocation.
func TestPlainArgumentsCostNothing(t *testing.T) {
	const schema = `{"type":"object","additionalProperties":false,"required":["city"],"$defs":{"unit":{"enum":["metric","imperial"]}},
		"properties":{"city":{"type":"string","minLength":1,"maxLength":20},"days":{"type":"integer","minimum":1,"maximum":14},
		"scale":{"type":"number","exclusiveMinimum":0},"unit":{"$ref":"#/$defs/unit"},"wet":{"type":"boolean"},
		"tags":{"type":"array","maxItems":3,"items":{"type":"string"}},"note":{"anyOf":[{"type":"string"},{"type":"null"}]},
		"more":{"type":"object","additionalProperties":{"type":"integer"}}}}`
	s := compile(t, schema)
	for _, text := range []string{
		`{"city":"Oslo"}`, `{"city":"Åsane","days":1}`, `{"city":"Oslo","days":14,"scale":1.5,"unit":"metric","wet":true}`,
		`{"city":"Oslo","tags":["a","b"],"note":null,"more":{"a":1,"b":2}}`,
	} {
		p := parsed(t, text)
		if n := testing.AllocsPerRun(100, func() {
			if _, repairs := s.Repair(p); repairs != nil || s.Validate(p) != nil {
				t.Fatalf("%s does not fit", text)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", text, n)
		}
	}
}

// TestQuickIsNeverWrong compares Settled with the full validation for values around every bound.
func TestQuickIsNeverWrong(t *testing.T) {
	values := []string{`1`, `0`, `-0`, `-1`, `14`, `15`, `1.0`, `1e0`, `14.0000000000000001`, `999999999999999`, `9007199254740993`,
		`""`, `"a"`, `"metric"`, `"15"`, `"1"`, `null`, `true`, `[]`, `["a"]`, `["a",1]`, `[null]`, `{}`, `{"a":1}`, `{"a":"b"}`, `1e400`, `0.1`}
	for _, sub := range []string{`{}`, `true`, `false`, `{"type":"integer","minimum":0,"maximum":14}`, `{"type":"integer","minimum":0.5}`,
		`{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":14}`, `{"type":"number","minimum":0,"exclusiveMinimum":0}`,
		`{"type":"number","maximum":0.1}`, `{"type":"integer","maximum":9007199254740992}`, `{"enum":["metric",1,null]}`, `{"enum":[1]}`,
		`{"type":"string","enum":["metric"],"maxLength":3}`, `{"type":["string","null"],"minLength":1}`, `{"const":1}`, `{"pattern":"^a"}`,
		`{"type":"array","items":{"type":"string"},"minItems":1}`, `{"items":false}`, `{"uniqueItems":true}`, `{"not":{}}`, `{"type":"object","required":["a"]}`,
		`{"properties":{"a":{"default":7}}}`, `{"additionalProperties":{"type":"integer"}}`, `{"anyOf":[{"type":"integer"},{"minLength":2}]}`,
		`{"oneOf":[{"type":"integer"},{"minimum":3}]}`, `{"allOf":[{"type":"integer"},{"minimum":3}]}`, `{"$ref":"#"}`, `{"if":{"const":1},"then":false}`} {
		s := compile(t, `{"type":"object","properties":{"v":`+sub+`}}`)
		for _, value := range values {
			if p, err := arguments.Parse([]byte(`{"v":` + value + `}`)); err == nil {
				checkLaws(t, s, p)
			}
		}
	}
}
