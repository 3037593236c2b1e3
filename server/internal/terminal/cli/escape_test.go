package cli_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain, ünï\tcode\n":     "plain, ünï\tcode\n",
		"a\r\nb\rc":              "a\nb\\rc",
		"\x1b]52;c;eA==\a":       `\x1b]52;c;eA==\a`,
		"\u009b31m":              `\u009b31m`,
		"\x9b31m":                `\x9b31m`,
		"\x01\x7f":               `\x01\x7f`,
		"x\u202egnp\u2066\u200b": `x\u202egnp\u2066\u200b`,
		"\U000e0041\ufeff\u2028": `\U000e0041\ufeff\u2028`,
		"half \xe2\x80":          `half \xe2\x80`,
		"\ufffd":                 "\ufffd",
		"a\u3164b\u2800c\u034f":  `a\u3164b\u2800c\u034f`,
		"\u2065\ufff0\U0001d159": `\u2065\ufff0\U0001d159`,
		"\U000e0000\U000e0fff":   `\U000e0000\U000e0fff`,
		"葛\U000e0100 \ufffd":     "葛\U000e0100 \ufffd",
		"e\u0301 n\u0303\u0323":  "e\u0301 n\u0303\u0323",
		"z\u0301\u0301\u0301\u0301\u0301\u0301y\u0301": "z\u0301\u0301\u0301\u0301\\u0301\\u0301y\u0301",
	} {
		if got := cli.Visible(in); got != want {
			t.Errorf("Visible(%q) = %q, want %q", in, got, want)
		}
	}
	if got, want := cli.OneLine("a\nb\r\n\tc\x1b"), `a b  c\x1b`; got != want {
		t.Errorf("OneLine = %q, want %q", got, want)
	}
}

// Parts of a text with different styles are one text for a terminal, which draws the marks of all
// parts over the same letter.
func TestStyledTextCountsMarksAcrossParts(t *testing.T) {
	var text cli.StyledText
	for range 4 {
		text.Add("\u0301\u0302", cli.Plain)
	}
	if got, want := text.Lines(cli.Screen{}, 0)[0], "\u0301\u0302\u0301\u0302"+`\u0301\u0302\u0301\u0302`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAPrinterPutsCharactersTogether(t *testing.T) {
	const text = "é\u202e→\U0001f600\xff."
	for cut := range len(text) {
		var b bytes.Buffer
		p := cli.NewPrinter(&b)
		for _, part := range []string{text[:cut], text[cut:]} {
			if n, err := p.Write([]byte(part)); n != len(part) || err != nil {
				t.Fatal(n, err)
			}
		}
		if want := "é\\u202e→\U0001f600\\xff."; b.String() != want {
			t.Errorf("cut at %d: %q, want %q", cut, b.String(), want)
		}
	}
}

func FuzzEscapes(f *testing.F) {
	for _, seed := range []string{"a", "\x1b[2J\x9b\u009b\u202e\U000e0041\x7f\r\n\t", "\xf0\x9f", "\u2028\ufeff\\\""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range cli.Visible(text) {
			if unicode.In(r, unicode.Cc, unicode.Cf) && r != '\n' && r != '\t' {
				t.Errorf("Visible(%q) has %q", text, r)
			}
		}
		var b strings.Builder
		if err := cli.WriteJSON(&b, map[string]any{"text": text, "raw": json.RawMessage("\"\u202e\x7f\u009b\"")}); err != nil {
			t.Fatal(err)
		}
		for _, r := range strings.TrimSuffix(b.String(), "\n") {
			if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
				t.Errorf("WriteJSON(%q) has %q", text, r)
			}
		}
		var back struct{ Text, Raw string }
		if err := json.Unmarshal([]byte(b.String()), &back); err != nil {
			t.Fatalf("%v: %s", err, b.String())
		}
		if back.Text != string([]rune(text)) || back.Raw != "\u202e\x7f\u009b" {
			t.Errorf("%q became %q", text, back.Text)
		}
	})
}

func TestCountBlanks(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "",
		"a b  c":                            "a b  c",
		strings.Repeat(" ", 99) + "a":       strings.Repeat(" ", 99) + "a",
		"a" + strings.Repeat(" ", 32) + "b": "a" + strings.Repeat(" ", 32) + "b",
		"a" + strings.Repeat(" ", 33) + "b": "a [33 blanks] b",
		"ä" + strings.Repeat("\u00a0\u3000\t", 99): "ä [297 blanks] ",
		"x\n" + strings.Repeat(" ", 99) + "y":      "x\n" + strings.Repeat(" ", 99) + "y",
	} {
		if got := cli.CountBlanks(text); got != want {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

func TestCountBlankLines(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "",
		"a\n\nb\n":                             "a\n\nb\n",
		"a\n" + strings.Repeat(" \n", 7) + "b": "a\n" + strings.Repeat(" \n", 7) + "b",
		"a\n" + strings.Repeat(" \n", 8) + "b": "a\n[8 blank lines]\nb",
		"a" + strings.Repeat("\t\u3000\r\n", 3000) + "  b" + strings.Repeat("\n", 99): "a\n[2999 blank lines]\n  b\n[98 blank lines]\n",
	} {
		if got := cli.CountBlankLines(text); got != want {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}
