package operate

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/tool"
)

// revisionCommand is a command that replaces the executable of one plugin: upgrade or rollback.
type revisionCommand struct {
	use, short, long string
	// do sends the request.
	do func(ctx context.Context, c *client.Client, plugin string) (tool.Upgraded, error)
	// done is the message after a change, and same the message if nothing changed. %s is the
	// plugin.
	done, same string
}

// revisionView is the result, as -o json prints it.
type revisionView struct {
	Plugin string `json:"plugin"`
	tool.Upgraded
	Changed bool `json:"changed"`
}

func newRevisionCommand(p cli.Process, x revisionCommand) *cobra.Command {
	conn := Connection{Process: p}
	var format cli.Format
	cmd := &cobra.Command{
		Use:               x.use + " PLUGIN",
		Short:             x.short,
		Long:              x.long + "\nWith -o json it prints an object: plugin, digest, previous_digest and changed.",
		Example:           "  toolhost " + x.use + " calculator",
		Args:              cli.Arguments(1, 1),
		ValidArgsFunction: conn.CompletePlugin,
		RunE: func(cmd *cobra.Command, args []string) error {
			return conn.Change(func(c *client.Client) error {
				done, err := x.do(cmd.Context(), c, args[0])
				if err != nil {
					return err
				}
				changed := done.Digest != done.PreviousDigest
				if format.JSON() {
					return cli.WriteJSON(p.Stdout, revisionView{Plugin: args[0], Upgraded: done, Changed: changed})
				}
				says := fmt.Sprintf(x.same+": %s", args[0], cli.ShortDigest(done.Digest))
				if changed {
					says = fmt.Sprintf(x.done+": from %s to %s", args[0], cli.ShortDigest(done.PreviousDigest), cli.ShortDigest(done.Digest))
				}
				_, err = fmt.Fprintln(p.Out(), says)
				return err
			})
		},
	}
	conn.AddFlag(cmd.Flags())
	format.AddFlag(cmd.Flags())
	return cmd
}

// NewUpgradeCommand returns the command `upgrade`.
func NewUpgradeCommand(p cli.Process) *cobra.Command {
	return newRevisionCommand(p, revisionCommand{
		use:   "upgrade",
		short: "Bring a plugin to the executable that is in its folder",
		long: "Upgrade brings a plugin to the executable that is in its folder now, also after a rollback. No call fails: the new\n" +
			"process takes over once it is ready, and the old ones end the calls that they have. If it does not start, the old\n" +
			"ones stay.",
		do: func(ctx context.Context, c *client.Client, plugin string) (tool.Upgraded, error) {
			return c.Admin().Upgrade(ctx, plugin)
		},
		done: "upgraded %s",
		same: "%s runs the executable that is in its folder already",
	})
}

// NewRollbackCommand returns the command `rollback`.
func NewRollbackCommand(p cli.Process) *cobra.Command {
	return newRevisionCommand(p, revisionCommand{
		use:   "rollback",
		short: "Bring a plugin back to the executable that it had before",
		long: "Rollback brings a plugin back to the executable that it had before, without a failed call. That holds, also when\n" +
			"toolhost starts again, until the file changes or upgrade is called.",
		do: func(ctx context.Context, c *client.Client, plugin string) (tool.Upgraded, error) {
			return c.Admin().Rollback(ctx, plugin)
		},
		done: "rolled %s back",
		same: "%s runs the executable that it had before already",
	})
}
