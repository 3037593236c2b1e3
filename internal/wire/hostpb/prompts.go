package hostpb

import (
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// FromPrompt converts a prompt.
func FromPrompt(p tool.Prompt) *toolhostv1.Prompt {
	m := &toolhostv1.Prompt{Plugin: valid(p.Plugin), Name: valid(p.Name), Title: valid(p.Title), Description: valid(p.Description)}
	for _, a := range p.Arguments {
		m.Arguments = append(m.Arguments, &toolhostv1.PromptArgument{
			Name: valid(a.Name), Title: valid(a.Title), Description: valid(a.Description), Required: a.Required,
		})
	}
	return m
}

// ToPrompt converts a prompt.
func ToPrompt(m *toolhostv1.Prompt) tool.Prompt {
	p := tool.Prompt{Plugin: m.GetPlugin(), Name: m.GetName(), Title: m.GetTitle(), Description: m.GetDescription()}
	for _, a := range m.GetArguments() {
		p.Arguments = append(p.Arguments, tool.PromptArgument{
			Name: a.GetName(), Title: a.GetTitle(), Description: a.GetDescription(), Required: a.GetRequired(),
		})
	}
	return p
}

var promptRoles = map[tool.PromptRole]toolhostv1.PromptRole{
	tool.PromptUser:      toolhostv1.PromptRole_PROMPT_ROLE_USER,
	tool.PromptAssistant: toolhostv1.PromptRole_PROMPT_ROLE_ASSISTANT,
}

// FromPromptText converts a prompt with its arguments filled in.
func FromPromptText(p tool.PromptText) *toolhostv1.GetPromptResponse {
	m := &toolhostv1.GetPromptResponse{Plugin: valid(p.Plugin), Description: valid(p.Description)}
	for _, message := range p.Messages {
		out := &toolhostv1.PromptMessage{Role: promptRoles[message.Role]}
		if message.Resource != nil {
			out.Body = &toolhostv1.PromptMessage_Resource{Resource: FromResourceContent(*message.Resource)}
		} else {
			out.Body = &toolhostv1.PromptMessage_Content{Content: toolpb.FromContent(message.Content)}
		}
		m.Messages = append(m.Messages, out)
	}
	return m
}

// ToPromptText converts a prompt with its arguments filled in. A message of an unknown role is one
// of the user.
func ToPromptText(m *toolhostv1.GetPromptResponse) tool.PromptText {
	p := tool.PromptText{Plugin: m.GetPlugin(), Description: m.GetDescription(), Messages: []tool.PromptMessage{}}
	for _, message := range m.GetMessages() {
		out := tool.PromptMessage{Role: tool.PromptUser}
		if message.GetRole() == toolhostv1.PromptRole_PROMPT_ROLE_ASSISTANT {
			out.Role = tool.PromptAssistant
		}
		if r := message.GetResource(); r != nil {
			content := ToResourceContent(r)
			out.Resource = &content
		} else {
			out.Content = toolpb.ToContent(message.GetContent())
		}
		p.Messages = append(p.Messages, out)
	}
	return p
}

// FromPromptRequest converts the request for a prompt, without the requester.
func FromPromptRequest(r tool.PromptRequest) *toolhostv1.GetPromptRequest {
	return &toolhostv1.GetPromptRequest{Plugin: valid(r.Plugin), Name: valid(r.Name), Arguments: validTexts(r.Arguments), Session: valid(r.Session)}
}

// FromCompletionRequest converts the request for a completion, without the requester.
func FromCompletionRequest(r tool.CompletionRequest) *toolhostv1.CompleteArgumentRequest {
	m := &toolhostv1.CompleteArgumentRequest{
		Plugin: valid(r.Plugin), Argument: valid(r.Argument), Value: valid(r.Value), Arguments: validTexts(r.Arguments), Session: valid(r.Session),
	}
	switch {
	case r.Prompt != "":
		m.Of = &toolhostv1.CompleteArgumentRequest_Prompt{Prompt: valid(r.Prompt)}
	case r.URITemplate != "":
		m.Of = &toolhostv1.CompleteArgumentRequest_UriTemplate{UriTemplate: valid(r.URITemplate)}
	}
	return m
}

// ToCompletionRequest converts the request for a completion, without the requester.
func ToCompletionRequest(m *toolhostv1.CompleteArgumentRequest) tool.CompletionRequest {
	return tool.CompletionRequest{
		Plugin: m.GetPlugin(), Prompt: m.GetPrompt(), URITemplate: m.GetUriTemplate(), Argument: m.GetArgument(), Value: m.GetValue(), Arguments: m.GetArguments(),
	}
}

// FromCompletion converts a completion.
func FromCompletion(c tool.Completion) *toolhostv1.CompleteArgumentResponse {
	return &toolhostv1.CompleteArgumentResponse{Values: valids(c.Values), Total: int32Of(c.Total), More: c.More}
}

// ToCompletion converts a completion.
func ToCompletion(m *toolhostv1.CompleteArgumentResponse) tool.Completion {
	return tool.Completion{Values: m.GetValues(), Total: int(m.GetTotal()), More: m.GetMore()}
}

// validTexts returns texts with keys that a message can carry.
func validTexts(texts map[string]string) map[string]string {
	if len(texts) == 0 {
		return nil
	}
	out := make(map[string]string, len(texts))
	for key, text := range texts {
		out[valid(key)] = valid(text)
	}
	return out
}
