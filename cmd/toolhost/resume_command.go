package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/cli"
)

func newResumeCommand(p cli.Process) *cobra.Command {
	return newOrderCommand(p, order{
		use:   "resume",
		short: "Let a paused plugin take calls again",
		long:  "Resume ends a pause.",
		do:    func(ctx context.Context, c *client.Client, plugin string) error { return c.Admin().Resume(ctx, plugin) },
		done:  "resumed %s",
	})
}
