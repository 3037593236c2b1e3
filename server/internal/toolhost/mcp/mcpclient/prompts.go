package mcpclient

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
	"github.com/toolhost/toolhost/tool"
)

// maxArguments bounds the arguments of a prompt.
const maxArguments = 100

// ListPrompts implements pluginconn.Prompts. The name of a prompt gets the operator's prefix and
// the characters of the names of tools, because a person types it. Of two prompts with the same
// name, the list has the first one.
func (c *Conn) ListPrompts(ctx context.Context, _ pluginconn.Asker) ([]tool.Prompt, error) {
	var all []tool.Prompt
	names := map[string]string{}
	bounds, l := listBounds{what: "prompts"}, listing{what: "prompts"}
	err := c.request(ctx, func(ctx context.Context) error {
		return l.pages(func(cursor string) (string, mcp.Meta, error) {
			page, err := through(ctx, cursor, func(ctx context.Context) (*mcp.ListPromptsResult, error) {
				return c.session.ListPrompts(ctx, &mcp.ListPromptsParams{})
			})
			if err != nil {
				return "", nil, err
			}
			for _, p := range page.Prompts {
				if p == nil || p.Name == "" {
					continue
				}
				if err := bounds.add(p.Name, p.Title, p.Description); err != nil {
					return "", nil, err
				}
				prompt := promptOf(p, c.cfg.Prefix)
				if _, twice := names[prompt.Name]; twice {
					continue
				}
				names[prompt.Name] = p.Name
				all = append(all, prompt)
			}
			return page.NextCursor, page.Meta, nil
		})
	})
	c.logAll(l.warnings)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.prompts = names
	c.mu.Unlock()
	return all, nil
}

// promptOf returns a prompt of the server as callers know it, with the prefix of its plugin.
func promptOf(p *mcp.Prompt, prefix string) tool.Prompt {
	prompt := tool.Prompt{Name: prefix + nameOf(p.Name, maxName-len(prefix)), Title: label(p.Title), Description: clip(p.Description, maxProse)}
	for _, a := range p.Arguments[:min(len(p.Arguments), maxArguments)] {
		if a == nil || a.Name == "" || len(a.Name) > maxLabel {
			continue
		}
		prompt.Arguments = append(prompt.Arguments, tool.PromptArgument{
			Name: strings.ToValidUTF8(a.Name, "\uFFFD"), Title: label(a.Title), Description: clip(a.Description, maxProse), Required: a.Required,
		})
	}
	return prompt
}

// promptName returns the server's own name of a prompt. If the connection has not listed the
// prompts yet, it lists them.
func (c *Conn) promptName(ctx context.Context, of pluginconn.Asker, name string) (string, error) {
	for again := true; ; again = false {
		c.mu.Lock()
		own, known := c.prompts[name]
		c.mu.Unlock()
		if known {
			return own, nil
		}
		if !again {
			return "", tool.Errorf(tool.KindNotFound, "the MCP server offers no prompt %.200q", name)
		}
		if _, err := c.ListPrompts(ctx, of); err != nil {
			return "", err
		}
	}
}

// GetPrompt implements pluginconn.Prompts.
func (c *Conn) GetPrompt(ctx context.Context, of pluginconn.Asker, r tool.PromptRequest) (tool.PromptText, error) {
	own, err := c.promptName(ctx, of, r.Name)
	if err != nil {
		return tool.PromptText{}, err
	}
	params := &mcp.GetPromptParams{Name: own, Arguments: r.Arguments}
	if c.sessionless() {
		params.Meta = mcp.Meta{mcp.MetaKeyClientCapabilities: capabilities(r.Answers, false)}
	}
	if err := addAnswers(params, &r); err != nil {
		return tool.PromptText{}, err
	}
	var got *mcp.GetPromptResult
	err = c.request(ctx, func(ctx context.Context) (err error) {
		got, err = c.session.GetPrompt(ctx, params)
		return err
	})
	if err != nil {
		return tool.PromptText{}, err
	}
	if got.NeedsInput() {
		round, err := roundOf(got)
		return tool.PromptText{Round: round}, err
	}
	return promptText(got, c.cfg.MaxResultBytes)
}

// promptText returns a prompt as the server filled it in, if it has no more than a number of bytes.
func promptText(got *mcp.GetPromptResult, maxBytes int) (tool.PromptText, error) {
	text, size := tool.PromptText{Description: clip(got.Description, maxProse), Messages: []tool.PromptMessage{}}, 0
	if len(got.Messages) > maxParts {
		return tool.PromptText{}, tool.Errorf(tool.KindInternal, "the prompt has more than %d messages", maxParts)
	}
	for _, m := range got.Messages {
		message, ok := messageOf(m)
		if !ok {
			continue
		}
		block := message.Content
		if message.Resource != nil {
			block = message.Resource.Content
		}
		size += len(block.Text) + len(block.Data)
		text.Messages = append(text.Messages, message)
	}
	if size > maxBytes {
		return tool.PromptText{}, tooLarge(maxBytes)
	}
	return text, nil
}

// messageOf returns a message of a prompt. ok is false for one without content. A server cannot
// claim another role than that of the assistant: everything else is the user's.
func messageOf(m *mcp.PromptMessage) (message tool.PromptMessage, ok bool) {
	if m == nil {
		return message, false
	}
	message.Role = tool.PromptUser
	if m.Role == "assistant" {
		message.Role = tool.PromptAssistant
	}
	if embedded, is := m.Content.(*mcp.EmbeddedResource); is {
		if embedded.Resource == nil {
			return message, false
		}
		part := partOf(embedded.Resource, "")
		message.Resource = &part
		return message, true
	}
	message.Content, ok = contentOf(m.Content)
	return message, ok
}

// Complete implements pluginconn.Prompts.
func (c *Conn) Complete(ctx context.Context, of pluginconn.Asker, r tool.CompletionRequest) (tool.Completion, error) {
	params := &mcp.CompleteParams{
		Argument: mcp.CompleteParamsArgument{Name: r.Argument, Value: r.Value}, Ref: &mcp.CompleteReference{Type: "ref/resource", URI: r.URITemplate},
	}
	if r.Prompt != "" {
		own, err := c.promptName(ctx, of, r.Prompt)
		if err != nil {
			return tool.Completion{}, err
		}
		params.Ref = &mcp.CompleteReference{Type: "ref/prompt", Name: own}
	}
	if len(r.Arguments) > 0 {
		params.Context = &mcp.CompleteContext{Arguments: r.Arguments}
	}
	var got *mcp.CompleteResult
	err := c.request(ctx, func(ctx context.Context) (err error) {
		got, err = c.session.Complete(ctx, params)
		return err
	})
	if err != nil {
		return tool.Completion{}, err
	}
	values := got.Completion.Values
	completion := tool.Completion{Values: []string{}, Total: max(got.Completion.Total, 0), More: got.Completion.HasMore || len(values) > tool.MaxCompletions}
	for _, v := range values[:min(len(values), tool.MaxCompletions)] {
		completion.Values = append(completion.Values, clip(v, maxMessage))
	}
	return completion, nil
}
