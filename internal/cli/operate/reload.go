package operate

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/tool"
)

// NewReloadCommand returns the command `reload`.
func NewReloadCommand(p cli.Process) *cobra.Command {
	conn := Connection{Process: p}
	var format cli.Format
	cmd := &cobra.Command{
		Use:   "reload",
		Short: "Look at the plugin folders again",
		Long: "Reload lets toolhost look at its plugin folders again: new plugins come, those whose files are gone go, and those\n" +
			"whose files have changed are upgraded without a failed call. It returns when that is decided for each. What cannot\n" +
			"be taken over is said, what was there before stays, and the exit code is 3.\n" +
			"Reload applies no change of toolhost.yaml. It says which top-level keys have changed since toolhost started, or why\n" +
			"toolhost would refuse the file; restart toolhost to apply the change.\n" +
			"With -o json it prints an object: added, removed, upgraded, failures, each with plugin and reason, and, if\n" +
			"toolhost.yaml has changed, configuration with file, and keys or problem.",
		Example: "  toolhost reload",
		Args:    cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return conn.With(func(c *client.Client) error {
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
	if err != nil || len(done.Failures) == 0 {
		return err
	}
	var reasons []string
	for _, f := range done.Failures {
		reasons = append(reasons, cli.OneLine(fmt.Sprintf("%s: %s", f.Plugin, cli.ShortenDigests(f.Reason))))
	}
	return &cli.ExitError{Code: cli.ExitInfrastructure, Err: fmt.Errorf("%s not taken over; what was there before stays\n  %s",
		cli.Were(cli.Count(len(done.Failures), "plugin"), len(done.Failures)), strings.Join(reasons, "\n  "))}
}

// reloadText returns the result of a reload as one line. A second line follows if the configuration
// has changed and is not in force.
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
	text := "reloaded: " + strings.Join(parts, "; ")
	if len(parts) == 0 {
		text = "reloaded: nothing changed in the plugin folders"
	}
	if done.Configuration != nil {
		text += "\n" + staleText(done.Configuration)
	}
	return text
}

// staleText returns, as one line, which changes of the configuration are not in force, and what to
// do.
func staleText(c *tool.ConfigurationChange) string {
	file := c.File
	if file == "" {
		file = "the configuration"
	}
	if c.Problem != "" {
		return cli.OneLine("note: what " + file + " says now is not in force, and toolhost would refuse to start with it: " + c.Problem)
	}
	return "note: " + file + " has changed since toolhost started (" + strings.Join(c.Keys, ", ") + "); restart toolhost to apply it"
}
