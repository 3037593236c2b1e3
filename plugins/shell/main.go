// Command shell is a plugin with one tool. The tool runs a command in the call's workspace, and
// ends everything that the command started when the command is over.
//
// It owns the kept part of the output of its commands, and the form of the result. It does not know
// where commands run: in processes of the plugin, or at the server of a remote workspace. It does
// not restrict commands: the sandbox around their processes and the operator's rules decide what a
// command may read, change and reach.
package main

import (
	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/workspace/commands"
)

func main() {
	commands.Supervise()
	sdk.Serve(plugin(commands.New()))
}

func plugin(l *commands.Launcher) sdk.Plugin {
	return sdk.Plugin{
		Name:        "shell",
		Version:     "1.0.0",
		Description: "Commands, run in the workspace.",
		DefaultTags: []string{"shell"},
		Permissions: sdk.Permissions{Workspace: sdk.AccessWrite},
		Tools:       []sdk.Tool{shellTool(l)},
	}
}
