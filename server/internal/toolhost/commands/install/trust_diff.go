package install

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/trust"
)

// changes returns a unified diff of a file, with escapes, because a tool may have written the file.
func changes(path, before, after string) string {
	var b strings.Builder
	for line := range strings.Lines(string(diff.Diff(path+" (trusted)", []byte(before), path, []byte(after)))) {
		b.WriteString(cli.OneLine(strings.TrimRight(line, "\n")) + "\n")
	}
	return b.String()
}

// definitionDiff returns the lines of a unified diff of the definitions of a tool. It returns none
// if the new definition is not recorded as text.
func definitionDiff(name, before, after string) []string {
	if after == "" || before == after {
		return nil
	}
	return strings.Split(strings.TrimRight(changes(name, before, after), "\n"), "\n")
}

// exactly returns a line with the command that trusts what was shown and nothing that is there
// later; empty if nothing waits for trust.
func exactly(name, state, digest string) string {
	if digest == "" || state != "new" && state != "changed" {
		return ""
	}
	return fmt.Sprintf("to trust exactly this: toolhost trust %s --digest %s\n", cli.OneLine(name), digest)
}

func (v *trustView) text(look bool) string {
	var b strings.Builder
	for _, f := range v.Files {
		fmt.Fprintf(&b, "%s %s", f.State, cli.OneLine(f.Path))
		if f.Digest != "" {
			fmt.Fprintf(&b, " (%s)", cli.ShortDigest(f.Digest))
		}
		b.WriteByte('\n')
		if look {
			b.WriteString(f.Diff)
			b.WriteString(exactly(trust.Quote(f.Path), f.State, f.Digest))
		}
	}
	for _, p := range v.Plugins {
		b.WriteString(p.text())
		if look {
			b.WriteString(exactly(p.Plugin, p.State, p.Digest))
		}
	}
	if v.note != "" {
		fmt.Fprintln(&b, v.note)
	}
	if len(v.Files)+len(v.Plugins) == 0 {
		b.WriteString(cmp.Or(v.nothing, "nothing is trusted yet") + "\n")
	}
	return b.String()
}
