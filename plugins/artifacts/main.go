// Command artifacts is a plugin that lets a model read what a result had too much of, piece by piece.
package main

import "github.com/toolhost/toolhost/sdk"

func main() { sdk.Serve(plugin()) }

func plugin() sdk.Plugin {
	return sdk.Plugin{
		Name:        "artifacts",
		Version:     "1.0.0",
		Description: "What results had too much of.",
		TuneRuntime: true,
		Tools:       []sdk.Tool{readArtifactTool()},
	}
}
