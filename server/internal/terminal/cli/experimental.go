package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// experimental is the annotation of a command that docs/stability.md does not promise.
const experimental = "experimental"

// MarkExperimental marks commands of root, and all commands below them, as experimental: a minor
// release may change or remove them. A path is the name of a command without that of the program,
// such as "target add". The help says so. MarkExperimental panics if there is no such command.
func MarkExperimental(root *cobra.Command, paths ...string) {
	for _, path := range paths {
		cmd, rest, err := root.Find(strings.Fields(path))
		if err != nil || len(rest) > 0 {
			panic("there is no command " + path)
		}
		mark(cmd)
	}
}

func mark(cmd *cobra.Command) {
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[experimental] = ""
	if cmd.Long != "" {
		cmd.Long += "\n\nThis command is experimental: a minor release may change it."
	}
	cmd.Short += " (experimental)"
	for _, sub := range cmd.Commands() {
		mark(sub)
	}
}

// Experimental reports whether MarkExperimental marked the command.
func Experimental(cmd *cobra.Command) bool {
	_, marked := cmd.Annotations[experimental]
	return marked
}
