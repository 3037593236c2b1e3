package main

import (
	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/internal/plugin/reaper"
)

// guardianCommand is the hidden command by which `serve` runs this program a second time, as its guardian.
const guardianCommand = "guardian"

func newGuardianCommand() *cobra.Command {
	return &cobra.Command{
		Use:    guardianCommand,
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
