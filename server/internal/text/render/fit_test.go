package render_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/tool"
)

// definition has the fields that all formats share.
type definition struct {
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	InputSchema json.RawMessage `json:"input_schema"`
	MCPSchema   json.RawMessage `json:"inputSchema"`
}

func only(t *testing.T, format tool.Format, info tool.Info) definition {
	t.Helper()
	content := rendered(t, format, info).Content
	if format == tool.FormatMCP {
		var result struct{ Tools []definition }
		decode(t, content, &result)
		return result.Tools[0]
	}
	var definitions []struct {
		definition
		Function definition
	}
	decode(t, content, &definitions)
	if format == tool.FormatOpenAI {
		return definitions[0].Function
	}
	return definitions[0].definition
}

func decode(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
}

// TestSchemasFit checks that a schema changes in the expected way if an API would refuse its root,
// and that other schemas do not change.
func TestSchemasFit(t *testing.T) {
	const deep = `{"type":"object","properties":{"b":{"oneOf":[{"const":1.0},{"const":1e2}]},"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"not":{}}},"x-own":"<&>"}`
	tests := []struct{ name, schema, openai, anthropic, mcp string }{
		{"as it is", deep, deep, deep, deep},
		{"empty", "", `{"type":"object","properties":{},"additionalProperties":false}`, `{"type":"object","properties":{},"additionalProperties":false}`, `{"type":"object","properties":{},"additionalProperties":false}`},
		{"no properties", `{"type":"object"}`, `{"type":"object","properties":{}}`, `{"type":"object"}`, `{"type":"object"}`},
		{"no type", `{"properties":{"z":true}}`, `{"type":"object","properties":{"z":{}}}`, `{"type":"object","properties":{"z":{}}}`, `{"type":"object","properties":{"z":{}}}`},
		{"several types", `{"title":"T","type":["object","null"]}`, `{"type":"object","properties":{},"title":"T"}`, `{"type":"object","title":"T"}`, `{"type":"object","title":"T"}`},
		{"true", `true`, `{"type":"object","properties":{}}`, `{"type":"object"}`, `{"type":"object"}`},
		{
			"a reference", `{"$schema":"s","$ref":"#/definitions/A","definitions":{"A":{"type":"object","properties":{"b":true}}}}`,
			`{"$schema":"s","type":"object","properties":{"b":{}}}`, `{"$schema":"s","type":"object","properties":{"b":{}}}`,
			`{"type":"object","$schema":"s","$ref":"#/definitions/A","definitions":{"A":{"type":"object","properties":{"b":{}}}}}`,
		},
		{
			"a reference in circles", `{"$ref":"#/$defs/A","$defs":{"A":{"$ref":"#/$defs/A"}}}`,
			`{"type":"object","properties":{},"$ref":"#/$defs/A","$defs":{"A":{"$ref":"#/$defs/A"}}}`,
			`{"type":"object","$ref":"#/$defs/A","$defs":{"A":{"$ref":"#/$defs/A"}}}`,
			`{"type":"object","$ref":"#/$defs/A","$defs":{"A":{"$ref":"#/$defs/A"}}}`,
		},
		{
			"a reference that says other than what is beside it", `{"type":"object","required":["a"],"$ref":"#/$defs/A","$defs":{"A":{"required":["b"]}}}`,
			`{"type":"object","properties":{},"required":["a"],"$ref":"#/$defs/A","$defs":{"A":{"required":["b"]}}}`,
			`{"type":"object","required":["a"],"$ref":"#/$defs/A","$defs":{"A":{"required":["b"]}}}`,
			`{"type":"object","required":["a"],"$ref":"#/$defs/A","$defs":{"A":{"required":["b"]}}}`,
		},
		{
			"a definition that is used again", `{"$ref":"#/$defs/A","$defs":{"A":{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}}}}}`,
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}}}}}`,
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}}}}}`,
			`{"type":"object","$ref":"#/$defs/A","$defs":{"A":{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}}}}}`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			info := spec(test.schema)
			for _, got := range []struct{ format, schema, want string }{
				{"openai", string(only(t, tool.FormatOpenAI, info).Parameters), test.openai},
				{"openai-responses", string(only(t, tool.FormatOpenAIResponses, info).Parameters), test.openai},
				{"anthropic", string(only(t, tool.FormatAnthropic, info).InputSchema), test.anthropic},
				{"mcp", string(only(t, tool.FormatMCP, info).MCPSchema), test.mcp},
			} {
				if got.schema != got.want {
					t.Errorf("%s:\ngot  %s\nwant %s", got.format, got.schema, got.want)
				}
			}
		})
	}
}

