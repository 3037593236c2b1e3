package render_test

import (
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/text/render"
	"github.com/toolhost/toolhost/tool"
)

// An API that refuses alternatives at the root gets the properties of all of them (sdl-mcp#24,
// godot-mcp#214, auto-mobile#1658). No reference loses its target (zudoku#2172).
func TestAlternativesAtTheRoot(t *testing.T) {
	for name, test := range map[string]struct{ schema, want string }{
		"a discriminator": {
			`{"oneOf":[
				{"type":"object","properties":{"mode":{"type":"string","const":"preview","description":"what to do"},"query":{"type":"string"}},"required":["mode","query"],"additionalProperties":false},
				{"type":"object","properties":{"mode":{"type":"string","const":"apply","description":"what to do"},"plan":{"type":"string"}},"required":["mode","plan"],"additionalProperties":false},
				{"type":"object","properties":{"mode":{"enum":["undo","redo"],"type":"string","description":"or this"},"query":{"type":"string"}},"required":["mode"]}]}`,
			`{"type":"object","properties":{"mode":{"type":"string","enum":["preview","apply","undo","redo"],"description":"what to do"},"query":{"type":"string"},"plan":{"type":"string"}},"required":["mode"]}`,
		},
		"properties beside": {
			`{"type":"object","properties":{"mode":{"type":"string","description":"what"},"n":{"type":"integer"}},"required":["n"],"anyOf":[{"properties":{"mode":{"const":"a"}},"required":["mode"]},{"properties":{"mode":{"const":"b"}},"required":["mode"]}]}`,
			`{"type":"object","properties":{"mode":{"type":"string","description":"what","enum":["a","b"]},"n":{"type":"integer"}},"required":["n","mode"]}`,
		},
		"contradicting types": {
			`{"anyOf":[{"properties":{"id":{"type":"string"}}},{"properties":{"id":{"type":"integer"}}},{"properties":{"id":{"type":"string"}}}]}`,
			`{"type":"object","properties":{"id":{"anyOf":[{"type":"string"},{"type":"integer"}]}}}`,
		},
		"parts": {
			`{"type":"object","allOf":[{"properties":{"a":{"minimum":1}},"required":["a"]},{"properties":{"a":{"maximum":9},"b":true},"required":["b"]},{"properties":{"a":{"minimum":2}}}]}`,
			`{"type":"object","properties":{"a":{"allOf":[{"minimum":1,"maximum":9},{"minimum":2}]},"b":{}},"required":["a","b"]}`,
		},
		"within each other, and behind references": {
			`{"type":"object","oneOf":[{"$ref":"#/$defs/A"},{"allOf":[{"$ref":"#/$defs/B"},{"oneOf":[{"required":["c"]},{"required":["c","d"]}]}]},{"type":"null"},false],"$defs":{"A":{"properties":{"k":{"const":1}},"required":["k","c"]},"B":{"properties":{"k":{"const":2}},"required":["k"]}}}`,
			`{"type":"object","$defs":{"A":{"properties":{"k":{"const":1}},"required":["k","c"]},"B":{"properties":{"k":{"const":2}},"required":["k"]}},"properties":{"k":{"enum":[1,2]}},"required":["k","c"]}`,
		},
		"a reference into an alternative": {
			`{"type":"object","properties":{"target":{"$ref":"#/oneOf/0/properties/place"}},"oneOf":[
				{"properties":{"kind":{"const":"move"},"place":{"type":"object","properties":{"x":{"type":"integer"},"y":{"$ref":"#/oneOf/1/properties/f%72om"}}}},"required":["kind","place"]},
				{"properties":{"kind":{"const":"look"},"from":{"type":"number"}},"required":["kind"]}]}`,
			`{"type":"object","properties":{"target":{"$ref":"#/$defs/place"},"kind":{"enum":["move","look"]},"place":{"type":"object","properties":{"x":{"type":"integer"},"y":{"$ref":"#/$defs/f_72om"}}},"from":{"type":"number"}},"required":["kind"],"$defs":{"place":{"type":"object","properties":{"x":{"type":"integer"},"y":{"$ref":"#/$defs/f_72om"}}},"f_72om":{"type":"number"}}}`,
		},
		"names that are taken": {
			`{"type":"object","properties":{"a":{"$ref":"#/oneOf/0"},"b":{"$ref":"#/oneOf/1/properties/0"}},"$defs":{"0":true},"oneOf":[{"required":["a"]},{"properties":{"0":{"type":"string"}}}]}`,
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/02"},"b":{"$ref":"#/$defs/03"},"0":{"type":"string"}},"$defs":{"0":{},"02":{"required":["a"]},"03":{"type":"string"}}}`,
		},
		"a reference into an expanded definition": {
			`{"$ref":"#/$defs/A","$defs":{"A":{"type":"object","properties":{"x":{"type":"string"},"y":{"$ref":"#/$defs/A/properties/x"}}}}}`,
			`{"type":"object","properties":{"x":{"type":"string"},"y":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"string"}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			info := spec(test.schema)
			for _, format := range []tool.Format{tool.FormatOpenAI, tool.FormatOpenAIResponses, tool.FormatAnthropic} {
				d := only(t, format, info)
				if got := string(d.Parameters) + string(d.InputSchema); got != test.want {
					t.Errorf("%s:\ngot  %s\nwant %s", format, got, test.want)
				}
			}
			d, err := render.ForGemini(&info.Spec)
			if err != nil || string(d.Schema) != test.want {
				t.Errorf("Gemini: %v\ngot  %s\nwant %s", err, d.Schema, test.want)
			}
		})
	}
}

// A tool with a reference that cannot be kept is left out, and costs no other tool.
func TestAReferenceWithoutATarget(t *testing.T) {
	bad := spec(`{"type":"object","properties":{"a":{"$ref":"#place"}},"oneOf":[{"properties":{"b":{"$anchor":"other","type":"string"}}},{"not":{"$anchor":"place"}}]}`)
	good := spec(`{"type":"object","properties":{"a":{"$ref":"#place"}},"$defs":{"b":{"$anchor":"place"}},"oneOf":[{"required":["a"]}]}`)
	good.Spec.Name = "good"
	for _, format := range []tool.Format{tool.FormatOpenAI, tool.FormatOpenAIResponses, tool.FormatAnthropic} {
		r, err := render.Tools(format, []tool.Info{bad, good})
		if err != nil || len(r.Tools) != 1 || r.Tools[0] != "good" || len(r.Omitted) != 1 || !strings.Contains(r.Omitted[0].Reason, `the reference "#place"`) {
			t.Errorf("%s: %+v, %v", format, r, err)
		}
	}
}

// The work of merging is bounded: each definition has two alternatives with the next one.
func TestAlternativesThatDouble(t *testing.T) {
	var schema strings.Builder
	schema.WriteString(`{"type":"object","oneOf":[{"$ref":"#/$defs/d0"}],"$defs":{`)
	for i := range 60 {
		n := string(rune('0'+i/10)) + string(rune('0'+i%10))
		next := string(rune('0'+(i+1)/10)) + string(rune('0'+(i+1)%10))
		if i == 0 {
			n = "0"
		}
		schema.WriteString(`"d` + n + `":{"properties":{"p` + n + `":{"const":` + strings.TrimPrefix(n, "0") + `1}},"anyOf":[{"$ref":"#/$defs/d` + next + `"},{"$ref":"#/$defs/d` + next + `"}]},`)
	}
	schema.WriteString(`"d60":{}}}`)
	for _, format := range formats {
		if r := rendered(t, format, spec(schema.String())); len(r.Content) > 20*schema.Len() {
			t.Errorf("%s has %d bytes", format, len(r.Content))
		}
	}
}
