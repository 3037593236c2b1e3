// Command weather is a plugin for toolhost with two tools. They return made-up weather of a few
// cities.
package main

import "github.com/toolhost/toolhost/sdk"

func main() { sdk.Serve(plugin()) }

func plugin() sdk.Plugin {
	return sdk.Plugin{
		Name: "weather", Version: "1.0.0", Description: "The weather, made up.",
		Tools: []sdk.Tool{forecastTool(), reportTool()},
	}
}
