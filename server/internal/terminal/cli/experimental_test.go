package cli_test

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// The help marks an experimental command and the commands below it, and no other one.
func TestMarkExperimental(t *testing.T) {
	run := func(*cobra.Command, []string) {}
	root := &cobra.Command{Use: "program"}
	group := &cobra.Command{Use: "group", Short: "Do things"}
	below := &cobra.Command{Use: "below", Short: "Do a thing", Long: "It does a thing.", Run: run}
	other := &cobra.Command{Use: "other", Short: "Do another thing", Run: run}
	group.AddCommand(below)
	root.AddCommand(group, other)
	cli.MarkExperimental(root, "group")
	if !cli.Experimental(group) || !cli.Experimental(below) || cli.Experimental(other) || cli.Experimental(root) {
		t.Error("other commands are marked than the group and what is below it")
	}
	if !strings.Contains(root.UsageString(), "Do things (experimental)\n") || !strings.Contains(root.UsageString(), "Do another thing\n") {
		t.Errorf("the help of the program is\n%s", root.UsageString())
	}
	if !strings.Contains(below.Long, "experimental") {
		t.Errorf("the help of the command is %q", below.Long)
	}
	defer func() {
		if recover() == nil {
			t.Error("a command that does not exist can be marked")
		}
	}()
	cli.MarkExperimental(root, "group nothing")
}
