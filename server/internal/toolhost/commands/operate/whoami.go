package operate

import (
	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// NewWhoAmICommand returns the command `auth whoami`.
func NewWhoAmICommand(p cli.Process) *cobra.Command {
	conn := Connection{Process: p}
	var format cli.Format
	cmd := &cobra.Command{
		Use:   "whoami",
		Short: "Ask the toolhost how it identifies you, and what you may do",
		Long: "Whoami asks the running toolhost for the principal of the connection and its tenant and groups, the credential that\n" +
			"identified it, and its roles and rights. Every caller that toolhost has identified may ask, also one without a role.\n" +
			"The exit code is 4 if no toolhost answers. With -o json it prints one object.",
		Example: "  toolhost auth whoami\n  toolhost auth whoami --target prod",
		Args:    cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return conn.With(func(c *client.Client) error {
				caller, err := c.WhoAmI(cmd.Context())
				if err != nil {
					return err
				}
				return cli.WriteCaller(p, cli.Toolhost, caller, format.JSON())
			})
		},
	}
	conn.AddFlag(cmd.Flags())
	format.AddFlag(cmd.Flags())
	return cmd
}
