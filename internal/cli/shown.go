package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolhost/toolhost/tool"
)

// Shown returns what people are shown of a result: its text, and facts about it in one line. A fact is a member of a JSON object
// of single values beside other blocks, such as the exit code of a command beside what the command printed. A result that
// has nothing else than such an object is all text. Nothing is left out. Neither is escaped.
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
	return (&tool.Result{Content: rest}).Text(), strings.Join(lines, ", ")
}

// factsOf returns a block in one line if it is a JSON object of single values.
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
