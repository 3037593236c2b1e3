package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// Arguments returns a check of the number of arguments. The error names the first missing argument,
// by its name in Use, or the first extra one. Run adds the usage.
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
