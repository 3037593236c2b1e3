package replace_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/plugins/fs/replace"
)

func TestApply(t *testing.T) {
	tests := map[string]struct {
		text  string
		edits []replace.Edit
		want  string
		lines [][]int
	}{
		"in a line":                      {"one two three", []replace.Edit{{Old: "two", New: "2"}}, "one 2 three", [][]int{{1}}},
		"several lines":                  {"a\nb\nc\nd\n", []replace.Edit{{Old: "b\nc\n", New: "x\n"}}, "a\nx\nd\n", [][]int{{2}}},
		"deleted":                        {"a\nb\nc", []replace.Edit{{Old: "b\n"}}, "a\nc", [][]int{{2}}},
		"all":                            {"a.a.a", []replace.Edit{{Old: "a", New: "bb", All: true}}, "bb.bb.bb", [][]int{{1, 1, 1}}},
		"all where there is one":         {"abc", []replace.Edit{{Old: "b", New: "B", All: true}}, "aBc", [][]int{{1}}},
		"all do not overlap":             {"aaaa", []replace.Edit{{Old: "aa", New: "b", All: true}}, "bb", [][]int{{1, 1}}},
		"all with more lines":            {"x\nx\nx", []replace.Edit{{Old: "x", New: "y\ny", All: true}}, "y\ny\ny\ny\ny\ny", [][]int{{1, 3, 5}}},
		"each after the other":           {"a\n", []replace.Edit{{Old: "a", New: "b"}, {Old: "b", New: "c\nc2"}, {Old: "c2", New: "d"}}, "c\nd\n", [][]int{{1}, {1}, {2}}},
		"no end of line at the end":      {"a\nb", []replace.Edit{{Old: "b", New: "c"}}, "a\nc", [][]int{{2}}},
		"CRLF":                           {"a\r\nb\r\nc\r\n", []replace.Edit{{Old: "a\nb\n", New: "x\ny\nz\n"}}, "x\r\ny\r\nz\r\nc\r\n", [][]int{{1}}},
		"CRLF in the edit":               {"a\r\nb\r\n", []replace.Edit{{Old: "a\r\nb", New: "x\r\ny"}}, "x\r\ny\r\n", [][]int{{1}}},
		"CRLF in the edit alone":         {"a\nb\n", []replace.Edit{{Old: "a\r\nb", New: "x\r\ny"}}, "x\ny\n", [][]int{{1}}},
		"CRLF before and behind":         {"a\r\nb\r\nc", []replace.Edit{{Old: "\nb\n", New: "\n"}}, "a\r\nc", [][]int{{1}}},
		"CRLF is put into a line of its": {"a\r\nb\r\nc", []replace.Edit{{Old: "b", New: "b\nb2"}}, "a\r\nb\r\nb2\r\nc", [][]int{{2}}},
		"CRLF at the end":                {"a\r\nb", []replace.Edit{{Old: "b", New: "b\nc"}}, "a\r\nb\r\nc", [][]int{{2}}},
		"mixed":                          {"a\r\nb\nc\r\nd\n", []replace.Edit{{Old: "b", New: "b\nb2"}, {Old: "c", New: "c\nc2"}}, "a\r\nb\nb2\nc\r\nc2\r\nd\n", [][]int{{2}, {4}}},
		"a lone CR is a character":       {"a\rb\nc", []replace.Edit{{Old: "a\rb", New: "x"}}, "x\nc", [][]int{{1}}},
		"bytes that are no text":         {"caf\xe9\nx\n", []replace.Edit{{Old: "x", New: "y"}}, "caf\xe9\ny\n", [][]int{{2}}},
		"not a regular expression":       {"f(x) = .*$1", []replace.Edit{{Old: "(x) = .*", New: "$1\\1"}}, "f$1\\1$1", [][]int{{1}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, lines, err := replace.Apply(test.text, test.edits)
			if err != nil || got != test.want {
				t.Errorf("got %q, %v; want %q", got, err, test.want)
			}
			if diff := cmp.Diff(test.lines, lines); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestApplyRefuses(t *testing.T) {
	const program = "package main\n\nfunc main() {\n\tfmt.Println(\"hello\")\n}\n\nfunc other() {\n\tfmt.Println(\"other\")\n}\n"
	tests := map[string]struct {
		text  string
		edits []replace.Edit
		words []string
	}{
		"empty":             {"abc", []replace.Edit{{New: "x"}}, []string{"old_text is empty", "write_file"}},
		"no change":         {"abc", []replace.Edit{{Old: "b", New: "b"}}, []string{"are the same"}},
		"no change of ends": {"a\r\nb", []replace.Edit{{Old: "a\nb", New: "a\r\nb"}}, []string{"are the same"}},
		"twice":             {"x\ny\nx\n", []replace.Edit{{Old: "x", New: "z"}}, []string{"occurs 2 times, from lines 1, 3 on", "replace_all"}},
		"overlapping":       {"aaa", []replace.Edit{{Old: "aa", New: "b"}}, []string{"occurs 2 times"}},
		"many times":        {strings.Repeat("x\n", 99), []replace.Edit{{Old: "x", New: "z"}}, []string{"occurs 99 times", "1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and further ones on"}},
		"missing in all":    {"abc", []replace.Edit{{Old: "x", New: "y", All: true}}, []string{"occurs 0 times", "No line is like it"}},
		"other white space": {program, []replace.Edit{{Old: "func main() {\n    fmt.Println(\"hello\")\n}", New: ""}}, []string{"occurs 0 times", "Apart from white space", "     3: func main() {\n     4: \tfmt.Println(\"hello\")\n     5: }"}},
		"white space in one line": {program, []replace.Edit{{Old: "Println(  \"hello\"", New: ""}},
			[]string{"occurs 0 times", "nearest lines", "     4: \tfmt.Println(\"hello\")"}},
		"nearest lines":   {program, []replace.Edit{{Old: "fmt.Println(\"hallo\")", New: ""}}, []string{"nearest lines", "     4: \tfmt.Println(\"hello\")"}},
		"nearest passage": {program, []replace.Edit{{Old: "func othr() {\n\tfmt.Println(\"othr\")\n}", New: ""}}, []string{"     7: func other() {\n     8: \tfmt.Println(\"other\")\n     9: }"}},
		"the second":      {"abc", []replace.Edit{{Old: "a", New: "b"}, {Old: "a", New: "c"}}, []string{"edit 2 of 2", "occurs 0 times", "none of the edits was made"}},
		"empty text":      {"", []replace.Edit{{Old: "a", New: "b"}}, []string{"occurs 0 times"}},
		"long lines":      {strings.Repeat("long ", 1000), []replace.Edit{{Old: strings.Repeat("long ", 30) + "short", New: "b"}}, []string{"occurs 0 times", "…"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, _, err := replace.Apply(test.text, test.edits)
			if err == nil {
				t.Fatalf("got %q", got)
			}
			for _, words := range test.words {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("got %q, want %q in it", err, words)
				}
			}
			if len(err.Error()) > 10_000 {
				t.Errorf("the message has %d bytes", len(err.Error()))
			}
		})
	}
}

// For every text, an edit changes only its passage.
func FuzzApply(f *testing.F) {
	f.Add("a\r\nb\nc", "b\n", "x\ny", false)
	f.Add("aaa", "aa", "a", true)
	f.Add("\r\n\r\r\n\n", "\n", "", true)
	f.Add("x\xff\ny", "\xff", "\r\n", false)
	f.Add("func f() {\n}\n", "func  f()", "", false)
	f.Fuzz(func(t *testing.T, text, old, new string, all bool) {
		got, lines, err := replace.Apply(text, []replace.Edit{{Old: old, New: new, All: all}})
		if err != nil {
			return
		}
		if len(lines) != 1 || len(lines[0]) == 0 || !all && len(lines[0]) != 1 {
			t.Fatalf("the lines are %v", lines)
		}
		lf := func(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
		if !strings.Contains(text, "\r") && !strings.Contains(old+new, "\r") {
			if want := strings.ReplaceAll(text, old, new); got != want {
				t.Fatalf("got %q, want %q", got, want)
			}
			return
		}
		if !strings.Contains(lf(text), lf(old)) {
			t.Fatalf("%q is not in %q, and was replaced", old, text)
		}
		if all {
			return
		}
		// The bytes before and after the passage stay the same.
		at := strings.Index(lf(text), lf(old))
		before, after := lf(text)[:at], lf(text)[at+len(lf(old)):]
		prefix, suffix := rawPrefix(text, before), rawSuffix(text, after)
		if !strings.HasPrefix(got, prefix) || !strings.HasSuffix(got, suffix) || len(got) < len(prefix)+len(suffix) {
			t.Fatalf("%q became %q: what stands around the change was %q and %q", text, got, prefix, suffix)
		}
	})
}

// rawPrefix returns the shortest prefix of text that equals before when line ends are normalized.
func rawPrefix(text, before string) string {
	for n := 0; n <= len(text); n++ {
		if strings.ReplaceAll(text[:n], "\r\n", "\n") == before && (n == len(text) || !strings.HasPrefix(text[n:], "\n") || n == 0 || text[n-1] != '\r') {
			return text[:n]
		}
	}
	return ""
}

// rawSuffix returns the longest suffix of text that equals after when line ends are normalized.
func rawSuffix(text, after string) string {
	for n := 0; n <= len(text); n++ {
		if strings.ReplaceAll(text[n:], "\r\n", "\n") == after {
			return text[n:]
		}
	}
	return ""
}

// Characters that look like those of old_text are shown by their escapes, and what is shown can be
// given as old_text.
func TestCharactersThatLookTheSame(t *testing.T) {
	const file = "Price:\u00a0100\u202f€ per kilo\ncafe\u0301\nzero\u200bwidth\n“yes” – é\n"
	for _, test := range []struct{ source, old, want string }{
		{"anthropics/claude-code#29870", "Price: 100 €", `from line 1 on, other characters that look the same are in the file. This is what is there, as JSON with these characters escaped, so give old_text as it is here:` + "\n" + `"Price:\u00a0100\u202f€"`},
		{"anthropics/claude-code#29870", "café", `from line 2 on, other characters that look the same are in the file, where old_text has \u00e9. This`},
		{"anthropics/claude-code#29870", "café", "\n" + `"cafe\u0301"`},
		{"anthropics/claude-code#29870", "zerowidth", "\n" + `"zero\u200bwidth"`},
		{"", "width\n\"yes\" - e\u0301", "\n" + `"width\n\u201cyes\u201d \u2013 \u00e9"`},
		{"", "per\u00a0kilo", `where old_text has \u00a0. This is`},
		{"", "Price: 100 euros per kilo", `     1: Price:\u00a0100\u202f€ per kilo`},
	} {
		_, _, err := replace.Apply(file, []replace.Edit{{Old: test.old, New: "x"}})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Fatalf("%s: %q: got %v", test.source, test.old, err)
		}
		_, shown, found := strings.Cut(err.Error(), "as it is here:\n")
		var exact string
		if !found {
			continue
		}
		if err := json.Unmarshal([]byte(shown), &exact); err != nil {
			t.Fatalf("%s is no JSON: %v", shown, err)
		}
		if _, _, err := replace.Apply(file, []replace.Edit{{Old: exact, New: "x"}}); err != nil {
			t.Errorf("what is shown for %q does not fit: %v", test.old, err)
		}
	}
}
