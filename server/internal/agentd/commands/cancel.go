package commands

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

func newCancelCommand(p cli.Process) *cobra.Command {
	s := &server{setup: setup{process: p}}
	var reason string
	cmd := &cobra.Command{
		Use:   "cancel RUN",
		Short: "Stop a run of agentd serve",
		Long: "Cancel asks a run to stop. Its calls are cancelled, each still gets its result, and the run ends with the stop reason\n" +
			"cancelled. A run that has ended stays as it is.",
		Example: "  agentd cancel run-k3f6zq7xw2m4n5pa --reason \"wrong folder\"",
		Args:    oneRun("cancel"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.change(cmd.Context(), func(a *client.AgentClient) error {
				if err := a.CancelRun(cmd.Context(), args[0], reason); err != nil {
					return err
				}
				_, err := fmt.Fprintf(p.Out(), "the run %s is asked to stop\n", args[0])
				return err
			})
		},
	}
	s.addFlags(cmd.Flags())
	cmd.Flags().StringVar(&reason, "reason", "", "why, in `WORDS`")
	return cmd
}
