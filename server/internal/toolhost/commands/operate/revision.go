package operate

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// reason is the flag --reason of a command that changes a plugin.
type reason struct{ text string }

// addFlag adds the flag. keeper names what keeps the reason.
func (r *reason) addFlag(flags *pflag.FlagSet, keeper string) {
	flags.StringVar(&r.text, "reason", "", fmt.Sprintf("why, as `TEXT` of at most %d bytes that %s keeps", tool.MaxReason, keeper))
}

// admin returns the Admin that gives the reason.
func (r *reason) admin(c *client.Client) *client.Admin { return c.Admin().Because(r.text) }

// revisionCommand is a command that replaces the executable of one plugin: upgrade or rollback.
type revisionCommand struct {
	use, short, long, example string
	most                      int // of arguments; the first is the plugin
	// do sends the request. args follow the plugin.
	do func(ctx context.Context, a *client.Admin, plugin string, args []string) (tool.Upgraded, error)
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
	var why reason
	cmd := &cobra.Command{
		Use:               x.use,
		Short:             x.short,
		Long:              x.long + "\nWith -o json it prints an object: plugin, digest, previous_digest and changed.",
		Example:           x.example,
		Args:              cli.Arguments(1, x.most),
		ValidArgsFunction: conn.CompletePlugin,
		RunE: func(cmd *cobra.Command, args []string) error {
			return conn.Change(func(c *client.Client) error {
				done, err := x.do(cmd.Context(), why.admin(c), args[0], args[1:])
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
	why.addFlag(cmd.Flags(), "`toolhost revisions` and the audit log")
	conn.AddFlag(cmd.Flags())
	format.AddFlag(cmd.Flags())
	return cmd
}

// NewUpgradeCommand returns the command `upgrade`.
func NewUpgradeCommand(p cli.Process) *cobra.Command {
	return newRevisionCommand(p, revisionCommand{
		use:     "upgrade PLUGIN",
		short:   "Bring a plugin to the executable that is in its folder",
		example: "  toolhost upgrade calculator",
		long: "Upgrade brings a plugin to the executable that is in its folder now, also after a rollback. No call fails: the new\n" +
			"process takes over once it is ready, and the old ones end the calls that they have. If it does not start, the old\n" +
			"ones stay.",
		most: 1,
		do: func(ctx context.Context, a *client.Admin, plugin string, _ []string) (tool.Upgraded, error) {
			return a.Upgrade(ctx, plugin)
		},
		done: "upgraded %s",
		same: "%s runs the executable that is in its folder already",
	})
}

// NewRollbackCommand returns the command `rollback`.
func NewRollbackCommand(p cli.Process) *cobra.Command {
	return newRevisionCommand(p, revisionCommand{
		use:     "rollback PLUGIN [REVISION]",
		short:   "Bring a plugin back to an executable that it had before",
		example: "  toolhost rollback calculator\n  toolhost rollback calculator 3 --reason 'revision 4 rounds down, ticket 812'",
		long: "Rollback brings a plugin back to the executable of a revision, by its number in `toolhost revisions`, without a failed\n" +
			"call. Without REVISION, that is the executable that it had before. That holds, also when toolhost starts again, until\n" +
			"the file changes or upgrade is called.",
		most: 2,
		do: func(ctx context.Context, a *client.Admin, plugin string, args []string) (tool.Upgraded, error) {
			if len(args) == 0 {
				return a.Rollback(ctx, plugin)
			}
			revision, err := strconv.ParseUint(args[0], 10, 64)
			if err != nil || revision == 0 {
				return tool.Upgraded{}, cli.Usage("%q is no revision; use a number of `toolhost revisions %s`", args[0], plugin)
			}
			return a.RollbackTo(ctx, plugin, revision)
		},
		done: "rolled %s back",
		same: "%s runs that executable already",
	})
}
