// Command calculator is a plugin with one tool, calculator: arithmetic that a model need not do in its head.
package main

import "github.com/toolhost/toolhost/sdk"

func main() { sdk.Serve(plugin()) }

func plugin() sdk.Plugin {
	return sdk.Plugin{
		Name:        "calculator",
		Version:     "1.0.0",
		Description: "Exact arithmetic of any size.",
		TuneRuntime: true,
		Tools:       []sdk.Tool{calculator()},
	}
}
