package commands

import (
	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

func newStatusCommand(p cli.Process) *cobra.Command {
	s := &server{setup: setup{process: p}}
	var format cli.Format
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show whether agentd serve answers, and its version",
		Long: "Status asks the running agentd for its version, its commit and its contracts. `agentd --version` shows those of this\n" +
			"program. The exit code is 4 if no agentd answers. With -o json it prints one object.",
		Args: cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.with(cmd.Context(), func(a *client.AgentClient) error {
				v, err := a.Version(cmd.Context())
				if err != nil {
					return err
				}
				return cli.WriteStatus(p, cli.Status{Program: program, Address: a.Addr(), Server: v}, format.JSON())
			})
		},
	}
	s.addFlags(cmd.Flags())
	format.AddFlag(cmd.Flags())
	return cmd
}
