// Command todo is a plugin with which a model keeps a list of things to do. The list is a value of the run's context: the
// tools get it with each call and return changes to it, and the plugin remembers nothing.
package main

import "github.com/toolhost/toolhost/sdk"

func main() { sdk.Serve(plugin()) }

func plugin() sdk.Plugin {
	return sdk.Plugin{
		Name:        "todo",
		Version:     "1.0.0",
		Description: "A list of things to do, which a run keeps.",
		TuneRuntime: true,
		Tools:       []sdk.Tool{writeTool(), addTool(), updateTool(), listTool()},
		DefaultTags: []string{"planning"},
	}
}
