package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/tool"
)

// Shown returns a result in the form for people: its text, and its facts in one line. A fact is a
// member of a flat JSON object that stands beside other blocks, such as the exit code of a command
// beside the command's output. If the result has only such an object, the object is the text. Shown
// removes the label "stdout:" if there is no output on standard error, and removes nothing else. It
// escapes neither string.
func Shown(r *tool.Result) (text, facts string) {
	var rest []tool.Content
	var lines []string
	for _, c := range r.Content {
		if line, ok := factsOf(c); ok {
			lines = append(lines, line)
		} else {
			rest = append(rest, c)
		}
	}
	if len(rest) == 0 || len(lines) == 0 {
		return r.Text(), ""
	}
	// A model needs the label to tell the streams of a command apart. Where there is one stream, a
	// person does not.
	if isLabel(rest[0], "stdout:") && !slices.ContainsFunc(rest, func(c tool.Content) bool { return isLabel(c, "stderr:") }) {
		rest = rest[1:]
	}
	return (&tool.Result{Content: rest}).Text(), strings.Join(lines, ", ")
}

// isLabel reports whether a block is a label and nothing else.
func isLabel(c tool.Content, label string) bool {
	return c.Kind == tool.ContentText && strings.TrimSpace(c.Text) == label
}

// factsOf returns a JSON block as one line, if the block is an object without arrays and objects in
// it.
func factsOf(c tool.Content) (line string, ok bool) {
	if c.Kind != tool.ContentJSON {
		return "", false
	}
	d := json.NewDecoder(bytes.NewReader(c.JSON))
	d.UseNumber()
	if opening, err := d.Token(); err != nil || opening != json.Delim('{') {
		return "", false
	}
	var parts []string
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return "", false
		}
		value, err := d.Token()
		if _, nested := value.(json.Delim); err != nil || nested {
			return "", false
		}
		parts = append(parts, fmt.Sprintf("%s %v", strings.ReplaceAll(name.(string), "_", " "), value))
	}
	return strings.Join(parts, ", "), len(parts) > 0
}
