package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/tool"
)

// exchange is a command that brings another executable of one plugin into service: upgrade or rollback.
type exchange struct {
	use, short, long string
	// do exchanges.
	do func(ctx context.Context, c *client.Client, plugin string) (tool.Upgraded, error)
	// done and same say what was done, and that nothing was to do; %s is the plugin.
	done, same string
}

// exchangeView is what an exchange did, as -o json prints it.
type exchangeView struct {
	Plugin string `json:"plugin"`
	tool.Upgraded
	Changed bool `json:"changed"`
}

func newExchangeCommand(p cli.Process, x exchange) *cobra.Command {
	conn := connection{process: p}
	var format cli.Format
	cmd := &cobra.Command{
		Use:               x.use + " PLUGIN",
		Short:             x.short,
		Long:              x.long + "\nWith -o json it prints an object: plugin, digest, previous_digest and changed.",
		Example:           "  toolhost " + x.use + " calculator",
		Args:              cli.Arguments(1, 1),
		ValidArgsFunction: conn.completePlugin,
		RunE: func(cmd *cobra.Command, args []string) error {
			return conn.with(func(c *client.Client) error {
				done, err := x.do(cmd.Context(), c, args[0])
				if err != nil {
					return err
				}
				changed := done.Digest != done.PreviousDigest
				if format.JSON() {
					return cli.WriteJSON(p.Stdout, exchangeView{Plugin: args[0], Upgraded: done, Changed: changed})
				}
				says := fmt.Sprintf(x.same+": %s", args[0], shortDigest(done.Digest))
				if changed {
					says = fmt.Sprintf(x.done+": from %s to %s", args[0], shortDigest(done.PreviousDigest), shortDigest(done.Digest))
				}
				_, err = fmt.Fprintln(p.Out(), says)
				return err
			})
		},
	}
	conn.addFlag(cmd.Flags())
	format.AddFlag(cmd.Flags())
	return cmd
}
