package operate

import (
	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/cli"
)

// NewStatusCommand returns the command `status`.
func NewStatusCommand(p cli.Process) *cobra.Command {
	conn := Connection{Process: p}
	var format cli.Format
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show whether toolhost answers, and its version",
		Long: "Status asks the running toolhost for its version, its commit and its contracts. `toolhost --version` shows those of\n" +
			"this program. The exit code is 4 if no toolhost answers. With -o json it prints one object.",
		Args: cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return conn.With(func(c *client.Client) error {
				v, err := c.Version(cmd.Context())
				if err != nil {
					return err
				}
				return cli.WriteStatus(p, cli.Status{Program: cli.Toolhost, Address: c.Addr(), Server: v}, format.JSON())
			})
		},
	}
	conn.AddFlag(cmd.Flags())
	format.AddFlag(cmd.Flags())
	return cmd
}
