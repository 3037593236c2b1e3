package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/cli"
)

func newDrainCommand(p cli.Process) *cobra.Command {
	return newOrderCommand(p, order{
		use:   "drain",
		short: "Let a plugin's processes end their calls, and stop them",
		long: "Drain lets the processes of a plugin end the calls that they have, stops them, and returns when they are gone. New\n" +
			"calls start new processes, unless the plugin is paused: to take a plugin out of use, pause it first. Calls that take\n" +
			"longer than the drain time end with an error.",
		do:   func(ctx context.Context, c *client.Client, plugin string) error { return c.Admin().Drain(ctx, plugin) },
		done: "drained %s: its processes are gone",
	})
}
