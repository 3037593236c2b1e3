package render

import (
	"strings"
	"unicode/utf8"

	"github.com/toolhost/toolhost/tool"
)

// describe returns a tool's description and what the API has no other field for, in at most longest
// characters; 0 means no bound. If there is too much, describe omits examples first, and then cuts
// the author's text. The conditions on arguments matter more.
func describe(spec *tool.Spec, refused object, examples []tool.InputExample, longest int) string {
	text, rest := strings.TrimSpace(spec.Description), ""
	if len(refused) > 0 {
		rest = "\n\nThe arguments must also fit this JSON Schema: " + string(compact(refused.text()))
	}
	if longest > 0 {
		if utf8.RuneCountInString(rest) > longest/2 {
			rest = "" // the tool's error will explain it on a call
		}
		text = shorten(text, longest-utf8.RuneCountInString(rest))
	}
	text += rest
	heading := "\n\nExamples of arguments:"
	for _, e := range examples {
		line := heading + "\n- "
		if e.Description != "" {
			line += e.Description + ": "
		}
		line += string(compact(orEmpty(e.Arguments)))
		if longest == 0 || utf8.RuneCountInString(text)+utf8.RuneCountInString(line) <= longest {
			text, heading = text+line, ""
		}
	}
	return text
}

// shorten returns at most that many characters of a text. It marks a cut.
func shorten(text string, most int) string {
	for i, n := 0, 0; i < len(text); n++ {
		_, size := utf8.DecodeRuneInString(text[i:])
		if n == most-1 && i+size < len(text) {
			return text[:i] + "…"
		}
		i += size
	}
	return text
}
