package mcpserver

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/tool"
)

// refreshPrompts makes the server offer the prompts that the principal may use now. Of several
// plugins with the same name of a prompt, each has the name PLUGIN:NAME for clients.
func (s *Server) refreshPrompts(ctx context.Context) error {
	s.offering.refreshing.Lock()
	defer s.offering.refreshing.Unlock()
	s.offering.asked["prompt:"] = true
	listed, err := s.config.Tools.ListPrompts(ctx, tool.ResourceQuery{Requester: tool.Requester{Session: s.config.Session}})
	if err != nil {
		return err
	}
	counts := map[string]int{}
	for _, p := range listed.Prompts {
		counts[p.Name]++
	}
	now := map[string]string{}
	for _, p := range listed.Prompts {
		prompt := &mcp.Prompt{Name: p.Name, Title: p.Title, Description: p.Description}
		if counts[p.Name] > 1 {
			prompt.Name = p.Plugin + ":" + p.Name
		}
		for _, a := range p.Arguments {
			prompt.Arguments = append(prompt.Arguments, &mcp.PromptArgument{Name: a.Name, Title: a.Title, Description: a.Description, Required: a.Required})
		}
		s.offering.offered.put(s, now, "prompt:"+prompt.Name, prompt, func() { s.mcp.AddPrompt(prompt, s.getPrompt) })
	}
	s.offering.offered.keep(now, "prompt:", func(gone []string) { s.mcp.RemovePrompts(gone...) })
	return nil
}

// offersPrompt reports whether the SDK has a prompt.
func (o *offering) offersPrompt(name string) bool {
	o.refreshing.Lock()
	defer o.refreshing.Unlock()
	_, ok := o.offered["prompt:"+name]
	return ok
}

// promptRef returns the plugin and the name that a client means. The plugin is empty if the client
// does not name one.
func promptRef(name string) (plugin, prompt string) {
	if plugin, prompt, ok := strings.Cut(name, ":"); ok {
		return plugin, prompt
	}
	return "", name
}

// getPrompt handles prompts/get.
func (s *Server) getPrompt(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	plugin, name := promptRef(req.Params.Name)
	r := tool.PromptRequest{Requester: s.reader.requesterOf(req.Extra), Plugin: plugin, Name: name, Arguments: req.Params.Arguments}
	if req.ProtocolVersion() >= stateless {
		r.Answers = answersOf(req)
	}
	if again, err := s.continuePrompt(req.Params, &r); err != nil || again != nil {
		return again, err
	}
	text, err := s.config.Tools.GetPrompt(ctx, r)
	if err != nil {
		return nil, requestError(err)
	}
	if text.Round != nil {
		return s.askForPrompt(req.Params, text.Round)
	}
	result := &mcp.GetPromptResult{Description: text.Description, Messages: []*mcp.PromptMessage{}}
	left := maxWhole
	for i := range text.Messages {
		m := &text.Messages[i]
		content, err := s.reader.messageContent(ctx, m, &left)
		if err != nil {
			return nil, requestError(err)
		}
		result.Messages = append(result.Messages, &mcp.PromptMessage{Role: mcp.Role(m.Role), Content: content})
	}
	return result, nil
}

// messageContent returns the content of a message of a prompt as MCP has it.
func (r reader) messageContent(ctx context.Context, m *tool.PromptMessage, left *int) (mcp.Content, error) {
	if m.Resource != nil {
		part, err := r.wholePart(ctx, m.Resource, left)
		return &mcp.EmbeddedResource{Resource: part}, err
	}
	if m.Content.Kind != tool.ContentArtifact {
		return contentOf(&m.Content, r.config.Session)[0], nil
	}
	a := m.Content.Artifact
	part, err := r.wholePart(ctx, &tool.ResourceContent{URI: artifactURI(a.Handle, r.config.Session, 0), MediaType: a.MediaType, Content: m.Content}, left)
	if err != nil {
		return nil, err
	}
	switch {
	case part.Meta != nil: // only the first page
		return &mcp.EmbeddedResource{Resource: part}, nil
	case part.Blob == nil:
		return &mcp.TextContent{Text: part.Text}, nil
	case strings.HasPrefix(part.MIMEType, "image/"):
		return &mcp.ImageContent{Data: part.Blob, MIMEType: part.MIMEType}, nil
	case strings.HasPrefix(part.MIMEType, "audio/"):
		return &mcp.AudioContent{Data: part.Blob, MIMEType: part.MIMEType}, nil
	}
	return &mcp.EmbeddedResource{Resource: part}, nil
}

// complete handles completion/complete.
func (s *Server) complete(ctx context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	r := tool.CompletionRequest{Requester: s.reader.requesterOf(req.Extra), Argument: req.Params.Argument.Name, Value: req.Params.Argument.Value}
	if req.Params.Context != nil {
		r.Arguments = req.Params.Context.Arguments
	}
	switch ref := req.Params.Ref; ref.Type {
	case "ref/prompt":
		r.Plugin, r.Prompt = promptRef(ref.Name)
	case "ref/resource":
		if strings.HasPrefix(ref.URI, ownScheme) {
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}, nil
		}
		r.URITemplate = ref.URI
	}
	if r.Prompt == "" && r.URITemplate == "" {
		return nil, invalid("the reference names neither a prompt nor a template")
	}
	completion, err := s.config.Tools.CompleteArgument(ctx, r)
	if err != nil {
		return nil, requestError(err)
	}
	values := completion.Values
	if values == nil {
		values = []string{}
	}
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: values, Total: completion.Total, HasMore: completion.More}}, nil
}
