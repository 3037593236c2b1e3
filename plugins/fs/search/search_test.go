package search_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/plugins/fs/search"
)

func compile(t *testing.T, p search.Pattern) *search.Matcher {
	t.Helper()
	m, err := search.Compile(p)
	if err != nil {
		t.Fatalf("%+v: %v", p, err)
	}
	return m
}

// show formats lines like grep: 3:match, 4-context.
func show(found search.Found) string {
	var b strings.Builder
	for _, line := range found.Lines {
		mark := '-'
		if line.Match {
			mark = ':'
		}
		fmt.Fprintf(&b, "%d%c%s\n", line.Number, mark, line.Text)
	}
	return b.String()
}

func find(t *testing.T, p search.Pattern, want search.Want, text string) search.Found {
	t.Helper()
	found, err := search.NewSearcher(compile(t, p), want).Search(t.Context(), strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestSearch(t *testing.T) {
	const text = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"
	tests := map[string]struct {
		pattern search.Pattern
		want    search.Want
		text    string
		lines   string
	}{
		"a literal":                   {search.Pattern{Text: "ee"}, search.Want{}, text, "3:three\n"},
		"an expression":               {search.Pattern{Text: `^f\w+$`}, search.Want{}, text, "4:four\n5:five\n"},
		"alternatives":                {search.Pattern{Text: `one|(six|seven)`}, search.Want{}, text, "1:one\n6:six\n7:seven\n"},
		"nothing known":               {search.Pattern{Text: `^[a-t]+$`}, search.Want{}, text, "1:one\n3:three\n"},
		"every line":                  {search.Pattern{Text: ``}, search.Want{}, "a\n\nb", "1:a\n2:\n3:b\n"},
		"empty lines":                 {search.Pattern{Text: `^$`}, search.Want{}, "a\n\nb\n\n", "2:\n4:\n"},
		"no text":                     {search.Pattern{Text: ``}, search.Want{}, "", ""},
		"fixed":                       {search.Pattern{Text: `a.b(`, Fixed: true}, search.Want{}, "axb(\na.b(\n", "2:a.b(\n"},
		"case":                        {search.Pattern{Text: `HELLO`, IgnoreCase: true}, search.Want{}, "Hello\nhallo\nhELLo\n", "1:Hello\n3:hELLo\n"},
		"case, with other letters":    {search.Pattern{Text: `task`, IgnoreCase: true}, search.Want{}, "TASK\nta\u017f\u212a\nlast\n", "1:TASK\n2:ta\u017f\u212a\n"},
		"case of umlauts":             {search.Pattern{Text: `größe`, IgnoreCase: true}, search.Want{}, "GRÖßE\nGROSSE\n", "1:GRÖßE\n"},
		"case in the expression":      {search.Pattern{Text: `(?i)hello W`}, search.Want{}, "HELLO w\n", "1:HELLO w\n"},
		"the end of a line is no end": {search.Pattern{Text: `one\s*two`}, search.Want{}, text, ""},
		"CRLF":                        {search.Pattern{Text: `e$`}, search.Want{}, "one\r\ntwo\r\nfive", "1:one\n3:five\n"},
		"before":                      {search.Pattern{Text: `five`}, search.Want{Before: 2}, text, "3-three\n4-four\n5:five\n"},
		"before the beginning":        {search.Pattern{Text: `one`}, search.Want{Before: 2}, text, "1:one\n"},
		"after":                       {search.Pattern{Text: `three`}, search.Want{After: 2}, text, "3:three\n4-four\n5-five\n"},
		"after the end":               {search.Pattern{Text: `seven`}, search.Want{After: 2}, text, "7:seven\n"},
		"around, touching":            {search.Pattern{Text: `two|five`}, search.Want{Before: 1, After: 1}, text, "1-one\n2:two\n3-three\n4-four\n5:five\n6-six\n"},
		"around, overlapping":         {search.Pattern{Text: `three|four`}, search.Want{Before: 2, After: 2}, text, "1-one\n2-two\n3:three\n4:four\n5-five\n6-six\n"},
		"at most":                     {search.Pattern{Text: `e`}, search.Want{Most: 2, After: 1}, text, "1:one\n2-two\n3:three\n"},
		"count":                       {search.Pattern{Text: `e`}, search.Want{CountOnly: true}, text, ""},
		"over lines":                  {search.Pattern{Text: `two.*four`, Multiline: true}, search.Want{After: 1}, text, "2:two\n3:three\n4:four\n5-five\n"},
		"over lines, several":         {search.Pattern{Text: `o\n?t`, Multiline: true}, search.Want{}, "o\nt\n\not\no\r\nt", "1:o\n2:t\n4:ot\n5:o\n6:t\n"},
		"over lines, by line":         {search.Pattern{Text: `^t\w+$`, Multiline: true}, search.Want{}, text, "2:two\n3:three\n"},
		"over lines, ends":            {search.Pattern{Text: `e\n`, Multiline: true}, search.Want{}, "e\nx\n", "1:e\n"},
		"over lines, every line":      {search.Pattern{Text: `$`, Multiline: true}, search.Want{}, "a\nb\n", "1:a\n2:b\n"},
		"UTF-16":                      {search.Pattern{Text: `^b`}, search.Want{}, "\xff\xfea\x00\n\x00b\x00\xe4\x00\n\x00", "2:bä\n"},
		"a mark":                      {search.Pattern{Text: `^a`}, search.Want{}, "\xef\xbb\xbfa\nb\n", "1:a\n"},
		"Windows-1252":                {search.Pattern{Text: `é`}, search.Want{}, "cafe\ncaf\xe9\n", "2:café\n"},
		"Windows-1252, shown":         {search.Pattern{Text: `caf`}, search.Want{}, "caf\xe9\n", "1:caf\ufffd\n"},
		"Windows-1252, begins so":     {search.Pattern{Text: `a`}, search.Want{}, "\xffa\n", "1:\ufffda\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := search.NewSearcher(compile(t, test.pattern), test.want)
			for _, r := range []io.Reader{strings.NewReader(test.text), iotest.OneByteReader(strings.NewReader(test.text)), iotest.DataErrReader(strings.NewReader(test.text))} {
				found, err := s.Search(t.Context(), r)
				if err != nil || found.Binary || found.TooLong {
					t.Errorf("got %+v, %v", found, err)
				}
				if diff := cmp.Diff(test.lines, show(found)); diff != "" {
					t.Error(diff)
				}
				if matches := strings.Count(show(found), ":"); !test.want.CountOnly && found.Matches != matches {
					t.Errorf("says %d matching lines, shows %d", found.Matches, matches)
				}
			}
		})
	}
	if found := find(t, search.Pattern{Text: "e"}, search.Want{CountOnly: true}, text); found.Matches != 4 {
		t.Errorf("counted %d lines, want 4", found.Matches)
	}
}

func TestCompileRefuses(t *testing.T) {
	for text, words := range map[string]string{
		`(`:       "missing closing )",
		`a(?=b)`:  "RE2, without look-around",
		`a\nb`:    "unless multiline is set",
		`a{9999}`: "invalid repeat count",
	} {
		if _, err := search.Compile(search.Pattern{Text: text}); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: got %v, want %q in it", text, err, words)
		}
	}
	for _, text := range []string{`[^a]`, `a\n?b`, `\s`} {
		if _, err := search.Compile(search.Pattern{Text: text}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Matches and context lines do not depend on the boundaries of windows.
func TestSearchOfLongTexts(t *testing.T) {
	var b strings.Builder
	for i := 1; i <= 200_000; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	var want strings.Builder
	for i := 1000; i <= 200_000; i += 1000 {
		fmt.Fprintf(&want, "%d-line %d\n%d-line %d\n%d:line %d\n", i-2, i-2, i-1, i-1, i, i)
		if i < 200_000 {
			fmt.Fprintf(&want, "%d-line %d\n", i+1, i+1)
		}
	}
	for _, pattern := range []string{`000$`, `[0]{3}$`} {
		if diff := cmp.Diff(want.String(), show(find(t, search.Pattern{Text: pattern}, search.Want{Before: 2, After: 1}, b.String()))); diff != "" {
			t.Errorf("%s: %s", pattern, diff)
		}
	}
}

func TestSearchOfLongLines(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	found := find(t, search.Pattern{Text: "needle"}, search.Want{Before: 1}, "first\n"+long+"\n"+long+"needle"+long+"\nlast needle\n")
	// The context line is too long to be kept.
	if len(found.Lines) != 2 || found.Matches != 2 || found.TooLong {
		t.Fatalf("got %d lines, %d matches", len(found.Lines), found.Matches)
	}
	if line := found.Lines[0]; line.Number != 3 || !strings.Contains(line.Text, "xneedlex") || len(line.Text) > 420 || !strings.HasPrefix(line.Text, "…") || !strings.HasSuffix(line.Text, "…") {
		t.Errorf("got line %d, %q", line.Number, line.Text)
	}
	huge := strings.Repeat("x", 9<<20)
	if found := find(t, search.Pattern{Text: "needle"}, search.Want{}, "a needle\n"+huge+"\nneedle\n"); !found.TooLong || found.Matches != 1 {
		t.Errorf("a line of 9 MiB: got %d matches, too long: %v", found.Matches, found.TooLong)
	}
	if found := find(t, search.Pattern{Text: "needle", Multiline: true}, search.Want{}, "needle\n"+huge); !found.TooLong {
		t.Errorf("over lines of 9 MiB: got %+v", found)
	}
}

func TestBinariesAreNotSearched(t *testing.T) {
	for text, binary := range map[string]bool{"needle\x00": true, "\x7fELF\x02needle\x00\n": true, "\x89PNG\r\n\x1a\nneedle": false, "needle\n" + strings.Repeat("text\n", 1e5) + "\x00": false} {
		found := find(t, search.Pattern{Text: "needle"}, search.Want{}, text)
		if found.Binary != binary || binary == (found.Matches == 1) {
			t.Errorf("%.20q: got %+v", text, found)
		}
	}
}

func TestSearchEnds(t *testing.T) {
	s := search.NewSearcher(compile(t, search.Pattern{Text: "x"}), search.Want{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Search(ctx, strings.NewReader("x")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Search(t.Context(), iotest.ErrReader(io.ErrUnexpectedEOF)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
	// An earlier search does not affect a later one.
	if found, err := s.Search(t.Context(), strings.NewReader("a\nx\n")); err != nil || show(found) != "2:x\n" {
		t.Errorf("got %q, %v", show(found), err)
	}
}

// For every pattern, the result equals that of the regular expression applied line by line.
func FuzzSearch(f *testing.F) {
	f.Add("a|bc", "a\nbc\r\n\nabc", false, 1, 1)
	f.Add("task", "TASK\nta\u017f\u212a", true, 0, 2)
	f.Add("(foo|ba+r){2}x?", "foobar\nfoofoox\n", false, 2, 0)
	f.Add("^$|k+", "\n\nK\n", true, 1, 0)
	f.Add(`\bab?\b`, "a b\nab\n\xff", true, 1, 0)
	f.Fuzz(func(t *testing.T, pattern, text string, ignoreCase bool, before, after int) {
		m, err := search.Compile(search.Pattern{Text: pattern, IgnoreCase: ignoreCase})
		if err != nil || before < 0 || after < 0 || before > 5 || after > 5 {
			return
		}
		if strings.ContainsRune(text, 0) || strings.HasPrefix(text, "\xef") || strings.HasPrefix(text, "\xfe") || strings.HasPrefix(text, "\xff") || strings.IndexFunc(pattern, func(r rune) bool { return r >= 0x80 }) >= 0 {
			return // the text is decoded first
		}
		found, err := search.NewSearcher(m, search.Want{Before: before, After: after}).Search(t.Context(), strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if ignoreCase {
			pattern = "(?i:" + pattern + ")"
		}
		re, err := regexp.Compile(pattern)
		if err != nil {
			return
		}
		if want := naively(re, text, before, after); show(found) != want {
			t.Fatalf("%q in %q: got\n%s\nwant\n%s", pattern, text, show(found), want)
		}
	})
}

// naively is a simple reference implementation.
func naively(re *regexp.Regexp, text string, before, after int) string {
	lines := strings.Split(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	marks := make([]byte, len(lines))
	for i, line := range lines {
		lines[i] = strings.TrimSuffix(line, "\r")
		if !re.MatchString(lines[i]) {
			continue
		}
		for at := max(0, i-before); at <= min(i+after, len(lines)-1); at++ {
			if marks[at] == 0 {
				marks[at] = '-'
			}
		}
		marks[i] = ':'
	}
	var b strings.Builder
	for i, line := range lines {
		if marks[i] != 0 {
			if len(line) > 400 {
				return "" // long lines are truncated
			}
			fmt.Fprintf(&b, "%d%c%s\n", i+1, marks[i], strings.ToValidUTF8(line, "\uFFFD"))
		}
	}
	return b.String()
}
