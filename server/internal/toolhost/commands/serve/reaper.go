package serve

import (
	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/reaper"
)

// reaperCommand is the name of the hidden command with which `serve` runs this program a second
// time, as its reaper.
const reaperCommand = "reaper"

// NewReaperCommand returns the command `reaper`.
func NewReaperCommand() *cobra.Command {
	return &cobra.Command{
		Use:    reaperCommand,
		Short:  "Clean up after a toolhost; `serve` starts it",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(*cobra.Command, []string) error {
			if code := reaper.Main(); code != cli.ExitOK {
				return &cli.ExitError{Code: code}
			}
			return nil
		},
	}
}
