package configfile

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// Diff is how the configuration file of a running server differs from the configuration in force.
type Diff struct {
	File    string   `json:"file"` // empty: the server has none
	Changes []Change `json:"changes"`
	Problem string   `json:"problem,omitempty"` // why the server would refuse the file; empty: it would not
}

// Change is a setting with its values; an empty value means that there is none.
type Change struct {
	Key     string `json:"key"`
	Old     string `json:"old"`
	New     string `json:"new"`
	Restart bool   `json:"restart"` // a reload does not apply the change
}

// Text returns the changes for people: those that a reload applies, and then those that need a
// restart.
func (d *Diff) Text() string {
	var b strings.Builder
	if d.Problem != "" {
		return ""
	}
	if len(d.Changes) == 0 {
		return "nothing differs from the configuration in force\n"
	}
	pending := false
	for _, c := range d.Changes {
		pending = pending || c.Restart
		if !c.Restart {
			b.WriteString(c.text())
		}
	}
	if pending {
		b.WriteString("after a restart:\n")
	}
	for _, c := range d.Changes {
		if c.Restart {
			b.WriteString(c.text())
		}
	}
	return b.String()
}

// text returns a change as three lines: the key, and the values with the signs of a diff.
func (c *Change) text() string {
	text := cli.OneLine(c.Key) + "\n"
	if c.Old != "" {
		text += "  - " + cli.OneLine(c.Old) + "\n"
	}
	if c.New != "" {
		text += "  + " + cli.OneLine(c.New) + "\n"
	}
	return text
}

// Exit returns the error with the exit code of `config diff`: nil without changes.
func (d *Diff) Exit(program string) error {
	switch {
	case d.Problem != "":
		return &cli.ExitError{Code: cli.ExitUsage, Err: fmt.Errorf("%s would refuse %s: %s", program, cmp.Or(d.File, "the configuration"), d.Problem)}
	case len(d.Changes) > 0:
		return &cli.ExitError{Code: cli.ExitToolError}
	}
	return nil
}
