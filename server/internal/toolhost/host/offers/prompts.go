package offers

import (
	"context"
	"encoding/json"

	"github.com/toolhost/toolhost/server/internal/toolhost/host/ledger"
	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
	"github.com/toolhost/toolhost/tool"
)

const (
	maxPromptName     = 256       // bytes
	maxPromptArgument = 256 << 10 // bytes of all arguments
	// maxPromptImage bounds an image of a prompt that stays in the answer, which travels as one
	// message.
	maxPromptImage = 1 << 20
)

// ListPrompts returns the prompts of the plugins that the requester may use, ordered by plugin and
// name. It may start instances. Errors: invalid_argument, not_found.
func (o *Offers) ListPrompts(ctx context.Context, q tool.ResourceQuery) (tool.Prompts, error) {
	lists, unlisted, err := o.list(ctx, &q, ofPrompts)
	if err != nil {
		return tool.Prompts{}, err
	}
	all := tool.Prompts{Prompts: []tool.Prompt{}, Unlisted: unlisted}
	for _, l := range lists {
		all.Prompts = append(all.Prompts, l.prompts...)
	}
	return all, nil
}

// GetPrompt returns a prompt with its arguments filled in, or what the plugin asks first. Errors:
// those of ReadResource, and unsupported if the plugin asks what it may not ask.
func (o *Offers) GetPrompt(ctx context.Context, r tool.PromptRequest) (tool.PromptText, error) {
	if err := checkArguments(r.Name, r.Arguments); err != nil {
		return tool.PromptText{}, err
	}
	if err := ledger.CheckSession(r.Session); err != nil {
		return tool.PromptText{}, err
	}
	settings, p, err := o.owner(ctx, &r.Requester, ofPrompts, r.Plugin, r.Name)
	if err != nil {
		return tool.PromptText{}, err
	}
	given := r.Arguments
	if given == nil {
		given = map[string]string{}
	}
	arguments, _ := json.Marshal(map[string]any{"name": r.Name, "arguments": given}) // texts can be encoded
	if err := o.authorize(ctx, &r.Requester, settings, p, ofPrompts, arguments); err != nil {
		return tool.PromptText{}, err
	}
	r.Answers = permitted(settings, p.Info.Name, r.Answers)
	if r.Given, err = acceptGiven(settings, &r); err != nil {
		return tool.PromptText{}, err
	}
	var text tool.PromptText
	err = o.ask(ctx, &r.Requester, settings, p, func(ctx context.Context, conn pluginconn.Conn, of pluginconn.Asker) (err error) {
		prompts, ok := conn.(pluginconn.Prompts)
		if !ok {
			return noOffer(ofPrompts, p.Info.Name)
		}
		text, err = prompts.GetPrompt(ctx, of, r)
		return err
	})
	if err != nil {
		return tool.PromptText{}, err
	}
	if text.Round != nil {
		round, refused := checkRound(settings, p.Info.Name, &r, text.Round)
		if refused != nil {
			return tool.PromptText{}, refused
		}
		return tool.PromptText{Plugin: p.Info.Name, Round: round}, nil
	}
	text.Plugin, text.Description = p.Info.Name, settings.Secrets.Redactor().Text(text.Description)
	var blocks []*tool.Content
	for i := range text.Messages {
		m := &text.Messages[i]
		b := &m.Content
		if m.Resource != nil {
			m.Resource.URI = settings.Secrets.Redactor().Text(m.Resource.URI)
			b = &m.Resource.Content
		}
		if b.Kind == tool.ContentImage && len(b.Data) > maxPromptImage {
			b.Kind = tool.ContentFile // which becomes an artifact
		}
		blocks = append(blocks, b)
	}
	o.shape(&r.Requester, settings, tool.MaxArtifactPiece, blocks)
	return text, nil
}

func checkArguments(name string, arguments map[string]string) error {
	size := 0
	for key, value := range arguments {
		size += len(key) + len(value)
	}
	switch {
	case name == "" || len(name) > maxPromptName:
		return tool.Errorf(tool.KindInvalidArgument, "the name of a prompt must have 1 to %d bytes, not %d", maxPromptName, len(name))
	case size > maxPromptArgument:
		return tool.Errorf(tool.KindInvalidArgument, "the arguments of a prompt may have %d bytes, not %d", maxPromptArgument, size)
	}
	return nil
}

// CompleteArgument returns values of an argument. A plugin that completes nothing returns none.
// Errors: those of ReadResource.
func (o *Offers) CompleteArgument(ctx context.Context, r tool.CompletionRequest) (tool.Completion, error) {
	kind, name, member := ofPrompts, r.Prompt, "name"
	if r.Prompt == "" {
		kind, name, member = ofResources, r.URITemplate, "uri"
	}
	if r.Prompt != "" && r.URITemplate != "" || r.Argument == "" {
		return tool.Completion{}, tool.Errorf(tool.KindInvalidArgument, "a completion needs the name of an argument, and of either a prompt or a template")
	}
	if err := checkArguments(name, r.Arguments); err != nil && kind == ofPrompts {
		return tool.Completion{}, err
	}
	if len(r.Value) > maxPromptArgument || len(name) > maxURI {
		return tool.Completion{}, tool.Errorf(tool.KindInvalidArgument, "the value of the argument is too long to be completed")
	}
	if err := ledger.CheckSession(r.Session); err != nil {
		return tool.Completion{}, err
	}
	settings, p, err := o.owner(ctx, &r.Requester, kind, r.Plugin, name)
	if err != nil || !p.Info.Offers.Completions {
		return tool.Completion{}, err
	}
	arguments, _ := json.Marshal(map[string]string{member: name, "complete": r.Argument})
	if err := o.authorize(ctx, &r.Requester, settings, p, kind, arguments); err != nil {
		return tool.Completion{}, err
	}
	var completion tool.Completion
	err = o.ask(ctx, &r.Requester, settings, p, func(ctx context.Context, conn pluginconn.Conn, of pluginconn.Asker) (err error) {
		prompts, ok := conn.(pluginconn.Prompts)
		if !ok {
			return nil
		}
		completion, err = prompts.Complete(ctx, of, r)
		return err
	})
	if err != nil {
		return tool.Completion{}, err
	}
	for i := range completion.Values {
		completion.Values[i] = settings.Secrets.Redactor().Text(completion.Values[i])
	}
	return completion, nil
}
