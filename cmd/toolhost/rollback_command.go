package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/tool"
)

func newRollbackCommand(p cli.Process) *cobra.Command {
	return newExchangeCommand(p, exchange{
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
