package yamldoc_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
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

// A mapping cannot have so many keys that the parser needs seconds. Keys of other mappings do not
// count.
func TestKeysOfAMapping(t *testing.T) {
	const many = "f.yaml:5001:1: a mapping has more than 5000 keys; this is the next one"
	for name, c := range map[string]struct{ text, want string }{
		"one key too many":    {strings.Repeat("a:\n", 5001), many},
		"with values":         {strings.Repeat("a: {b: c}\n", 5001), many},
		"with quotes":         {strings.Repeat("'a': b\n", 5001), many},
		"with question marks": {strings.Repeat("? a\n", 5001), many},
		"below other keys":    {"m:\n" + strings.Repeat(" a: {b: c}\n", 5001), strings.Replace(many, "5001:1", "5002:2", 1)},
		"with lists":          {strings.Repeat("a:\n- b: 1\n", 5001), strings.Replace(many, "5001:1", "10001:1", 1)},
		"as many as allowed":  {strings.Repeat("a:\n", 5000), ""},
		"of several mappings": {strings.Repeat("a:\n"+strings.Repeat(" b: c\n", 100), 60), ""},
		"of a list":           {strings.Repeat("- a: b\n  c: d\n", 5001), ""},
		"in braces":           {"{" + strings.Repeat("a: b, ", 5001) + "}", ""},
	} {
		_, err := yamldoc.Parse("f.yaml", []byte(c.text))
		if got := fmt.Sprint(err); c.want == "" && err != nil || c.want != "" && got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The parser would read 1, a tab and 2 as 12.
func TestTabs(t *testing.T) {
	for text, refused := range map[string]bool{
		"a: b\tc":                  true,
		"a: 1\t2":                  true,
		"a\tb: c":                  true,
		"- b \tc":                  true,
		"{a: b\tc}":                true,
		"a: b\n c\td":              true,
		"a: |\n b\nc: d\te":        true,
		"a:\tb\t# c\td":            false,
		"a\t: c\t":                 false,
		"a: b\n \tc":               false,
		"a: |\n b\tc\n":            false,
		"a: | # x\n b\tc\n d\te\n": false,
		"a: >-\n b\tc\n":           false,
		"a: 'b\tc'\nb: \"c\td\"":   false,
		"# a\tb\na: b":             false,
	} {
		_, err := yamldoc.Parse("f.yaml", []byte(text))
		if told := err != nil && strings.Contains(err.Error(), "a tab is in this value"); told != refused || !refused && err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}
