package render_test

import (
	"encoding/json"
	"regexp"
	"testing"

	anthropic "github.com/anthropics/anthropic-sdk-go"
	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"

	"github.com/toolhost/toolhost/tool"
)

// equal compares JSON texts by value.
func equal(t *testing.T, want, got []byte) {
	t.Helper()
	var a, b any
	decode(t, want, &a)
	decode(t, got, &b)
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// survives decodes the rendered tools into the type of an SDK, and encodes them again.
func survives[T any](t *testing.T, format tool.Format) []T {
	t.Helper()
	content := rendered(t, format, catalogue(t)...).Content
	var params []T
	decode(t, content, &params)
	back, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, content, back)
	return params
}

func TestOpenAITakesIt(t *testing.T) {
	for _, p := range survives[openai.ChatCompletionFunctionToolParam](t, tool.FormatOpenAI) {
		if p.Function.Name == "" || p.Function.Description.Value == "" || p.Function.Parameters["type"] != "object" || p.Function.Parameters["properties"] == nil {
			t.Errorf("got %+v", p.Function)
		}
	}
}

func TestOpenAIResponsesTakeIt(t *testing.T) {
	for _, p := range survives[responses.FunctionToolParam](t, tool.FormatOpenAIResponses) {
		if p.Name == "" || p.Description.Value == "" || p.Parameters["type"] != "object" || p.Parameters["properties"] == nil {
			t.Errorf("got %+v", p)
		}
		if !p.Strict.Valid() || p.Strict.Value {
			t.Errorf("%s must say that it is not strict", p.Name)
		}
	}
}

func TestAnthropicTakesIt(t *testing.T) {
	examples := 0
	for _, p := range survives[anthropic.ToolParam](t, tool.FormatAnthropic) {
		if p.Name == "" || p.Description.Value == "" || p.InputSchema.Type != "object" {
			t.Errorf("got %+v", p)
		}
		examples += len(p.InputExamples)
	}
	if examples != 3 {
		t.Errorf("%d examples, want the two of book_meeting that fit, and that of find_place", examples)
	}
}

func TestGeminiTakesIt(t *testing.T) {
	tools := survives[genai.Tool](t, tool.FormatGemini)
	if len(tools) != 1 {
		t.Fatalf("%d tools, want one with all functions", len(tools))
	}
	for _, f := range tools[0].FunctionDeclarations {
		schema, _ := f.ParametersJsonSchema.(map[string]any)
		if f.Name == "" || f.Description == "" || schema["type"] != "object" || schema["properties"] == nil {
			t.Errorf("got %+v", f)
		}
	}
}

// mcpTools is the tools/list result of the Model Context Protocol, revisions 2025-06-18 and
// 2025-11-25.
type mcpTools struct {
	Tools []struct {
		Name         *string        `json:"name"`
		Title        string         `json:"title"`
		Description  string         `json:"description"`
		InputSchema  map[string]any `json:"inputSchema"`
		OutputSchema map[string]any `json:"outputSchema"`
		Annotations  map[string]any `json:"annotations"`
		Meta         map[string]any `json:"_meta"`
	} `json:"tools"`
}

var mcpMetaKey = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?/[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)

func TestMCPTakesIt(t *testing.T) {
	content := rendered(t, tool.FormatMCP, catalogue(t)...).Content
	var result mcpTools
	decode(t, content, &result)
	for i, got := range result.Tools {
		want := catalogue(t)[i]
		if got.Name == nil || *got.Name != want.Spec.Name || got.Title != want.Spec.DisplayName || got.InputSchema["type"] != "object" {
			t.Errorf("got %+v", got)
		}
		if got.OutputSchema != nil && got.OutputSchema["type"] != "object" {
			t.Errorf("%s promises what the protocol has no place for: %v", want.Spec.Name, got.OutputSchema)
		}
		hints := map[string]any{
			"readOnlyHint": want.Spec.ReadOnly, "destructiveHint": want.Spec.Dangerous, "idempotentHint": want.Spec.Idempotent,
		}
		if diff := cmp.Diff(hints, got.Annotations); diff != "" {
			t.Errorf("%s (-want +got):\n%s", want.Spec.Name, diff)
		}
		for key := range got.Meta {
			if !mcpMetaKey.MatchString(key) {
				t.Errorf("%q is no key of the protocol", key)
			}
		}
	}
}
