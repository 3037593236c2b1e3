package mcpclient

import (
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/tool"
)

//lint:file-ignore SA1019 Servers and clients of 2025-11-25 use sampling and roots, which 2026-07-28 deprecates.

// personQuestion returns an elicitation as a question for a person. An elicitation in URL mode asks
// a person to open a link of the server's choice, which toolhost does not offer to do.
func personQuestion(p *mcp.ElicitParams) (tool.Question, *tool.Error) {
	if p.URL != "" || p.Mode != "" && p.Mode != "form" {
		return tool.Question{}, tool.Errorf(tool.KindUnsupported, "the MCP server asks a person to open a link (elicitation in URL mode), which toolhost does not support")
	}
	person := &tool.PersonQuestion{Message: strings.ToValidUTF8(p.Message, "\uFFFD")}
	if p.RequestedSchema != nil {
		schema, err := json.Marshal(p.RequestedSchema)
		if err != nil {
			return tool.Question{}, tool.Errorf(tool.KindInvalidArgument, "the schema of the answer is no JSON")
		}
		person.Schema = schema
	}
	return tool.Question{Person: person}, nil
}

// elicited returns the answer of a person as the result of an elicitation.
func elicited(a *tool.PersonAnswer) *mcp.ElicitResult {
	switch a.Action {
	case tool.PersonAccept:
		r := &mcp.ElicitResult{Action: "accept", Content: map[string]any{}}
		_ = json.Unmarshal(a.Content, &r.Content) // the host has checked that it is an object
		return r
	case tool.PersonDecline:
		return &mcp.ElicitResult{Action: "decline"}
	default:
		return &mcp.ElicitResult{Action: "cancel"}
	}
}

// addDefaults adds the default values of a form for what a person left out, as the protocol wants
// it of a client. The SDK does it for requests of 2025-11-25. content is nil unless the person
// accepted.
func addDefaults(content map[string]any, schema json.RawMessage) {
	var form struct {
		Properties map[string]struct {
			Default json.RawMessage `json:"default"`
		} `json:"properties"`
	}
	if content == nil || json.Unmarshal(schema, &form) != nil {
		return
	}
	for name, property := range form.Properties {
		if _, given := content[name]; !given && property.Default != nil {
			content[name] = property.Default
		}
	}
}

// modelQuestion returns a sampling as a question for a model. The caller chooses the model and its
// parameters, so that the preferences of the server do not count.
func modelQuestion(p *mcp.CreateMessageWithToolsParams) (tool.Question, *tool.Error) {
	if len(p.Tools) > 0 {
		return tool.Question{}, tool.Errorf(tool.KindUnsupported, "the MCP server asks a model that has tools, which toolhost does not support")
	}
	model := &tool.ModelQuestion{System: strings.ToValidUTF8(p.SystemPrompt, "\uFFFD"), MaxTokens: int(min(max(p.MaxTokens, 0), 1<<30))}
	for _, m := range p.Messages {
		if m == nil || m.Role != "user" && m.Role != "assistant" {
			return tool.Question{}, tool.Errorf(tool.KindInvalidArgument, "a message for the model has neither the role user nor assistant")
		}
		message := tool.ModelMessage{Role: tool.ModelRole(m.Role)}
		for _, content := range m.Content {
			switch content.(type) {
			case *mcp.TextContent, *mcp.ImageContent, *mcp.AudioContent:
			default:
				return tool.Question{}, tool.Errorf(tool.KindUnsupported, "a message for the model has content other than text, images and audio")
			}
			if block, ok := contentOf(content); ok {
				message.Content = append(message.Content, block)
			}
		}
		model.Messages = append(model.Messages, message)
	}
	return tool.Question{Model: model}, nil
}

// stopReasons are the reasons why a response ended that MCP names, by the provider's words.
var stopReasons = map[string]string{
	"end_turn": "endTurn", "stop": "endTurn", "stop_sequence": "stopSequence", "max_tokens": "maxTokens", "length": "maxTokens",
}

// sampled returns the response of a model as the result of a sampling. Servers expect one block, so
// texts are joined.
func sampled(a *tool.ModelAnswer) *mcp.CreateMessageWithToolsResult {
	r := &mcp.CreateMessageWithToolsResult{Role: "assistant", Model: a.Model, StopReason: a.StopReason}
	if r.Model == "" {
		r.Model = "unknown" // the protocol requires a name
	}
	if reason, ok := stopReasons[a.StopReason]; ok {
		r.StopReason = reason
	}
	var text *mcp.TextContent
	for i := range a.Content {
		switch c := &a.Content[i]; {
		case c.Kind == tool.ContentImage:
			r.Content = append(r.Content, &mcp.ImageContent{Data: c.Data, MIMEType: c.MediaType})
		case c.Kind == tool.ContentFile && strings.HasPrefix(c.MediaType, "audio/"):
			r.Content = append(r.Content, &mcp.AudioContent{Data: c.Data, MIMEType: c.MediaType})
		default:
			one := tool.Result{Content: a.Content[i : i+1]}
			if text != nil {
				text.Text += "\n" + one.Text()
				continue
			}
			text = &mcp.TextContent{Text: one.Text()}
			r.Content = append(r.Content, text)
		}
	}
	return r
}

// rootsOf returns folders as MCP has them.
func rootsOf(roots []tool.Root) *mcp.ListRootsResult {
	r := &mcp.ListRootsResult{Roots: []*mcp.Root{}} // the protocol requires a list
	for _, root := range roots {
		r.Roots = append(r.Roots, &mcp.Root{URI: root.URI, Name: root.Name})
	}
	return r
}
