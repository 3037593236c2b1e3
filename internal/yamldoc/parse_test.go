package yamldoc_test

import (
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/yamldoc"
)

// A file cannot nest values so deep that the parser needs minutes. Brackets in texts and comments
// nest nothing.
func TestDepth(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		deep bool
	}{
		"brackets":         {strings.Repeat("[", 101), true},
		"braces":           {strings.Repeat("{a: ", 101), true},
		"dashes":           {strings.Repeat("- ", 101), true},
		"question marks":   {strings.Repeat("? ", 101), true},
		"less":             {strings.Repeat("[", 99) + strings.Repeat("]", 99), false},
		"lists in a list":  {strings.Repeat("- [a]\n", 101), false},
		"empty elements":   {strings.Repeat("-\n", 101), false},
		"pairs in a line":  {"{a: 1" + strings.Repeat(", a: 1", 101) + "}", false},
		"a quoted text":    {"a: '" + strings.Repeat("[", 101) + "'", false},
		"a text of lines":  {"a: |\n  " + strings.Repeat("- ", 101), false},
		"a comment":        {"a: b # " + strings.Repeat("{", 101), false},
		"a quarter of MiB": {strings.Repeat("[", yamldoc.MaxConfigBytes), true},
	} {
		_, err := yamldoc.Parse("f.yaml", []byte(c.text))
		deep := err != nil && err.Error() == "f.yaml: values are nested more than 100 deep"
		if deep != c.deep || !c.deep && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