// TestRefusedToolsAreReported checks that the description contains the keywords that were removed
// from the root of a schema.
func TestRefusedToolsAreReported(t *testing.T) {
	const rest = `{"type":"object","properties":{"a":true}}`
	tests := []struct {
		format tool.Format
		lost   []string
		stays  []string
	}{
		{tool.FormatOpenAI, []string{"oneOf", "anyOf", "allOf", "enum", "not"}, nil},
		{tool.FormatOpenAIResponses, []string{"oneOf", "anyOf", "allOf", "enum", "not"}, nil},
		{tool.FormatAnthropic, []string{"oneOf", "anyOf", "allOf"}, []string{"enum", "not"}},
		{tool.FormatMCP, nil, []string{"oneOf", "anyOf", "allOf", "enum", "not"}},
	}
	for _, test := range tests {
		for _, keyword := range append(test.lost, test.stays...) {
			value := fmt.Sprintf(`%q:[{"required":["a"]}]`, keyword)
			d := only(t, test.format, spec(strings.Replace(rest, "}}", "},"+value+"}", 1)))
			schema := string(d.Parameters) + string(d.InputSchema) + string(d.MCPSchema)
			told := strings.Contains(d.Description, "{"+value+"}")
			if stays := strings.Contains(schema, value); stays == told || stays != (len(test.lost) == 0 || !strings.Contains(strings.Join(test.lost, " "), keyword)) {
				t.Errorf("%s, %s: the schema is %s, the description %q", test.format, keyword, schema, d.Description)
			}
		}
	}
}

// TestForeignSchemas renders hostile schemas. Each must take little time.
func TestForeignSchemas(t *testing.T) {
	many := strings.Repeat(`{"properties":{"p":`, 9000) + "true" + strings.Repeat("}}", 9000)
	arrays := strings.Repeat(`{"type":"array","items":`, 9000) + "true" + strings.Repeat("}", 9000)
	// Each definition has 30 properties of the next one. Written out, they would be 30 to the power
	// of 30.
	var fan strings.Builder
	fan.WriteString(`{"type":"object","properties":{"p":{"$ref":"#/$defs/d0"}},"$defs":{`)
	for i := range 30 {
		var properties []string
		for j := range 30 {
			properties = append(properties, fmt.Sprintf(`"p%d":{"$ref":"#/$defs/d%d"}`, j, i+1))
		}
		fmt.Fprintf(&fan, `"d%d":{"type":"object","properties":{%s}},`, i, strings.Join(properties, ","))
	}
	fan.WriteString(`"d30":{"type":"string"}}}`)
	for name, schema := range map[string]string{
		"deep": many, "arrays": `{"type":"object","properties":{"a":` + arrays + `}}`, "fan": fan.String(),
		"no JSON": `{"type":`, "a number": `7`, "odd keywords": `{"type":7,"properties":[],"required":"a","items":1,"enum":{},"$ref":[],"oneOf":{}}`,
		"two of a name": `{"type":"object","type":"string","properties":{"a":{}},"properties":{"b":{}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			for _, format := range formats {
				r := rendered(t, format, spec(schema))
				if most := 20*len(schema) + 1000; len(r.Content) > most {
					t.Errorf("%s has %d bytes", format, len(r.Content))
				}
			}
		})
	}
}

func TestMarkdownOfBackticks(t *testing.T) {
	info := spec(`{"type":"object","properties":{"a":{"type":"string","default":"` + "`x``y`" + `"}}}`)
	got := string(rendered(t, tool.FormatMarkdown, info).Content)
	if diff := cmp.Diff("- `a` (string, default ``` \"`x``y`\" ```)", strings.Split(got, "\n")[6]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
