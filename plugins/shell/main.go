// Command shell is a plugin with one tool. The tool runs a command in the call's workspace, and
// ends everything that the command started when the command is over.
//
// It owns the processes of its commands, the kept part of their output, and the form of the result.
// It does not restrict commands: the sandbox around the plugin and the operator's rules decide what
// a command may read, change and reach.
package main

import (
	"os"

	"github.com/toolhost/toolhost/sdk"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == superviseArgument {
		os.Exit(supervise())
	}
	sdk.Serve(plugin(newLauncher()))
}

func plugin(l *launcher) sdk.Plugin {
	return sdk.Plugin{
		Name:        "shell",
		Version:     "1.0.0",
		Description: "Commands, run in the workspace.",
		DefaultTags: []string{"shell"},
		Permissions: sdk.Permissions{Workspace: sdk.AccessWrite},
		TuneRuntime: true,
		Tools:       []sdk.Tool{shellTool(l)},
	}
}
