package operate

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// NewRestartCommand returns the command `restart`.
func NewRestartCommand(p cli.Process) *cobra.Command {
	conn := Connection{Process: p}
	var format cli.Format
	var rolling, force bool
	var why reason
	cmd := &cobra.Command{
		Use:   "restart PLUGIN",
		Short: "Replace a plugin's processes",
		Long: "Restart starts a new process of a plugin. Once it is ready it takes the new calls, and the old processes end the\n" +
			"calls that they have and stop. If the new process does not start, the old ones stay. With --force the old\n" +
			"processes are stopped at once, whatever they do, and their calls end with an error. It also ends a quarantine or\n" +
			"the wait after a crash.\n" +
			"With -o json it prints an object: plugin, and the instances that were stopped and started.",
		Example:           "  toolhost restart calculator",
		Args:              cli.Arguments(1, 1),
		ValidArgsFunction: conn.CompletePlugin,
		RunE: func(cmd *cobra.Command, args []string) error {
			if rolling && force {
				return cli.Usage("--rolling and --force exclude each other; use --force to end calls at once")
			}
			return conn.Change(func(c *client.Client) error {
				return restart(cmd.Context(), why.admin(c), p, args[0], force, format.JSON())
			})
		},
	}
	cmd.Flags().BoolVar(&rolling, "rolling", false, "start the new process first and let calls end in the old ones (the default)")
	cmd.Flags().BoolVar(&force, "force", false, "stop the old processes at once, whatever they do")
	why.addFlag(cmd.Flags(), "`toolhost why` and the audit log")
	conn.AddFlag(cmd.Flags())
	format.AddFlag(cmd.Flags())
	return cmd
}

// restartView is the result of a restart, as -o json prints it.
type restartView struct {
	Plugin string `json:"plugin"`
	tool.Restarted
}

func restart(ctx context.Context, a *client.Admin, p cli.Process, plugin string, force, asJSON bool) error {
	done, err := a.Restart(ctx, plugin, force)
	if err != nil {
		return err
	}
	if asJSON {
		return cli.WriteJSON(p.Stdout, restartView{
			Plugin:    plugin,
			Restarted: tool.Restarted{Stopped: append([]string{}, done.Stopped...), Started: append([]string{}, done.Started...)},
		})
	}
	_, err = fmt.Fprintf(p.Out(), "restarted %s: stopped %s, started %s\n", plugin, list(done.Stopped), list(done.Started))
	return err
}

func list(ids []string) string {
	if len(ids) == 0 {
		return "none"
	}
	return strings.Join(ids, ", ")
}
