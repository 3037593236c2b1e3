package render

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/tool"
)

// The inputs are those of reports: a Go field `Meta any` gives "meta": true
// (https://github.com/modelcontextprotocol/go-sdk/issues/894), which claude-code#92900 and
// opencode#49464 met.
func TestBooleanSchemas(t *testing.T) {
	for name, tt := range map[string]struct{ schema, want string }{
		"any":               {`{"type":"object","properties":{"meta":true}}`, `{"type":"object","properties":{"meta":{}}}`},
		"nothing":           {`{"type":"object","properties":{"meta":false}}`, `{"type":"object","properties":{"meta":{"not":{}}}}`},
		"below a property":  {`{"type":"object","properties":{"a":{"type":"object","properties":{"b":true}}}}`, `{"type":"object","properties":{"a":{"type":"object","properties":{"b":{}}}}}`},
		"items":             {`{"type":"object","properties":{"a":{"type":"array","items":true}}}`, `{"type":"object","properties":{"a":{"type":"array","items":{}}}}`},
		"items of draft-07": {`{"type":"object","properties":{"a":{"items":[true,{"type":"string"}]}}}`, `{"type":"object","properties":{"a":{"items":[{},{"type":"string"}]}}}`},
		"prefixItems":       {`{"type":"object","properties":{"a":{"prefixItems":[false]}}}`, `{"type":"object","properties":{"a":{"prefixItems":[{"not":{}}]}}}`},
		"anyOf":             {`{"type":"object","properties":{"a":{"anyOf":[{"type":"null"},true]}}}`, `{"type":"object","properties":{"a":{"anyOf":[{"type":"null"},{}]}}}`},
		"a definition":      {`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":true}}`, `{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{}}}`},
		"a pattern":         {`{"type":"object","patternProperties":{"^x":true}}`, `{"type":"object","patternProperties":{"^x":{}}}`},
		"not":               {`{"type":"object","properties":{"a":{"not":true}}}`, `{"type":"object","properties":{"a":{"not":{}}}}`},
		"a map of anything": {`{"type":"object","properties":{"a":{"type":"object","additionalProperties":{"items":true}}}}`, `{"type":"object","properties":{"a":{"type":"object","additionalProperties":{"items":{}}}}}`},
		"a closed object":   {`{"type":"object","properties":{},"additionalProperties":false}`, `{"type":"object","properties":{},"additionalProperties":false}`},
		"an open object":    {`{"type":"object","additionalProperties":true}`, `{"type":"object","additionalProperties":true}`},
		"values that are no schema": {`{"type":"object","properties":{"a":{"const":true,"default":{"items":true},"enum":[true],"examples":[{"properties":{"x":true}}]}}}`,
			`{"type":"object","properties":{"a":{"const":true,"default":{"items":true},"enum":[true],"examples":[{"properties":{"x":true}}]}}}`},
		"a property named items": {`{"type":"object","properties":{"items":{"type":"boolean","default":true},"not":true}}`, `{"type":"object","properties":{"items":{"type":"boolean","default":true},"not":{}}}`},
		"required dependencies":  {`{"type":"object","dependencies":{"a":["b"],"c":true}}`, `{"type":"object","dependencies":{"a":["b"],"c":{}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			spec := tool.Spec{Name: "t", Description: "T.", InputSchema: json.RawMessage(tt.schema), OutputSchema: json.RawMessage(tt.schema)}
			rendered, err := Tools(tool.FormatMCP, []tool.Info{{Spec: spec, Plugin: "p"}})
			if err != nil {
				t.Fatal(err)
			}
			var list struct {
				Tools []struct{ InputSchema, OutputSchema json.RawMessage }
			}
			if err := json.Unmarshal(rendered.Content, &list); err != nil {
				t.Fatal(err)
			}
			if got := list.Tools[0]; string(got.InputSchema) != tt.want || string(got.OutputSchema) != tt.want {
				t.Errorf("input  %s\noutput %s\nwant   %s", got.InputSchema, got.OutputSchema, tt.want)
			}
			for _, format := range []tool.Format{tool.FormatOpenAI, tool.FormatOpenAIResponses, tool.FormatAnthropic} {
				rendered, err := Tools(format, []tool.Info{{Spec: spec, Plugin: "p"}})
				if err != nil || len(rendered.Omitted) > 0 {
					t.Fatal(format, err, rendered.Omitted)
				}
				if strings.Contains(string(rendered.Content), `"meta":true`) || strings.Contains(string(rendered.Content), `"not":true`) {
					t.Errorf("%s has a boolean schema: %s", format, rendered.Content)
				}
			}
		})
	}
}

// A hostile schema that nests as deep as JSON may takes little memory: what is deep stays as it is.
func TestDeepSchemasAreNotReadAgain(t *testing.T) {
	const depth = 4000
	deep := strings.Repeat(`{"items":`, depth) + "true" + strings.Repeat("}", depth)
	schema := json.RawMessage(`{"type":"object","properties":{"flag":true,"a":` + deep + `}}`)
	var plain json.RawMessage
	run := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			plain = withoutBooleans(schema)
		}
	})
	if want := bytes.Replace(schema, []byte(`"flag":true`), []byte(`"flag":{}`), 1); !bytes.Equal(plain, want) {
		t.Errorf("%.200s", plain)
	}
	if most := int64(16 * maxPlainDepth * len(schema)); run.AllocedBytesPerOp() > most {
		t.Errorf("%d bytes are taken for a schema of %d", run.AllocedBytesPerOp(), len(schema))
	}
}
