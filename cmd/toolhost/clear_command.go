package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/cli"
)

func newClearCommand(p cli.Process) *cobra.Command {
	return newOrderCommand(p, order{
		use:   "clear",
		short: "Let a plugin that crashed too often take calls again",
		long: "Clear ends the quarantine of a plugin that crashed too often, or the wait before its next start, and forgets the\n" +
			"crashes that led to it. The next call starts it.",
		do: func(ctx context.Context, c *client.Client, plugin string) error {
			return c.Admin().ClearQuarantine(ctx, plugin)
		},
		done: "cleared %s",
	})
}
