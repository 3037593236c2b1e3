// Command weather is a plugin of toolhost with two tools that know the weather of some cities, which is made up.
package main

import "github.com/toolhost/toolhost/sdk"

func main() { sdk.Serve(plugin()) }

func plugin() sdk.Plugin {
	return sdk.Plugin{
		Name: "weather", Version: "1.0.0", Description: "The weather, made up.",
		Tools: []sdk.Tool{forecastTool(), reportTool()},
	}
}
