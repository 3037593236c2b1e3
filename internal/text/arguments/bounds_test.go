//go:build !race

package arguments_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/text/arguments"
)

// TestSchemasAreBounded checks that schemas within the bounds compile in bounded time and memory,
// and that larger ones are refused before they are compiled.
func TestSchemasAreBounded(t *testing.T) {
	number := func(format string) func(i int) string {
		return func(i int) string { return strings.ReplaceAll(format, "N", fmt.Sprint(i)) }
	}
	const depth, parts, values, patterns = "deeper than 100 levels; put what is inside under $defs", "more than 4096 parts", "more than 32768 values", "its patterns are too large"
	for name, tc := range map[string]struct {
		schema       func(n int) string
		good, beyond int
		problem      string
	}{
		"items":      {func(n int) string { return nested(`{"type":"array","items":`, n, "true", "}") }, 100, 101, depth},
		"properties": {func(n int) string { return nested(`{"properties":{"a":`, n, "true", "}}") }, 50, 51, depth},
		"unevaluated": {func(n int) string {
			return nested(`{"allOf":[{"unevaluatedProperties":false},`, n, "true", "]}")
		}, 20, 500, depth},
		"a default":         {func(n int) string { return `{"default":` + nested("[", n, "1", "]") + `}` }, 99, 9000, depth},
		"properties beside": {func(n int) string { return `{"properties":{` + each(n, number(`"pN":{"type":"string"}`)) + `}}` }, 2000, 5000, parts},
		"constants":         {func(n int) string { return `{"oneOf":[` + each(n, number(`true`)) + `]}` }, 2000, 5000, parts},
		"references": {func(n int) string {
			return `{"oneOf":[` + each(n, number(`{"$ref":"#/$defs/dN"}`)) + `],"$defs":{` + each(n, number(`"dN":{"type":"string"}`)) + `}}`
		}, 1000, 3000, parts},
		"ids":     {func(n int) string { return `{"$defs":{` + each(n, number(`"dN":{"$id":"http://a/N"}`)) + `}}` }, 1000, 5000, parts},
		"dynamic": {func(n int) string { return `{"$defs":{` + each(n, number(`"dN":{"$dynamicAnchor":"xN"}`)) + `}}` }, 500, 5000, parts},
		"long names": {func(n int) string {
			return nested(`{"properties":{"`+strings.Repeat("k", 1000)+`":`, 40, `{"properties":{`+each(n, number(`"pN":{}`))+`}}`, "}}")
		}, 20, 2000, "or parts of very long names"},
		"an enum":  {func(n int) string { return `{"enum":[` + each(n, number(`"eN"`)) + `]}` }, 10_000, 1 << 17, values},
		"required": {func(n int) string { return `{"required":[` + each(n, number(`"eN"`)) + `]}` }, 10_000, 1 << 17, values},
		"patterns": {func(n int) string {
			return `{"patternProperties":{` + each(n, number(`"(a{1,30}){1,30}N":true`)) + `}}`
		}, 10, 200, patterns},
		"a long pattern": {func(n int) string { return `{"properties":{"a":{"pattern":"` + strings.Repeat("abcdefgh", n) + `"}}}` }, 1000, 1 << 15, patterns},
		"a long class": {func(n int) string {
			return `{"properties":{"a":{"pattern":"[` + strings.Repeat("abcdefgh", n) + `]"}}}`
		}, 1000, 1 << 15, patterns},
		"a large class": {func(n int) string {
			return `{"properties":{"a":{"pattern":"^[` + strings.Repeat(`\\p{L}`, n) + `]+$"}}}`
		}, 10, 1 << 17, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := arguments.Compile(json.RawMessage(tc.schema(tc.good))); err != nil {
				t.Errorf("%d are refused: %v", tc.good, err)
			}
			if tc.problem == "" {
				return
			}
			_, err := arguments.Compile(json.RawMessage(tc.schema(tc.beyond)))
			check(t, err, tc.problem)
			if err != nil && len(err.Error()) > 300 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

// TestMatchingTakesBoundedSteps checks that reading, repair, validation and explanation together
// match patterns for no more than some seconds, wherever the patterns and texts are, and whatever
// the repair changes.
func TestMatchingTakesBoundedSteps(t *testing.T) {
	const heavy = `(a{1,30}){1,30}b`
	long, longest := strings.Repeat("a", 1<<20), strings.Repeat("a", 1<<16)
	names := func(n int) string {
		return each(n, func(i int) string { return fmt.Sprintf(`"%s%d":"1"`, longest[:1000], i) })
	}
	for name, tc := range map[string]struct{ schema, arguments string }{
		"a text":                      {`{"properties":{"t":{"pattern":"` + heavy + `"}}}`, `{"t":"` + long + `"}`},
		"a name":                      {`{"patternProperties":{"` + heavy + `":{"type":"integer"}}}`, `{"` + longest + `":"1"}`},
		"many names":                  {`{"patternProperties":{"` + heavy + `":{"type":"integer"}}}`, `{` + names(2000) + `}`},
		"names beside a default":      {`{"properties":{"d":{"default":1}},"patternProperties":{"` + heavy + `":{"type":"integer"}}}`, `{` + names(2000) + `}`},
		"names behind references":     {`{"$defs":{"d":{"patternProperties":{"` + heavy + `":{"type":"integer"}}}},"allOf":[{"$ref":"#/$defs/d"},{"$ref":"#/$defs/d"}]}`, `{` + names(500) + `}`},
		"names in alternatives":       {`{"anyOf":[{"patternProperties":{"` + heavy + `":{"type":"integer"}}},{"patternProperties":{"` + heavy + `":{"type":"boolean"}}}]}`, `{` + names(500) + `}`},
		"names that must be patterns": {`{"propertyNames":{"pattern":"` + heavy + `"}}`, `{` + names(2000) + `}`},
		"names of items":              {`{"properties":{"l":{"items":{"patternProperties":{"` + heavy + `":{"type":"integer"}}}}}}`, `{"l":[` + each(2000, func(int) string { return `{"` + longest[:1000] + `":"1"}` }) + `]}`},
	} {
		t.Run(name, func(t *testing.T) {
			var steps arguments.Steps
			schema, err := arguments.CompileCounting(json.RawMessage(tc.schema), &steps)
			if err != nil {
				t.Fatal(err)
			}
			p := parsed(t, tc.arguments)
			repaired, _ := schema.Repair(p)
			check(t, schema.Validate(repaired), "would take too long")
			if most := arguments.Steps(1 << 27); steps > most {
				t.Errorf("%d steps were taken, want %d at most", steps, most)
			}
		})
	}
}

// TestMatchingIsBounded checks that matching a text is charged its length times the size of the
// pattern.
func TestMatchingIsBounded(t *testing.T) {
	const heavy, light = `(a{1,30}){1,30}b`, `^[\\p{L} ]+$`
	const optional = `(a?){900}(b?){900}(c?){900}`
	for name, tc := range map[string]struct {
		schema, arguments string
		problem           string
	}{
		"a heavy pattern and a little text":  {`{"properties":{"t":{"pattern":"` + heavy + `"}}}`, `{"t":"` + strings.Repeat("a", 100) + `b"}`, ""},
		"a heavy pattern and a lot of text":  {`{"properties":{"t":{"pattern":"` + heavy + `"}}}`, `{"t":"` + strings.Repeat("a", 1<<20) + `b"}`, "would take too long"},
		"heavy patterns and a long name":     {`{"patternProperties":{"` + heavy + `":true}}`, `{"` + strings.Repeat("a", 1<<16) + `":1}`, "would take too long"},
		"an ordinary pattern and much text":  {`{"properties":{"t":{"pattern":"` + light + `"}}}`, `{"t":"` + strings.Repeat("ä", 1<<20) + `"}`, ""},
		"heavy patterns and empty texts":     {`{"properties":{"l":{"items":{"pattern":"` + optional + `"}}}}`, `{"l":[` + each(1<<14, func(int) string { return `""` }) + `]}`, "would take too long"},
		"heavy patterns and empty names":     {`{"properties":{"l":{"items":{"patternProperties":{"` + optional + `":true}}}}}`, `{"l":[` + each(1<<14, func(int) string { return `{"":1}` }) + `]}`, "would take too long"},
		"a regular expression":               {`{"properties":{"t":{"format":"regex"}}}`, `{"t":"^[a-z]{1,1000}$"}`, ""},
		"a long regular expression":          {`{"properties":{"t":{"format":"regex"}}}`, `{"t":"` + strings.Repeat("x{1000}", 1<<10) + `"}`, "would take too long"},
		"many regular expressions":           {`{"properties":{"l":{"items":{"format":"regex"}}}}`, `{"l":[` + each(1<<10, func(int) string { return `"` + strings.Repeat("x{1000}", 10) + `"` }) + `]}`, "would take too long"},
		"many in a schema":                   {`{"properties":{"l":{"items":{"$ref":"https://json-schema.org/draft/2020-12/schema"}}}}`, `{"l":[` + each(1<<10, func(int) string { return `{"pattern":"` + strings.Repeat("x{1000}", 10) + `"}` }) + `]}`, "would take too long"},
		"ordinary patterns of several names": {`{"patternProperties":{"^x-":true,"^y-":{"type":"string"}}}`, `{"x-a":1,"y-b":"c"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			schema, err := arguments.Compile(json.RawMessage(tc.schema))
			if err != nil {
				t.Fatal(err)
			}
			parsed, err := arguments.Parse(json.RawMessage(tc.arguments))
			if err != nil {
				t.Fatal(err)
			}
			check(t, schema.Validate(parsed), tc.problem)
		})
	}
}
