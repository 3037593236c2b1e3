package operate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// NewReloadCommand returns the command `reload`.
func NewReloadCommand(p cli.Process) *cobra.Command {
	conn := Connection{Process: p}
	var format cli.Format
	cmd := &cobra.Command{
		Use:   "reload",
		Short: "Apply a changed toolhost.yaml, and look at the plugin folders again",
		Long: "Reload lets toolhost apply the changes of its configuration file. Calls that have begun keep the configuration that\n" +
			"they began with; plugins whose grants, limits or variables have changed get new processes, and no call fails. A file\n" +
			"with an error changes nothing: reload prints the error with its line and column, and exits with 2. It names settings\n" +
			"that need a restart of toolhost; docs/configuration.md lists them. `toolhost config diff` shows the changes before.\n" +
			"Then toolhost looks at its plugin folders: new plugins come, those whose files are gone go, and those whose files\n" +
			"have changed are upgraded without a failed call. Reload returns when that is decided for each. What cannot be taken\n" +
			"over is said, what was there before stays, and the exit code is 3.\n" +
			"With -o json it prints an object: added, removed, upgraded, failures, each with plugin and reason, and, if\n" +
			"toolhost.yaml has changed, configuration with file, changes (key, old, new, restart), and problem.",
		Example: "  toolhost reload",
		Args:    cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return conn.Change(func(c *client.Client) error {
				return reload(cmd.Context(), c, p, format.JSON())
			})
		},
	}
	conn.AddFlag(cmd.Flags())
	format.AddFlag(cmd.Flags())
	return cmd
}

func reload(ctx context.Context, c *client.Client, p cli.Process, asJSON bool) error {
	done, err := c.Admin().Reload(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		err = cli.WriteJSON(p.Stdout, tool.Reloaded{
			Added: append([]string{}, done.Added...), Removed: append([]string{}, done.Removed...),
			Upgraded: append([]string{}, done.Upgraded...), Failures: append([]tool.ReloadFailure{}, done.Failures...),
			Configuration: done.Configuration,
		})
	} else {
		_, err = fmt.Fprintln(p.Out(), reloadText(done))
	}
	if err != nil {
		return err
	}
	if c := done.Configuration; c != nil && c.Problem != "" {
		return &cli.ExitError{Code: cli.ExitUsage, Err: fmt.Errorf("%s is not in force, and changes nothing: %s", configurationFile(c), c.Problem)}
	}
	if len(done.Failures) == 0 {
		return nil
	}
	var reasons []string
	for _, f := range done.Failures {
		reasons = append(reasons, cli.OneLine(fmt.Sprintf("%s: %s", f.Plugin, cli.ShortenDigests(f.Reason))))
	}
	return &cli.ExitError{Code: cli.ExitInfrastructure, Err: fmt.Errorf("%s not taken over; what was there before stays\n  %s",
		cli.Were(cli.Count(len(done.Failures), "plugin"), len(done.Failures)), strings.Join(reasons, "\n  "))}
}

// reloadText returns the result of a reload, one line for the plugin folders, and up to two for the
// configuration.
func reloadText(done tool.Reloaded) string {
	var parts []string
	for _, part := range []struct {
		what    string
		plugins []string
	}{{"added", done.Added}, {"removed", done.Removed}, {"upgraded", done.Upgraded}} {
		if len(part.plugins) > 0 {
			parts = append(parts, part.what+" "+strings.Join(part.plugins, ", "))
		}
	}
	if len(parts) == 0 {
		parts = []string{"nothing changed in the plugin folders"}
	}
	c := done.Configuration
	if c != nil && c.Problem != "" {
		return "the configuration stays; the plugin folders were read again: " + strings.Join(parts, "; ")
	}
	text := "reloaded: " + strings.Join(parts, "; ")
	if c != nil {
		text += configurationText(c)
	}
	return text
}

// configurationText returns a line with the keys that are in force now, and a line with those that
// need a restart.
func configurationText(c *tool.ConfigurationChange) string {
	var applied, pending []string
	for _, s := range c.Changes {
		if s.Restart {
			pending = append(pending, s.Key)
		} else {
			applied = append(applied, s.Key)
		}
	}
	applied, pending = slices.Compact(applied), slices.Compact(pending) // a list has a change for each element
	text := ""
	if len(applied) > 0 {
		text += "\n" + cli.OneLine("in force from "+configurationFile(c)+": "+strings.Join(applied, ", "))
	}
	if len(pending) > 0 {
		text += "\n" + cli.OneLine("note: restart toolhost to apply "+strings.Join(pending, ", "))
	}
	return text
}

// configurationFile returns the path of the file, or what it is called without one.
func configurationFile(c *tool.ConfigurationChange) string {
	return cmp.Or(c.File, "the configuration")
}
