// Command artifacts is a plugin with which a model reads the parts of a large result.
package main

import "github.com/toolhost/toolhost/sdk"

func main() { sdk.Serve(plugin()) }

func plugin() sdk.Plugin {
	return sdk.Plugin{
		Name:        "artifacts",
		Version:     "1.0.0",
		Description: "What results had too much of.",
		Tools:       []sdk.Tool{readArtifactTool()},
	}
}
