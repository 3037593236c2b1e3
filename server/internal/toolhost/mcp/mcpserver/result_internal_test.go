package mcpserver

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/tool"
)

// A client learns that the outcome of its call was settled, and how.
func TestAResultSaysHowItWasSettled(t *testing.T) {
	outcome := tool.Outcome{CallID: "order-17", Result: tool.TextResult("paid")}
	for want, said := range map[string]*tool.Settlement{
		`"toolhost/settled":{"verdict":"happened","reason":"the book says so"}`: {Verdict: tool.VerdictHappened, Reason: "the book says so"},
		`"toolhost/settled":{"verdict":"did_not_happen"}`:                       {Verdict: tool.VerdictDidNotHappen},
	} {
		outcome.Settled = said
		if text, err := json.Marshal(resultOf(&outcome, false, "s")); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("the result is %s, %v, want %s", text, err, want)
		}
	}
	outcome.Settled = nil
	if r := resultOf(&outcome, false, "s"); r.Meta[metaSettled] != nil {
		t.Errorf("a call that was not settled has %v", r.Meta)
	}
}

// Gemini CLI reads a first text that is JSON as structured content, and refuses the result if that
// is no object. Such a value is sent as a member of one, or behind a text if there is more.
func TestAValueIsStructuredContent(t *testing.T) {
	text := func(s string) tool.Content { return tool.Content{Kind: tool.ContentText, Text: s} }
	object := func(s string) tool.Content { return tool.Content{Kind: tool.ContentJSON, JSON: json.RawMessage(s)} }
	for name, test := range map[string]struct {
		content []tool.Content
		want    string // empty: no structured content
	}{
		"a number":                        {[]tool.Content{object("6227020800")}, `{"result":6227020800}`},
		"a list":                          {[]tool.Content{object(`[{"a":1},{"a":2}]`)}, `{"result":[{"a":1},{"a":2}]}`},
		"a text of JSON":                  {[]tool.Content{object(`"done"`)}, `{"result":"done"}`},
		"zero":                            {[]tool.Content{object("0")}, `{"result":0}`},
		"false":                           {[]tool.Content{object("false")}, `{"result":false}`},
		"null":                            {[]tool.Content{object("null")}, `{"result":null}`},
		"an object":                       {[]tool.Content{object(`{"a":1}`)}, `{"a":1}`},
		"text that is a number":           {[]tool.Content{text(" 42\n")}, `{"result":42}`},
		"text that is a quoted text":      {[]tool.Content{text(`"a"`)}, `{"result":"a"}`},
		"text that is an object":          {[]tool.Content{text(`{"a":1}`)}, ""},
		"text that is no JSON":            {[]tool.Content{text("42 files")}, ""},
		"several lines of numbers":        {[]tool.Content{text("1\n2\n")}, ""},
		"no text":                         {[]tool.Content{text("")}, ""},
		"nothing":                         {nil, ""},
		"a number behind text":            {[]tool.Content{text("the answer:"), object("42")}, ""},
		"an object behind a number":       {[]tool.Content{text("42"), object(`{"a":1}`)}, ""},
		"an object and text":              {[]tool.Content{object(`{"a":1}`), text("more")}, ""},
		"an object behind text":           {[]tool.Content{text("this:"), object(`{"a":1}`)}, ""},
		"a list and text":                 {[]tool.Content{object("[1]"), text("more")}, ""},
		"a number and an image":           {[]tool.Content{text("42"), {Kind: tool.ContentImage, Data: []byte("x"), MediaType: "image/png"}}, ""},
		"an image":                        {[]tool.Content{{Kind: tool.ContentImage, Data: []byte("x"), MediaType: "image/png"}}, ""},
		"a number that JSON has not":      {[]tool.Content{text("0x10")}, ""},
		"a number with a byte order mark": {[]tool.Content{text("\ufeff42")}, ""},
	} {
		for _, failed := range []bool{false, true} {
			r := resultOf(&tool.Outcome{Result: tool.Result{Content: test.content, IsError: failed}}, false, "s")
			var got struct {
				StructuredContent json.RawMessage `json:"structuredContent"`
			}
			wire, err := json.Marshal(r)
			if err == nil {
				err = json.Unmarshal(wire, &got)
			}
			if err != nil || string(got.StructuredContent) != test.want {
				t.Errorf("%s has the structured content %s, %v, want %s", name, got.StructuredContent, err, test.want)
			}
			if got.StructuredContent == nil && valueIn(r.Content) != nil {
				t.Errorf("%s begins with a value: %s", name, wire)
			}
		}
	}
}
