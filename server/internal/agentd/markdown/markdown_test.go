package markdown_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/markdown"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

func TestRender(t *testing.T) {
	for name, test := range map[string]struct {
		source, want string
		screen       cli.Screen
	}{
		"nothing":   {" \n\n", "", cli.Screen{}},
		"paragraph": {"Some **bold** and *soft* `code`.", "Some \x1b[1mbold\x1b[0m and \x1b[3msoft\x1b[0m \x1b[36mcode\x1b[0m.\n", cli.Screen{Color: true}},
		"heading":   {"# Title\n\ntext", "\x1b[1mTitle\x1b[0m\n\ntext\n", cli.Screen{Color: true}},
		"wraps":     {"one two three four five six", "one two three four\nfive six\n", cli.Screen{Columns: 21}},
		"list":      {"- one\n- two\n  - inner\n\n1. first\n2. second", "• one\n• two\n  • inner\n\n1. first\n2. second\n", cli.Screen{}},
		"quote":     {"> said\n> again", "│ said\n│ again\n", cli.Screen{}},
		"code":      {"```go\nx := 1\n\n\ty\n```", "    x := 1\n\n        y\n", cli.Screen{}},
		"table":     {"| a | b |\n|---|---|\n| 1 | 2 |", "a │ b\n──┼──\n1 │ 2\n", cli.Screen{}},
		"aligned table": {
			"| name | n |\n|:--|--:|\n| **日本** `x\\|y` | 7 |\n| z | 1234 |",
			"\x1b[1mname\x1b[0m    \x1b[2m │ \x1b[0m   \x1b[1mn\x1b[0m\n\x1b[2m─────────┼─────\x1b[0m\n" +
				"\x1b[1m日本\x1b[0m \x1b[36mx|y\x1b[0m\x1b[2m │ \x1b[0m   7\nz       \x1b[2m │ \x1b[0m1234\n",
			cli.Screen{Color: true},
		},
		"narrow table": {
			"| a | b |\n|---|---|\n| one two three | four five |\n| x |",
			"a         │ b\n──────────┼──────────\none two   │ four five\nthree     │\nx         │\n", cli.Screen{Columns: 22},
		},
		"hostile table":   {"| a\x1b[2J | b |\n|---|---|\n| &#27; | \u202e |", "a\\x1b[2J │ b\n─────────┼───────\n\\x1b     │ \\u202e\n", cli.Screen{}},
		"table in a list": {"- x\n\n  | a | b |\n  |---|---|\n  | 1 | 2 |", "• x\n  a │ b\n  ──┼──\n  1 │ 2\n", cli.Screen{}},
		"link":            {"see [the bank](https://evil.example)", "see the bank (https://evil.example)\n", cli.Screen{}},
		"html":            {"a <b>c</b>", "a <b>c</b>\n", cli.Screen{}},
		"entities":        {"&amp; &#27;[2J \\* &#x202e;", "& \\x1b[2J * \\u202e\n", cli.Screen{}},
		"control":         {"a\x1b[2Jb `\x1b]0;x\a` [\x9b](\u202e)\n\n```\n\x1b[1A\n```", "a\\x1b[2Jb \\x1b]0;x\\a \\x9b (\\u202e)\n\n    \\x1b[1A\n", cli.Screen{}},
		"too deep":        {strings.Repeat("> ", 40) + "x", strings.Repeat("> ", 40) + "x\n", cli.Screen{}},
	} {
		if diff := cmp.Diff(test.want, markdown.Render(test.source, test.screen)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A block appears when it has ended, wherever the text is divided into pieces. A block that would
// take the parser long is shown as source. Ordinary text with many links is still rendered.
func TestRenderBoundsTheTimeOfTheParser(t *testing.T) {
	for _, hostile := range []string{"[a](", "[", "[](<", "*a_", "> "} {
		source := strings.Repeat(hostile, 2500)
		if diff := cmp.Diff(strings.Trim(source, "\n")+"\n", markdown.Render(source, cli.Screen{})); diff != "" {
			t.Errorf("%q is parsed (-want +got):\n%s", hostile, diff)
		}
	}
	cells := strings.Repeat("|", 100) + "\n" + strings.Repeat("|-", 99) + "|\n" + strings.Repeat("x\n", 5000)
	if diff := cmp.Diff(cells, markdown.Render(cells, cli.Screen{})); diff != "" {
		t.Errorf("a table of half a million cells is parsed")
	}
	list := strings.Repeat("- see [it](https://example.org) *now*\n", 200)
	if got := markdown.Render(list, cli.Screen{}); strings.Contains(got, "[it]") {
		t.Errorf("an ordinary list is not parsed: %s", got[:100])
	}
}

func TestStream(t *testing.T) {
	const source = "# One\n\ntwo\nlines\n\n```\ncode\n\nmore\n```\n\nlast"
	const want = "One\n\ntwo\nlines\n\n    code\n\n    more\n\nlast\n"
	for cut := range len(source) {
		var s markdown.Stream
		if got := s.Write(source[:cut]) + s.Write(source[cut:]) + s.Flush(); got != want {
			t.Errorf("cut at %d: %q", cut, got)
		}
	}
	var s markdown.Stream
	if got := s.Write("first\n\nsec"); got != "first\n" {
		t.Errorf("after the first block: %q", got)
	}
	if got := s.Write(strings.Repeat("x", 1<<20)); len(got) < 1<<20 {
		t.Errorf("a block without an end is held back: %d bytes", len(got))
	}
}

// No text controls the terminal: without color, the output has no control character.
func FuzzRender(f *testing.F) {
	for _, seed := range []string{"# a\n- b\n> c", "```\n\x1b[2J\n```", "[a](\x9b) &#27; \u202e `\x07`", "1) x\n   y\n\n***", "<b \x1b>\n", "| a\x1b | &#27; |\n|:-:|--:|\n| \u202e |"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		var s markdown.Stream
		half := len(source) / 2
		for _, r := range s.Write(source[:half]) + s.Write(source[half:]) + s.Flush() + markdown.Render(source, cli.Screen{Columns: 30}) {
			if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) && r != '\n' && r != '\t' {
				t.Fatalf("%q shows %q", source, r)
			}
		}
	})
}
