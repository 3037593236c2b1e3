// Package mcp has the command `mcp`: toolhost and the Model Context Protocol.
package mcp

import (
	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// NewCommand returns the command `mcp`.
func NewCommand(p cli.Process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Use servers of the Model Context Protocol, and offer the tools to its clients",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newServeCommand(p), newConnectCommand(p), newLoginCommand(p), newLogoutCommand(p), newStatusCommand(p), newAddCommand(p), newImportCommand(p))
	return cmd
}
