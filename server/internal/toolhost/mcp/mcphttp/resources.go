package mcphttp

import (
	"cmp"
	"context"
	"iter"

	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/tool"
)

// requester completes who a request for resources or prompts is for.
func (t *hostTools) requester(who tool.Requester) tool.Requester {
	who.Principal, who.Groups, who.Via = t.principal.Key(), t.principal.Groups, ""
	who.From = cmp.Or(who.From, t.principal.From)
	return who
}

// ListResources implements mcpserver.Resources.
func (t *hostTools) ListResources(ctx context.Context, q tool.ResourceQuery) (tool.Resources, error) {
	if err := t.require(ctx, authz.ToolsList, "list resources", q.Plugin); err != nil {
		return tool.Resources{}, err
	}
	q.Requester = t.requester(q.Requester)
	return t.host.ListResources(t.context(ctx), q)
}

// ListResourceTemplates implements mcpserver.Resources.
func (t *hostTools) ListResourceTemplates(ctx context.Context, q tool.ResourceQuery) (tool.ResourceTemplates, error) {
	if err := t.require(ctx, authz.ToolsList, "list resources", q.Plugin); err != nil {
		return tool.ResourceTemplates{}, err
	}
	q.Requester = t.requester(q.Requester)
	return t.host.ListResourceTemplates(t.context(ctx), q)
}

// ReadResource implements mcpserver.Resources.
func (t *hostTools) ReadResource(ctx context.Context, r tool.ResourceRead) (tool.ResourceContents, error) {
	if err := t.require(ctx, authz.ToolsCall, "read resources", r.Plugin); err != nil {
		return tool.ResourceContents{}, err
	}
	r.Requester = t.requester(r.Requester)
	return t.host.ReadResource(t.context(ctx), r)
}

// WatchResources implements mcpserver.Resources.
func (t *hostTools) WatchResources(ctx context.Context, q tool.ResourceWatch) iter.Seq2[tool.ResourceChange, error] {
	if err := t.require(ctx, authz.ToolsCall, "watch resources", q.Plugin); err != nil {
		return func(yield func(tool.ResourceChange, error) bool) { yield(tool.ResourceChange{}, err) }
	}
	q.Requester = t.requester(q.Requester)
	return t.host.WatchResources(t.context(ctx), q)
}

// ListPrompts implements mcpserver.Prompts.
func (t *hostTools) ListPrompts(ctx context.Context, q tool.ResourceQuery) (tool.Prompts, error) {
	if err := t.require(ctx, authz.ToolsList, "list prompts", q.Plugin); err != nil {
		return tool.Prompts{}, err
	}
	q.Requester = t.requester(q.Requester)
	return t.host.ListPrompts(t.context(ctx), q)
}

// GetPrompt implements mcpserver.Prompts.
func (t *hostTools) GetPrompt(ctx context.Context, r tool.PromptRequest) (tool.PromptText, error) {
	if err := t.require(ctx, authz.ToolsCall, "get prompts", r.Name); err != nil {
		return tool.PromptText{}, err
	}
	r.Requester = t.requester(r.Requester)
	return t.host.GetPrompt(t.context(ctx), r)
}

// CompleteArgument implements mcpserver.Prompts.
func (t *hostTools) CompleteArgument(ctx context.Context, r tool.CompletionRequest) (tool.Completion, error) {
	if err := t.require(ctx, authz.ToolsCall, "complete arguments", r.Prompt); err != nil {
		return tool.Completion{}, err
	}
	r.Requester = t.requester(r.Requester)
	return t.host.CompleteArgument(t.context(ctx), r)
}
