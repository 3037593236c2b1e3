package host_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/server/internal/toolhost/manifest"
	"github.com/toolhost/toolhost/tool"
)

// If a result does not fit the tool's output schema, the call fails because of the tool, or the
// caller gets the result with a note.
func TestOutputSchema(t *testing.T) {
	const promise = `{"type":"object","required":["answer"],"properties":{"answer":{"type":"integer"}}}`
	for name, tc := range map[string]struct {
		schema string
		result tool.Result
		wrong  string // a part of the failure; empty: the result fits
	}{
		"as promised":         {promise, tool.Result{Content: []tool.Content{tool.Text("it is"), tool.JSON([]byte(`{"answer":42}`))}}, ""},
		"another name":        {promise, tool.Result{Content: []tool.Content{tool.JSON([]byte(`{"wrong":1}`))}}, `"answer"`},
		"another type":        {promise, tool.Result{Content: []tool.Content{tool.JSON([]byte(`{"answer":"42"}`))}}, "integer"},
		"text alone":          {promise, tool.TextResult(`{"answer":42}`), "object"},
		"nothing":             {promise, tool.Result{}, ""},
		"nothing is promised": {``, tool.Result{Content: []tool.Content{tool.JSON([]byte(`{"wrong":1}`))}}, ""},
		"a list":              {`{"type":"array","items":{"type":"string"}}`, tool.Result{Content: []tool.Content{tool.JSON([]byte(`["a"]`))}}, ""},
		"a list of others":    {`{"type":"array","items":{"type":"string"}}`, tool.Result{Content: []tool.Content{tool.JSON([]byte(`["a",1]`))}}, "string"},
		"or nothing":          {`{"anyOf":[{"type":"null"},{"type":"object"}]}`, tool.TextResult("nothing"), ""},
		"a tool error":        {promise, tool.ErrorResult("no such thing"), ""},
		"not usable":          {promise, tool.Result{Content: []tool.Content{tool.JSON([]byte(`{"answer":1,"answer":2}`))}}, "JSON"},
	} {
		for _, keep := range []bool{false, true} {
			spec := tool.Spec{Name: "ask", Description: "Answers.", OutputSchema: []byte(tc.schema), CostPerUse: 1, EffectKeys: []string{"k"}}
			tc.result.Effects = []tool.Effect{{Key: "k", Value: []byte(`1`)}}
			if tc.result.IsError {
				tc.result.Effects = nil
			}
			r := newRig(t, []hosttest.Tool{{Spec: spec, Run: func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) { return tc.result, nil }}},
				func(c *host.Config) { c.KeepBadOutput = keep })
			got := outcome(t, r, call("ask", "{}"))
			refused := tc.wrong != "" && !keep
			if (got.Err != nil) != refused || got.Err != nil && (got.Err.Kind != tool.KindInternal || !strings.Contains(got.Err.Message, tc.wrong) ||
				!strings.Contains(got.Err.Message, "side effects have happened") || got.Err.Cost != 1 || len(got.Result.Effects) > 0) {
				t.Errorf("%s, kept %v: %+v, %v", name, keep, got, got.Err)
			}
			if noted := string(got.Result.Metadata["toolhost.output_schema"]); keep && (noted != "") != (tc.wrong != "") || !strings.Contains(noted, tc.wrong) && keep && tc.wrong != `"answer"` {
				t.Errorf("%s: the result says %s", name, noted)
			}
		}
	}
}

