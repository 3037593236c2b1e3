package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/tool"
)

func newUpgradeCommand(p cli.Process) *cobra.Command {
	return newExchangeCommand(p, exchange{
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
