package commands

import (
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/markdown"
	"github.com/toolhost/toolhost/server/internal/terminal"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// folds returns a display on a terminal whose width the test changes, and what it writes.
func folds(wide *int) (*textDisplay, *strings.Builder) {
	d := newTextDisplay(cli.Process{Getenv: func(string) string { return "" }})
	shown := &strings.Builder{}
	d.out, d.block = shown, &terminal.Block{Size: func() (int, int) { return *wide, 24 }}
	return d, shown
}

// A line that is too long goes on between two words, with its indentation and its mark.
func TestLinesGoOnBetweenWords(t *testing.T) {
	for _, tt := range []struct {
		text string
		wide int
		want []string
	}{
		{"short", 20, []string{"short"}},
		{"exactly twenty chars", 20, []string{"exactly twenty chars"}},
		{"! one two three four five", 14, []string{"! one two", "  three four", "  five"}},
		{"    key: one two three", 20, []string{"    key: one two", "      three"}},
		{"  │ +one two three four", 14, []string{"  │ +one two", "  │ three four"}},
		{strings.Repeat("x", 25), 12, []string{strings.Repeat("x", 10), "  " + strings.Repeat("x", 10), "  xxxxx"}},
		{"one two three", 4, []string{"one two", "  three"}}, // too narrow for anything
		{"one two three", 0, []string{"one two three"}},
	} {
		d, shown := folds(&tt.wide)
		if err := d.line("", "%s", tt.text); err != nil {
			t.Fatal(err)
		}
		if got := strings.Split(strings.TrimSuffix(shown.String(), "\n"), "\n"); !slices.Equal(got, tt.want) {
			t.Errorf("%q on %d columns: %q", tt.text, tt.wide, got)
		}
		shown.Reset()
		if err := d.command("", "%s", tt.text); err != nil || shown.String() != tt.text+"\n" {
			t.Errorf("the command %q, %v", shown, err)
		}
	}
}

// What is printed after a resize has the new width.
func TestProseFollowsAResize(t *testing.T) {
	wide := 40
	d, shown := folds(&wide)
	d.prose = &markdown.Stream{Screen: cli.Screen{Columns: wide, Color: true}}
	const text = "one two three four five six\n\n"
	for _, want := range []string{"one two three four five six\n", "\none two three four\nfive six\n"} {
		shown.Reset()
		if err := d.text(text); err != nil || shown.String() != want {
			t.Errorf("on %d columns: %q, %v", wide, shown, err)
		}
		wide = 21
	}
}
