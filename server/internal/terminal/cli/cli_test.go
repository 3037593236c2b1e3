package cli_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/version"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

func TestRunExitsWithTheCodeOfTheFailure(t *testing.T) {
	crash := &tool.Error{
		Kind: tool.KindCrashed, Message: "it fell over",
		Exit: &tool.Exit{Code: 2, LastStderr: []string{"panic: \x1b[31mboom"}},
	}
	tests := []struct {
		name   string
		err    error
		args   []string
		code   int
		stderr string
	}{
		{"nothing", nil, nil, 0, ""},
		{"silent", &cli.ExitError{Code: 1}, nil, 1, ""},
		{"usage", cli.Usage("use %d", 7), nil, 2, "prog: use 7\n"},
		{"any", errors.New("the disk is full"), nil, 3, "prog: the disk is full\n"},
		{"infrastructure", tool.Errorf(tool.KindDenied, "no"), nil, 3, "prog: denied: no\n"},
		{"crash", crash, nil, 3, "prog: crashed: it fell over\nthe plugin's process ended: exit code 2\n  panic: \\x1b[31mboom\n"},
		{"no server", tool.Errorf(tool.KindUnavailable, "nobody: %w", client.ErrNoServer), nil, 4, "prog: nobody: no server answers\n"},
		{"lost", tool.Errorf(tool.KindOutcomeUnknown, "lost: %w", client.ErrNoServer), nil, 3, "prog: outcome_unknown: lost: no server answers\n"},
		{"argument", nil, []string{"x"}, 2, "prog: unknown command \"x\" for \"prog\"\nusage: prog [flags]; see `prog --help`\n"},
		{"version", errors.New("it ran"), []string{"--version"}, 0, cli.VersionText("prog", version.Info()) + "\n"},
		{"flag", nil, []string{"--x"}, 2, "prog: unknown flag: --x\nthe flags of `prog` are --help, --output, --version; see `prog --help`\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			cmd := &cobra.Command{Use: "prog", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error { return test.err }}
			var format cli.Format
			format.AddFlag(cmd.Flags())
			var stderr bytes.Buffer
			code := cli.Run(t.Context(), cmd, cli.Process{
				Args: test.args, Getenv: func(string) string { return "" }, Stdin: strings.NewReader(""), Stdout: &stderr, Stderr: &stderr,
			})
			if code != test.code || stderr.String() != test.stderr {
				t.Errorf("exit %d and %q, want %d and %q", code, stderr.String(), test.code, test.stderr)
			}
		})
	}
}

func TestTableIsAlignedAndOneLinePerRow(t *testing.T) {
	var b bytes.Buffer
	err := cli.WriteTable(&b, cli.Screen{}, []string{"A", "B"}, [][]string{{"long\ncell\x1b", "x"}, {"é", ""}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "A              B\nlong cell\\x1b  x\né\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestWordsForPeople(t *testing.T) {
	for got, want := range map[string]string{
		cli.Clip("  short ", 10):         "short",
		cli.Clip("two\nlines", 10):       "two…",
		cli.Clip("häßlich long text", 9): "häßlich…",
		cli.Size(0):                      "-",
		cli.Size(1536):                   "1.5 KiB",
		cli.Size(12 << 20):               "12.0 MiB",
		cli.Size(3 << 30):                "3.0 GiB",
		cli.Age(-time.Second):            "0s",
		cli.Age(59 * time.Second):        "59s",
		cli.Age(192 * time.Second):       "3m12s",
		cli.Age(90 * time.Minute):        "1h30m",
		cli.Age(52 * time.Hour):          "2d4h",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
