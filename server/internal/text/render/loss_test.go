package render_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/text/render"
)

func TestLosses(t *testing.T) {
	long := `{"oneOf":[{"required":["a"]},{"description":"` + strings.Repeat("x", 600) + `"}]}`
	const merged = "; the model sees the properties of all parts, and requires those that all require"
	for name, test := range map[string]struct {
		schema string
		want   []string
	}{
		"none":  {`{"type":"object","properties":{"a":{"oneOf":[{"const":1},{"const":2}]}}}`, nil},
		"empty": {"", nil},
		"union": {`{"anyOf":[{"required":["a"]}]}`, []string{"for OpenAI and Anthropic and Gemini, anyOf at the root is only in the description" + merged}},
		"long": {long, []string{
			"for OpenAI, oneOf at the root is too long for the description, so that the model does not see it" + merged,
			"for Anthropic and Gemini, oneOf at the root is only in the description" + merged,
		}},
		"not": {`{"not":{}}`, []string{"for OpenAI and Gemini, not at the root is only in the description"}},
		"name": {`{"oneOf":[{"properties":{"$top":true}}]}`, []string{
			"for OpenAI and Gemini, oneOf at the root is only in the description" + merged,
			`for Anthropic, RenderTools omits the tool: the API of Anthropic refuses the parameter name "$top": it accepts 1 to 64 of the characters A-Z a-z 0-9 _ . -`,
		}},
	} {
		info := spec(test.schema)
		if diff := cmp.Diff(test.want, render.Losses(&info.Spec)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
