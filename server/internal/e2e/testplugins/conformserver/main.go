// Command conformserver is an MCP server on standard input and output that has the tools, resources
// and prompts which the official conformance suite of MCP expects from a server. The suite gives
// their names and contents. toolhost runs the program as a plugin, so that one run of the suite
// tests toolhost as a client and as a server.
//
// No shipped program imports it.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	s := newServer()
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func newServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "conformserver", Version: "1.0.0"}, &mcp.ServerOptions{
		CompletionHandler:  complete,
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	addContents(s)
	addQuestions(s)
	addInputs(s)
	addResources(s)
	addPrompts(s)
	addTriggers(s)
	return s
}

// noArguments is the schema of a tool without arguments.
const noArguments = `{"type":"object","properties":{}}`

// result is what a tool of this server returns.
type result = *mcp.CallToolResult

// add adds a tool with a schema as text.
func add(s *mcp.Server, name, description, schema string, handle func(context.Context, *mcp.CallToolRequest) (result, error)) {
	s.AddTool(&mcp.Tool{Name: name, Description: description, InputSchema: json.RawMessage(schema)}, handle)
}

// text returns a result with a text.
func text(format string, args ...any) result {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}}}
}

// failed returns the result of a tool that could not do its work.
func failed(err error) result {
	var r mcp.CallToolResult
	r.SetError(err)
	return &r
}

// argument returns an argument of a call that is a text.
func argument(req *mcp.CallToolRequest, name string) string {
	var arguments map[string]string
	if json.Unmarshal(req.Params.Arguments, &arguments) != nil {
		return ""
	}
	return arguments[name]
}
