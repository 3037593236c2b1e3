package main

import (
	"context"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// addTriggers adds the tools by which the suite changes the lists of the server. Each call adds an
// entry that the next call removes.
func addTriggers(s *mcp.Server) {
	var tool, prompt atomic.Bool
	add(s, "test_trigger_tool_change", "Changes the list of tools.", noArguments,
		func(context.Context, *mcp.CallToolRequest) (result, error) {
			if tool.CompareAndSwap(false, true) {
				add(s, "test_added_tool", "Was added.", noArguments, func(context.Context, *mcp.CallToolRequest) (result, error) { return text("added"), nil })
			} else {
				tool.Store(false)
				s.RemoveTools("test_added_tool")
			}
			return text("the tools have changed"), nil
		})
	add(s, "test_trigger_prompt_change", "Changes the list of prompts.", noArguments,
		func(context.Context, *mcp.CallToolRequest) (result, error) {
			if prompt.CompareAndSwap(false, true) {
				addPrompt(s, "test_added_prompt", nil, func(map[string]string) []mcp.Content { return []mcp.Content{&mcp.TextContent{Text: "added"}} })
			} else {
				prompt.Store(false)
				s.RemovePrompts("test_added_prompt")
			}
			return text("the prompts have changed"), nil
		})
}
