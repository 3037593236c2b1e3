package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/tool"
)

func newPauseCommand(p cli.Process) *cobra.Command {
	return newOrderCommand(p, order{
		use:   "pause",
		short: "Let a plugin take no calls until it is resumed",
		long: "Pause lets a plugin take no new calls: those that wait are refused, and so are new ones; those under way end. Its\n" +
			"processes stay; drain stops them.",
		do:    func(ctx context.Context, c *client.Client, plugin string) error { return c.Admin().Pause(ctx, plugin) },
		done:  "paused %s",
		means: tool.PluginPaused,
	})
}
