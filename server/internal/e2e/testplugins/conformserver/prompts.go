package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// addPrompts adds the prompts of the suite.
func addPrompts(s *mcp.Server) {
	addPrompt(s, "test_simple_prompt", nil, func(map[string]string) []mcp.Content {
		return []mcp.Content{&mcp.TextContent{Text: "This is a simple prompt for testing."}}
	})
	addPrompt(s, "test_prompt_with_arguments", []string{"arg1", "arg2"}, func(in map[string]string) []mcp.Content {
		return []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", in["arg1"], in["arg2"])}}
	})
	addPrompt(s, "test_prompt_with_embedded_resource", []string{"resourceUri"}, func(in map[string]string) []mcp.Content {
		return []mcp.Content{
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: in["resourceUri"], MIMEType: "text/plain", Text: "Embedded resource content for testing."}},
			&mcp.TextContent{Text: "Please process the embedded resource above."},
		}
	})
	addPrompt(s, "test_prompt_with_image", nil, func(map[string]string) []mcp.Content {
		return []mcp.Content{&mcp.ImageContent{Data: picture, MIMEType: "image/png"}, &mcp.TextContent{Text: "Please analyze the image above."}}
	})
	s.AddPrompt(&mcp.Prompt{Name: "test_input_required_result_prompt", Description: "Needs input from its client."}, askingPrompt)
}

// addPrompt adds a prompt with required arguments. Each of its contents becomes a message.
func addPrompt(s *mcp.Server, name string, arguments []string, contents func(map[string]string) []mcp.Content) {
	p := &mcp.Prompt{Name: name, Description: "A prompt of the suite."}
	for _, argument := range arguments {
		p.Arguments = append(p.Arguments, &mcp.PromptArgument{Name: argument, Description: "An argument of the suite.", Required: true})
	}
	s.AddPrompt(p, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return messages(contents(req.Params.Arguments)...), nil
	})
}

func messages(contents ...mcp.Content) *mcp.GetPromptResult {
	r := &mcp.GetPromptResult{}
	for _, c := range contents {
		r.Messages = append(r.Messages, &mcp.PromptMessage{Role: "user", Content: c})
	}
	return r
}

func askingPrompt(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	requests := mcp.InputRequestMap{"user_context": form("What context should the prompt use?", "context", "string")}
	found, complete := answersOf(req.Params.InputResponses, requests)
	if !complete {
		return &mcp.GetPromptResult{InputRequests: requests}, nil
	}
	return messages(&mcp.TextContent{Text: "The context is " + found["context"]}), nil
}

// complete completes the first argument of test_prompt_with_arguments.
func complete(_ context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	values := []string{}
	for _, word := range []string{"paris", "park", "party"} {
		if strings.HasPrefix(word, req.Params.Argument.Value) {
			values = append(values, word)
		}
	}
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: values, Total: len(values)}}, nil
}
