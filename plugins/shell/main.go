// Command shell is a plugin whose one tool runs a command in the call's workspace, and ends all that the command started
// when it is over.
//
// It owns the processes of its commands, what is kept of their output, and how that is told. It builds no walls: what a
// command may read, change and reach is for the sandbox around the plugin and for the operator's rules.
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
