package host_test

import (
	"context"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/host"
	"github.com/toolhost/toolhost/internal/host/hosttest"
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
