package main

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

//lint:file-ignore SA1019 The suite tests sampling, which version 2026-07-28 deprecates.

// The forms that the suite expects in questions.
const (
	accountForm = `{"type":"object","properties":{"username":{"type":"string","description":"User's response"},
"email":{"type":"string","description":"User's email address"}},"required":["username","email"]}`
	defaultsForm = `{"type":"object","properties":{"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},
"score":{"type":"number","default":95.5},"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},
"verified":{"type":"boolean","default":true}}}`
	enumsForm = `{"type":"object","properties":{
"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},
"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},
"untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2","option3"]}},
"titledMulti":{"type":"array","items":{"anyOf":[{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}}}`
)

// addQuestions adds the tools that ask as servers of version 2025-11-25 do: by a request to the
// client during the call.
func addQuestions(s *mcp.Server) {
	add(s, "test_elicitation", "Asks the user.", `{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}`,
		func(ctx context.Context, req *mcp.CallToolRequest) (result, error) {
			return elicit(ctx, req, "User response", argument(req, "message"), accountForm)
		})
	add(s, "test_elicitation_sep1034_defaults", "Asks the user, with default values.", noArguments,
		func(ctx context.Context, req *mcp.CallToolRequest) (result, error) {
			return elicit(ctx, req, "Elicitation completed", "Please check the values", defaultsForm)
		})
	add(s, "test_elicitation_sep1330_enums", "Asks the user for choices.", noArguments,
		func(ctx context.Context, req *mcp.CallToolRequest) (result, error) {
			return elicit(ctx, req, "Elicitation completed", "Please choose", enumsForm)
		})
	add(s, "test_sampling", "Asks the client's model.", `{"type":"object","properties":{"prompt":{"type":"string"}},"required":["prompt"]}`, sample)
}

func elicit(ctx context.Context, req *mcp.CallToolRequest, answered, message, form string) (result, error) {
	answer, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: message, RequestedSchema: json.RawMessage(form)})
	if err != nil {
		return failed(err), nil
	}
	content, err := json.Marshal(answer.Content)
	if err != nil {
		return failed(err), nil
	}
	return text("%s: action=%s, content=%s", answered, answer.Action, content), nil
}

func sample(ctx context.Context, req *mcp.CallToolRequest) (result, error) {
	answer, err := req.Session.CreateMessage(ctx, &mcp.CreateMessageParams{
		MaxTokens: 100, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: argument(req, "prompt")}}},
	})
	if err != nil {
		return failed(err), nil
	}
	said, ok := answer.Content.(*mcp.TextContent)
	if !ok {
		return text("LLM response without a text"), nil
	}
	return text("LLM response: %s", said.Text), nil
}
