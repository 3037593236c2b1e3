package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/tool"
)

func newCancelCommand(p cli.Process) *cobra.Command {
	conn := connection{process: p}
	var format cli.Format
	var key tool.CallKey
	var reason string
	cmd := &cobra.Command{
		Use:   "cancel CALL-ID",
		Short: "Stop a call by its id",
		Long: "Cancel asks a call of yours to stop, whoever made or follows it, and does not wait until it has: `toolhost watch` shows\n" +
			"how it ended. A tool that does not stop within a few seconds loses its process. A call that has ended stays as it is.",
		Example: "  toolhost cancel run-1.turn-2.0 --reason 'wrong folder'",
		Args:    cli.Arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			key.ID = args[0]
			return conn.with(func(c *client.Client) error {
				if err := c.CancelCall(cmd.Context(), key, reason); err != nil {
					return err
				}
				if format.JSON() {
					return cli.WriteJSON(p.Stdout, map[string]string{"call_id": key.ID})
				}
				_, err := fmt.Fprintf(p.Stdout, "%s was told to stop\n", key.ID)
				return err
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&key.Session, "session", "", "the `SESSION` that the call belongs to")
	f.StringVar(&reason, "reason", "", "why, in `WORDS`, for whoever follows the call")
	conn.addFlag(f)
	format.AddFlag(f)
	return cmd
}
