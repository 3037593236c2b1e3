package client

import (
	"context"
	"iter"

	"google.golang.org/grpc"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/wire/hostpb"
	"github.com/toolhost/toolhost/internal/wire/link"
	"github.com/toolhost/toolhost/tool"
)

// listPages requests pages until the last one.
func listPages(page func(token string) (next string, err error)) error {
	for token := ""; ; {
		next, err := page(token)
		if err != nil || next == "" {
			return err
		}
		token = next
	}
}

// ListResources returns the resources that plugins offer, ordered by plugin and URI. It may start
// instances. Of the requester, only the session counts: toolhost uses the principal of the
// connection. Errors: not_found for an unknown plugin.
func (c *Client) ListResources(ctx context.Context, q tool.ResourceQuery) (tool.Resources, error) {
	all := tool.Resources{Resources: []tool.Resource{}}
	err := listPages(func(token string) (string, error) {
		resp, err := link.Invoke(ctx, c.fleet.To(q.Session), func(conn grpc.ClientConnInterface) (*toolhostv1.ListResourcesResponse, error) {
			return toolhostv1.NewToolServiceClient(conn).ListResources(ctx, &toolhostv1.ListResourcesRequest{
				Plugin: q.Plugin, Session: q.Session, PageSize: pageSize, PageToken: token, OnBehalfOf: onBehalfOf(ctx),
			})
		})
		for _, r := range resp.GetResources() {
			all.Resources = append(all.Resources, hostpb.ToResource(r))
		}
		all.Unlisted = hostpb.ToUnlisted(resp.GetUnlisted())
		return resp.GetNextPageToken(), err
	})
	return all, err
}

// ListResourceTemplates returns the templates of resources that plugins offer, ordered by plugin
// and template. It is otherwise like ListResources.
func (c *Client) ListResourceTemplates(ctx context.Context, q tool.ResourceQuery) (tool.ResourceTemplates, error) {
	all := tool.ResourceTemplates{Templates: []tool.ResourceTemplate{}}
	err := listPages(func(token string) (string, error) {
		resp, err := link.Invoke(ctx, c.fleet.To(q.Session), func(conn grpc.ClientConnInterface) (*toolhostv1.ListResourceTemplatesResponse, error) {
			return toolhostv1.NewToolServiceClient(conn).ListResourceTemplates(ctx, &toolhostv1.ListResourceTemplatesRequest{
				Plugin: q.Plugin, Session: q.Session, PageSize: pageSize, PageToken: token, OnBehalfOf: onBehalfOf(ctx),
			})
		})
		for _, t := range resp.GetResourceTemplates() {
			all.Templates = append(all.Templates, hostpb.ToResourceTemplate(t))
		}
		all.Unlisted = hostpb.ToUnlisted(resp.GetUnlisted())
		return resp.GetNextPageToken(), err
	})
	return all, err
}

// ReadResource returns the content of a resource. An artifact stands for content that is too large:
// ReadArtifact returns it, with the same session. Errors: not_found; invalid_argument, also if
// several plugins offer the URI; denied by a rule of the operator.
func (c *Client) ReadResource(ctx context.Context, r tool.ResourceRead) (tool.ResourceContents, error) {
	resp, err := link.Invoke(ctx, c.fleet.To(r.Session), func(conn grpc.ClientConnInterface) (*toolhostv1.ReadResourceResponse, error) {
		return toolhostv1.NewToolServiceClient(conn).ReadResource(ctx, &toolhostv1.ReadResourceRequest{
			Plugin: r.Plugin, Uri: r.URI, Session: r.Session, MaxShownBytes: uint32(max(0, min(r.MaxShown, tool.MaxArtifactPiece))), OnBehalfOf: onBehalfOf(ctx),
		})
	})
	if err != nil {
		return tool.ResourceContents{}, err
	}
	return hostpb.ToResourceContents(resp), nil
}

// ListPrompts returns the prompts that plugins offer, ordered by plugin and name. It is otherwise
// like ListResources.
func (c *Client) ListPrompts(ctx context.Context, q tool.ResourceQuery) (tool.Prompts, error) {
	all := tool.Prompts{Prompts: []tool.Prompt{}}
	err := listPages(func(token string) (string, error) {
		resp, err := link.Invoke(ctx, c.fleet.To(q.Session), func(conn grpc.ClientConnInterface) (*toolhostv1.ListPromptsResponse, error) {
			return toolhostv1.NewToolServiceClient(conn).ListPrompts(ctx, &toolhostv1.ListPromptsRequest{
				Plugin: q.Plugin, Session: q.Session, PageSize: pageSize, PageToken: token, OnBehalfOf: onBehalfOf(ctx),
			})
		})
		for _, p := range resp.GetPrompts() {
			all.Prompts = append(all.Prompts, hostpb.ToPrompt(p))
		}
		all.Unlisted = hostpb.ToUnlisted(resp.GetUnlisted())
		return resp.GetNextPageToken(), err
	})
	return all, err
}

// GetPrompt returns a prompt with its arguments filled in. All messages are the words of the
// plugin. Errors: those of ReadResource.
func (c *Client) GetPrompt(ctx context.Context, r tool.PromptRequest) (tool.PromptText, error) {
	resp, err := link.Invoke(ctx, c.fleet.To(r.Session), func(conn grpc.ClientConnInterface) (*toolhostv1.GetPromptResponse, error) {
		req := hostpb.FromPromptRequest(r)
		req.OnBehalfOf = onBehalfOf(ctx)
		return toolhostv1.NewToolServiceClient(conn).GetPrompt(ctx, req)
	})
	if err != nil {
		return tool.PromptText{}, err
	}
	return hostpb.ToPromptText(resp), nil
}

// CompleteArgument returns values of an argument of a prompt or a template, for a person who types
// one. Errors: those of ReadResource.
func (c *Client) CompleteArgument(ctx context.Context, r tool.CompletionRequest) (tool.Completion, error) {
	resp, err := link.Invoke(ctx, c.fleet.To(r.Session), func(conn grpc.ClientConnInterface) (*toolhostv1.CompleteArgumentResponse, error) {
		req := hostpb.FromCompletionRequest(r)
		req.OnBehalfOf = onBehalfOf(ctx)
		return toolhostv1.NewToolServiceClient(conn).CompleteArgument(ctx, req)
	})
	if err != nil {
		return tool.Completion{}, err
	}
	return hostpb.ToCompletion(resp), nil
}

// WatchResources returns notices of changes. The first one is empty: from then on, no change is
// missed. If ctx ends or the connection is lost, the last element is an error; to continue, call
// WatchResources again. Leaving the loop ends the watch. Errors: those of ReadResource, for a
// single resource.
func (c *Client) WatchResources(ctx context.Context, q tool.ResourceWatch) iter.Seq2[tool.ResourceChange, error] {
	open := func(ctx context.Context, conn grpc.ClientConnInterface) (grpc.ServerStreamingClient[toolhostv1.WatchResourcesResponse], error) {
		return toolhostv1.NewToolServiceClient(conn).WatchResources(ctx, &toolhostv1.WatchResourcesRequest{
			Plugin: q.Plugin, Resources: hostpb.FromResourceRefs(q.Resources), Session: q.Session, OnBehalfOf: onBehalfOf(ctx),
		})
	}
	return link.Receive(ctx, c.fleet.To(q.Session), open, hostpb.ToResourceChange)
}
