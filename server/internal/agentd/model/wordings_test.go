package model

import (
	"strings"
	"testing"
)

// A row can be found, has a source, and does not repeat what a row of the same meaning already
// finds.
func TestWordings(t *testing.T) {
	for i, row := range wordings {
		if row.words != strings.ToLower(row.words) || row.words == "" || row.source == "" {
			t.Errorf("row %q: the words are in lower case, and have a source", row.words)
		}
		for _, earlier := range wordings[:i] {
			if says(row.words, earlier.words) {
				t.Errorf("row %q is never reached: %q finds its words", row.words, earlier.words)
			}
		}
	}
}

func TestRefusesParameter(t *testing.T) {
	for name, test := range map[string]struct {
		refused Error
		words   string
		path    string
		want    bool
	}{
		"field":                    {Error{Status: 400, Parameter: "stream_options"}, "no", "stream_options", true},
		"within a longer path":     {Error{Status: 400, Parameter: "tools[0].custom.input_examples"}, "no", "input_examples", true},
		"a part of another name":   {Error{Status: 400, Parameter: "max_stream_options_size"}, "no", "stream_options", false},
		"words":                    {Error{Status: 422}, "Unknown parameter: 'streamOptions'", "stream_options", true},
		"words of another meaning": {Error{Status: 400}, "stream_options has a bad value", "stream_options", false},
		"another parameter":        {Error{Status: 400}, "Unknown parameter: 'n'", "stream_options", false},
		"another status":           {Error{Status: 401, Parameter: "stream_options"}, "no", "stream_options", false},
		"too long":                 {Error{Status: 400}, "maximum context length is 8 tokens; unknown parameter stream_options", "stream_options", false},
	} {
		test.refused.Understand(test.words)
		if got := test.refused.RefusesParameter(test.path); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
