// Command fetch is a plugin with which models read the web and use HTTP APIs.
//
// It decides where a request may go, limits the response, and chooses the form of the result. The
// operator's rules decide whether a call may be made. The sandbox decides whether the plugin has a
// network.
package main

import (
	"fmt"
	"os"

	"github.com/toolhost/toolhost/sdk"
)

func main() {
	s, err := readSettings(os.Getenv)
	if err != nil {
		fmt.Fprintf(os.Stderr, "The plugin fetch cannot be served, because its environment is wrong:\n  %v\n", err)
		os.Exit(1)
	}
	sdk.Serve(plugin(s))
}

func plugin(s settings) sdk.Plugin {
	return sdk.Plugin{
		Name:        "fetch",
		Version:     "1.0.0",
		Description: "Web pages and HTTP APIs.",
		DefaultTags: []string{"web"},
		Permissions: sdk.Permissions{Network: true},
		Tools:       []sdk.Tool{fetchTool(s), requestTool(s)},
	}
}
