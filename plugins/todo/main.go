// Command todo is a plugin with which a model keeps a todo list. The list is a value of the run's
// context: the tools receive it with each call and return changes as effects. The plugin has no
// state.
package main

import "github.com/toolhost/toolhost/sdk"

func main() { sdk.Serve(plugin()) }

func plugin() sdk.Plugin {
	return sdk.Plugin{
		Name:        "todo",
		Version:     "1.0.0",
		Description: "A list of things to do, which a run keeps.",
		Tools:       []sdk.Tool{writeTool(), addTool(), updateTool(), listTool()},
		DefaultTags: []string{"planning"},
	}
}
