package operate

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/terminal/configfile"
)

// NewConfigDiffCommand returns the command `config diff`.
func NewConfigDiffCommand(p cli.Process) *cobra.Command {
	conn := Connection{Process: p}
	var format cli.Format
	cmd := &cobra.Command{
		Use:   "diff",
		Short: "Show what `toolhost reload` would change in the configuration",
		Long: "Diff compares the configuration file of a running toolhost with the configuration in force. It prints each setting\n" +
			"that differs with both values, and which of them need a restart. It hides values of variables, which may be secret.\n" +
			"It changes nothing. It exits with 0 if nothing differs, with 1 if something does, and with 2 if toolhost would\n" +
			"refuse the file. With -o json it prints an object: file, keys, changes (key, old, new, restart), and problem.",
		Example: "  toolhost config diff",
		Args:    cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return conn.With(func(c *client.Client) error { return diffConfiguration(cmd.Context(), c, p, format.JSON()) })
		},
	}
	conn.AddFlag(cmd.Flags())
	format.AddFlag(cmd.Flags())
	return cmd
}

func diffConfiguration(ctx context.Context, c *client.Client, p cli.Process, asJSON bool) error {
	change, err := c.Admin().DiffConfiguration(ctx)
	if err != nil {
		return err
	}
	diff := configfile.Diff{File: change.File, Problem: change.Problem}
	for _, s := range change.Changes {
		diff.Changes = append(diff.Changes, configfile.Change(s))
	}
	if asJSON {
		if err := cli.WriteJSON(p.Stdout, change); err != nil {
			return err
		}
	} else if _, err := fmt.Fprint(p.Out(), diff.Text()); err != nil {
		return err
	}
	return diff.Exit(cli.Toolhost)
}
