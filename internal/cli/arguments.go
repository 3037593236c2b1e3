package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// Arguments returns a check that a command has at least and at most so many arguments, which says which is missing, by
// the name that it has in the command's Use, or which is too many. Run adds how the command is used.
func Arguments(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least {
			names := strings.Fields(cmd.Use)[1:]
			return fmt.Errorf("%s is missing", names[len(args)])
		}
		if len(args) > most {
			return fmt.Errorf("%q is one argument too many", args[most])
		}
		return nil
	}
}
