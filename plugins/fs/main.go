// Command fs is a plugin with tools that find, read and write files of the call's workspace. They
// cannot reach files outside of it.
package main

import "github.com/toolhost/toolhost/sdk"

func main() { sdk.Serve(plugin()) }

func plugin() sdk.Plugin {
	l := newLanes()
	return sdk.Plugin{
		Name:        "fs",
		Version:     "1.2.0",
		Description: "Files of the workspace.",
		DefaultTags: []string{"files"},
		Tools:       []sdk.Tool{readFileTool(), writeFileTool(l), editFileTool(l), listDirTool(), globTool(), grepTool()},
	}
}
