package rowset

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxCell limits a value in a table, in characters: enough to recognize it. The JSON has the whole
// value.
const maxCell = 120

// escapes keeps a value in its cell.
var escapes = strings.NewReplacer("\\", `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "|", `\|`)

// String returns the answer as a Markdown table without padding, and a line with the number of
// rows. An ellipsis marks a truncated value.
func (a Answer) String() string {
	var b strings.Builder
	if len(a.Columns) > 0 {
		for _, column := range a.Columns {
			b.WriteString("|" + escapes.Replace(column.Name))
		}
		b.WriteString("|\n")
		b.WriteString(strings.Repeat("|-", len(a.Columns)))
		b.WriteString("|\n")
	}
	for _, row := range a.Rows {
		for _, value := range row {
			b.WriteString("|" + shown(value))
		}
		b.WriteString("|\n")
	}
	rows := "rows"
	if len(a.Rows) == 1 {
		rows = "row"
	}
	fmt.Fprintf(&b, "(%d %s", len(a.Rows), rows)
	if a.Truncated {
		fmt.Fprintf(&b, "; there are more, cut at %s: narrow the query, aggregate, or page with ORDER BY and LIMIT … OFFSET", a.Limit)
	}
	b.WriteString(")")
	return b.String()
}

// shown returns a value for a table: texts without quotes, NULL, and all other values as JSON.
func shown(value json.RawMessage) string {
	text := string(value)
	switch {
	case text == "null":
		return "NULL"
	case strings.HasPrefix(text, `"`):
		var s string
		if json.Unmarshal(value, &s) == nil {
			text = s
		}
	}
	if utf8.RuneCountInString(text) > maxCell {
		text = string([]rune(text)[:maxCell]) + "…"
	}
	return escapes.Replace(text)
}
