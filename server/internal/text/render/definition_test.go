package render_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolhost/toolhost/server/internal/text/render"
	"github.com/toolhost/toolhost/tool"
)

// TestOpenAIDescriptions checks that descriptions keep OpenAI's bound. The conditions on arguments
// stay; examples go first.
func TestOpenAIDescriptions(t *testing.T) {
	const choice = `{"oneOf":[{"required":["a"]}]}`
	example := tool.InputExample{Description: "small", Arguments: json.RawMessage(`{"a":1}`)}
	large := tool.InputExample{Arguments: json.RawMessage(`{"a":"` + strings.Repeat("x", 1000) + `"}`)}
	tests := []struct {
		name     string
		text     string
		schema   string
		examples []tool.InputExample
		want     []string // the description contains these
		gone     string   // the description does not contain this
	}{
		{"short", "Does it.", choice, []tool.InputExample{example}, []string{"Does it.\n\nThe arguments", choice, "\n\nExamples of arguments:\n- small: {\"a\":1}"}, "…"},
		{"a large example", "Does it.", choice, []tool.InputExample{large, example}, []string{choice, "\n\nExamples of arguments:\n- small"}, "xxx"},
		{"a long text", strings.Repeat("ü", 2000), choice, []tool.InputExample{example}, []string{"ü…\n\nThe arguments must", choice}, "Examples"},
		{"a large condition", "Does it.", `{"enum":["` + strings.Repeat("z", 2000) + `"]}`, nil, []string{"Does it."}, "must also fit"},
		{"just", strings.Repeat("ü", render.OpenAIDescription), `{}`, nil, nil, "…"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			spec := &tool.Spec{Name: "t", Description: test.text, InputSchema: json.RawMessage(test.schema), InputExamples: test.examples}
			d, err := render.ForOpenAI(spec, render.OpenAIDescription)
			if n := utf8.RuneCountInString(d.Description); err != nil || n > render.OpenAIDescription {
				t.Errorf("%v with %d characters", err, n)
			}
			for _, want := range test.want {
				if !strings.Contains(d.Description, want) {
					t.Errorf("want %q in %q", want, d.Description)
				}
			}
			if strings.Contains(d.Description, test.gone) {
				t.Errorf("%q is in %q", test.gone, d.Description)
			}
			for _, format := range []tool.Format{tool.FormatOpenAI, tool.FormatOpenAIResponses} {
				if got := only(t, format, tool.Info{Spec: *spec}); got.Description != d.Description {
					t.Errorf("%s says %q", format, got.Description)
				}
			}
			whole, _ := render.ForOpenAI(spec, 0)
			for _, e := range test.examples {
				if !strings.Contains(whole.Description, test.text) || !strings.Contains(whole.Description, string(e.Arguments)) {
					t.Errorf("without a bound it says %q", whole.Description)
				}
			}
		})
	}
}

func TestUnfitToolsAreLeftOut(t *testing.T) {
	for _, spec := range []tool.Spec{{Name: "a b"}, {Name: ""}, {Name: "t", InputSchema: json.RawMessage(`{"a":`)}, {Name: "t", InputSchema: json.RawMessage(`{}}`)}} {
		if _, err := render.ForOpenAI(&spec, 0); err == nil {
			t.Errorf("OpenAI takes %q with %s", spec.Name, spec.InputSchema)
		}
		if _, err := render.ForAnthropic(&spec); err == nil {
			t.Errorf("Anthropic takes %q with %s", spec.Name, spec.InputSchema)
		}
	}
}
