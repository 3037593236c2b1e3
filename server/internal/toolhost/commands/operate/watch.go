package operate

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// NewWatchCommand returns the command `watch`.
func NewWatchCommand(p cli.Process) *cobra.Command {
	conn := Connection{Process: p}
	var format cli.Format
	var key tool.CallKey
	var after uint64
	cmd := &cobra.Command{
		Use:   "watch CALL-ID",
		Short: "Follow a call by its id, and print its result",
		Long: "Watch shows what a call of yours has said so far and what it says until it ends, as `toolhost call --stream` does,\n" +
			"and then its result. The call is neither made nor kept alive by it, and interrupting it does not cancel the call.\n" +
			"The exit code is that of `toolhost call`.",
		Example: "  toolhost watch run-1.turn-2.0\n  toolhost watch run-1.turn-2.0 --after 17 -o json",
		Args:    cli.Arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			key.ID = args[0]
			return conn.WithAny(func(c *client.Client) error {
				return watchCall(cmd.Context(), c, p, key, after, format.JSON())
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&key.Session, "session", "", "the `SESSION` that the call belongs to")
	f.Uint64Var(&after, "after", 0, "only events after the one with this `SEQ`")
	conn.AddFlag(f)
	format.AddFlag(f)
	return cmd
}

func watchCall(ctx context.Context, c *client.Client, p cli.Process, key tool.CallKey, after uint64, asJSON bool) error {
	show := eventPrinter(p, asJSON)
	for event, err := range c.WatchCall(ctx, key, after) {
		switch {
		case err != nil && errors.Is(context.Cause(ctx), context.Canceled):
			return nil // an interrupt is the usual way to leave
		case err != nil:
			return err
		case event.Ended == nil:
			show(event)
			continue
		}
		var failure error
		if event.Ended.Err != nil {
			failure = event.Ended.Err
		}
		name := "" // events do not contain it
		if page, err := c.Admin().Calls(ctx, tool.CallQuery{CallID: key.ID, Session: key.Session, PageSize: 1}); err == nil && len(page.Calls) == 1 {
			name = page.Calls[0].Tool
		}
		if err := showOutcome(p, name, *event.Ended, failure, asJSON, true); err != nil {
			return err
		}
		if event.Ended.Result.IsError {
			return &cli.ExitError{Code: cli.ExitToolError}
		}
	}
	return nil
}
