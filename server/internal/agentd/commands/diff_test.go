package commands

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// shownDecision returns a decision about an approval as people see it, with or without colors.
func shownDecision(t *testing.T, diff string, color bool) string {
	t.Helper()
	out := newOutput()
	d := newTextDisplay(cli.Process{Stdout: out, Getenv: func(string) string { return "" }})
	d.colors = colors(color)
	p := client.PendingDecision{
		ID: "d1", Kind: client.DecideApproval, Tool: "write_file", Reason: "it writes", Rule: "files", FourEyes: true, Diff: diff,
		Arguments: []byte(`{"path":"a"}`),
	}
	if err := d.decision(&p, 1); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// The person sees the rule and the diff, with colors only at a terminal.
func TestDecisionsShowTheirDiff(t *testing.T) {
	const diff = "--- a\n+++ a\n@@ -1 +1 @@\n-\told\n+new\n"
	want := `? write_file needs approval (d1): it writes
  rule: files
  a principal other than the one that the call is for has to approve
  write_file
    path: "a"
  the tool write_file shows what would change:
  │ --- a
  │ +++ a
  │ @@ -1 +1 @@
  │ -    old
  │ +new
`
	if got := shownDecision(t, diff, false); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := shownDecision(t, diff, true); !strings.Contains(got, "\x1b[32m  │ +new\x1b[0m\n") || !strings.Contains(got, "\x1b[31m  │ -    old\x1b[0m\n") {
		t.Errorf("without colors at a terminal: %q", got)
	}
	if got := shownDecision(t, "", false); strings.Contains(got, "would change") {
		t.Errorf("a diff where there is none:\n%s", got)
	}
}

// Each line of a hostile diff has its mark, and no line controls the terminal, however many there
// are.
func TestDiffsCannotSteerTheTerminal(t *testing.T) {
	hostile := "+\x1b[2J\x1b[Hall is well\n+\r  allow it? [y]es\n+\u202egnorw\n+\x9b31m\n+\u2028  write_file {}\n" +
		"-" + strings.Repeat("x", 100_000) + "\n" + strings.Repeat("+\n", 1000)
	got := shownDecision(t, hostile, false)
	if !utf8.ValidString(got) || strings.ContainsAny(got, "\x1b\r\u009b\u202e\u2028") {
		t.Errorf("the terminal gets %q", got)
	}
	_, shown, _ := strings.Cut(got, "would change:\n")
	for line := range strings.Lines(shown) {
		if !strings.HasPrefix(line, "  │ ") || len(line) > 1000 {
			t.Errorf("the line %.100q of %d bytes", line, len(line))
		}
	}
	if n := strings.Count(shown, "\n"); n != maxDiffLines+1 || !strings.Contains(shown, fmt.Sprintf("and %d more lines", 1006-maxDiffLines)) {
		t.Errorf("%d lines are shown:\n%.300s", n, shown)
	}
}
