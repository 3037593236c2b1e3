// Command conformplugin is a plugin with those tools of the official conformance suite of MCP that
// write a log, and with the tools that the tests call with the official clients of MCP. It uses the
// SDK of toolhost, whose log belongs to a call: in version 2025-11-25 of MCP, a server's log
// belongs to no request.
//
// No shipped program imports it.
package main

import (
	"context"

	"github.com/toolhost/toolhost/sdk"
)

func main() {
	sdk.Serve(sdk.Plugin{Name: "conformplugin", Version: "1.0.0", Description: "Has tools for tests of MCP.", Tools: append(clients(),
		sdk.Func(sdk.Spec{Name: "test_tool_with_logging", Description: "Writes a log.", ReadOnly: true}, logs),
		sdk.Func(sdk.Spec{Name: "test_logging_tool", Description: "Writes a log.", ReadOnly: true}, logs),
	)})
}

func logs(ctx context.Context, _ struct{}) (string, error) {
	for _, message := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
		sdk.Logger(ctx).Info(message)
	}
	return "done", nil
}