// A format of a text warns and loses no result, whatever else is configured: libraries derive
// formats that their own encoders do not keep (AgentDojo).
func TestFormatsInAnOutputSchemaWarn(t *testing.T) {
	for _, tc := range []struct{ schema, value string }{
		{`{"type":"object","properties":{"at":{"type":"string","format":"date-time"}}}`, `{"at":"2024-05-19T12:00:00"}`},
		{`{"type":"object","properties":{"on":{"type":"string","format":"date"}}}`, `{"on":"19.05.2024"}`},
		{`{"type":"object","properties":{"id":{"type":"string","format":"uuid"}}}`, `{"id":"7"}`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"mail":{"type":"string","format":"email"}}}`, `{"mail":"ann"}`},
		{`{"type":"object","properties":{"event":{"$ref":"#/$defs/e"}},"$defs":{"e":{"type":"object","properties":{"start":{"type":"string","format":"date-time"}}}}}`, `{"event":{"start":"today"}}`},
		{`{"type":"array","items":{"type":"string","format":"uri"}}`, `["no uri"]`},
	} {
		spec := tool.Spec{Name: "ask", Description: "Answers.", OutputSchema: []byte(tc.schema)}
		r := newRig(t, []hosttest.Tool{{Spec: spec, Run: func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) {
			return tool.Result{Content: []tool.Content{tool.JSON([]byte(tc.value))}}, nil
		}}}, nil)
		got := outcome(t, r, call("ask", "{}"))
		if got.Err != nil || string(got.Result.Content[0].JSON) != tc.value || got.Result.Metadata["toolhost.output_schema"] == nil {
			t.Errorf("%s: %+v, %v", tc.schema, got.Result, got.Err)
		}
	}
	// Another fault beside a format still refuses the result.
	spec := tool.Spec{Name: "ask", Description: "Answers.", OutputSchema: []byte(`{"type":"object","properties":{"at":{"type":"string","format":"date-time"},"n":{"type":"integer"}}}`)}
	r := newRig(t, []hosttest.Tool{{Spec: spec, Run: func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) {
		return tool.Result{Content: []tool.Content{tool.JSON([]byte(`{"at":"noon","n":"one"}`))}}, nil
	}}}, nil)
	if got := outcome(t, r, call("ask", "{}")); got.Err == nil || !strings.Contains(got.Err.Message, "broke its contract") || !strings.HasSuffix(got.Err.Message, `{"at":"noon","n":"one"}`) {
		t.Errorf("another fault: %+v", got)
	}
}

// The error in place of a misfit shows what the tool returned, unless filters see the result: they
// may have to hide it.
func TestAMisfitIsNotLost(t *testing.T) {
	spec := tool.Spec{Name: "ask", Description: "Answers.", OutputSchema: []byte(`{"type":"object"}`)}
	tools := []hosttest.Tool{{Spec: spec, Run: func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) {
		return tool.Result{Content: []tool.Content{tool.JSON([]byte(`["card 4111"]`))}}, nil
	}}}
	for _, filters := range [][]host.Filter{nil, {{Name: "after_hide"}}} {
		r, _ := newFilterRig(t, tools, map[string]filterFunc{"after_hide": marks("after_hide")}, nil, filters...)
		got := outcome(t, r, call("ask", "{}"))
		if got.Err == nil || strings.Contains(got.Err.Message, "card 4111") == (len(filters) > 0) {
			t.Errorf("%d filters: %+v", len(filters), got.Err)
		}
	}
}

// TestBadOutputOfAnMCPServerWarns checks that a result of an MCP server arrives although it does
// not fit the output schema (mcp-context-forge#4042). The same result of another plugin is refused.
func TestBadOutputOfAnMCPServerWarns(t *testing.T) {
	object := tool.Spec{Name: "ask", Description: "Answers.", OutputSchema: []byte(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`)}
	for name, content := range map[string][]tool.Content{
		"text alone":         {tool.Text("the answer is 7")},
		"several texts":      {tool.Text("the answer"), tool.Text("is 7")},
		"JSON as text":       {tool.Text(`{"n":7}`)},
		"wrong type":         {tool.JSON([]byte(`{"n":"7"}`))},
		"other keys":         {tool.JSON([]byte(`{"result":7}`))},
		"one key more":       {tool.JSON([]byte(`{"n":7,"unit":"kg"}`))},
		"an empty object":    {tool.JSON([]byte(`{}`)), tool.Text("7")},
		"a list":             {tool.JSON([]byte(`[7]`))},
		"null":               {tool.JSON([]byte(`null`)), tool.Text("7")},
		"a text as JSON":     {tool.JSON([]byte(`"7"`))},
		"a file and no JSON": {tool.File("a.bin", "application/octet-stream", []byte("7"))},
	} {
		t.Run(name, func(t *testing.T) {
			for _, server := range []bool{true, false} {
				r := newRig(t, []hosttest.Tool{{Spec: object, Run: func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) {
					return tool.Result{Content: content}, nil
				}}}, func(cfg *host.Config) {
					if server {
						cfg.Catalog.Snapshot().Tool("ask").Plugin.Manifest = &manifest.Manifest{MCP: &manifest.MCP{}}
					}
				})
				got := outcome(t, r, call("ask", "{}"))
				if !server {
					if got.Err == nil || !strings.Contains(got.Err.Message, "broke its contract") {
						t.Errorf("of another plugin: %+v", got)
					}
					continue
				}
				if got.Err != nil || got.Result.Metadata["toolhost.output_schema"] == nil {
					t.Fatalf("%+v, %v", got.Result, got.Err)
				}
				if diff := cmp.Diff(content, got.Result.Content); diff != "" {
					t.Errorf("the content (-want +got):\n%s", diff)
				}
			}
		})
	}
	r := newRig(t, []hosttest.Tool{{Spec: object, Run: func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) {
		return tool.Result{Content: []tool.Content{tool.JSON([]byte(`{"n":7}`))}}, nil
	}}}, func(cfg *host.Config) {
		cfg.Catalog.Snapshot().Tool("ask").Plugin.Manifest = &manifest.Manifest{MCP: &manifest.MCP{}}
	})
	if got := outcome(t, r, call("ask", "{}")); got.Err != nil || got.Result.Metadata["toolhost.output_schema"] != nil {
		t.Errorf("a result that fits: %+v, %v", got.Result, got.Err)
	}
}
