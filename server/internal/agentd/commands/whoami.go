package commands

import (
	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// newWhoAmICommand returns the command `auth whoami`.
func newWhoAmICommand(p cli.Process) *cobra.Command {
	at := server{setup: setup{process: p}}
	var format cli.Format
	cmd := &cobra.Command{
		Use:   "whoami",
		Short: "Ask the agentd how it identifies you, and what you may do",
		Long: "Whoami asks the running agentd for the principal of the connection and its tenant and groups, the credential that\n" +
			"identified it, and its roles and rights. Every caller that agentd has identified may ask, also one without a role.\n" +
			"The exit code is 4 if no agentd answers. With -o json it prints one object.",
		Example: "  agentd auth whoami\n  agentd auth whoami --target prod",
		Args:    cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return at.with(cmd.Context(), func(a *client.AgentClient) error {
				caller, err := a.WhoAmI(cmd.Context())
				if err != nil {
					return err
				}
				return cli.WriteCaller(p, program, caller, format.JSON())
			})
		},
	}
	at.addFlags(cmd.Flags())
	format.AddFlag(cmd.Flags())
	return cmd
}
