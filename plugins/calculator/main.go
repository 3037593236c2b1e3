// Command calculator is a plugin with one tool, calculator, which computes arithmetic expressions.
package main

import "github.com/toolhost/toolhost/sdk"

func main() { sdk.Serve(plugin()) }

func plugin() sdk.Plugin {
	return sdk.Plugin{
		Name:        "calculator",
		Version:     "1.0.0",
		Description: "Exact arithmetic of any size.",
		Tools:       []sdk.Tool{calculator()},
	}
}
