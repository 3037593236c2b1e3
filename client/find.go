package client

import (
	"context"
	"strings"

	"google.golang.org/grpc"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/rpc/hostpb"
	"github.com/toolhost/toolhost/internal/rpc/link"
	"github.com/toolhost/toolhost/tool"
)

// SearchTools returns the tools that match the query and hold one of the words, the best match first: 10 unless the query
// says how many. Errors: invalid_argument, also if there are no words.
func (c *Client) SearchTools(ctx context.Context, words string, query tool.Query) ([]tool.Match, error) {
	resp, err := link.Invoke(ctx, c.link, func(conn grpc.ClientConnInterface) (*toolhostv1.SearchToolsResponse, error) {
		req := &toolhostv1.SearchToolsRequest{Query: strings.ToValidUTF8(words, "\uFFFD"), Selection: hostpb.FromSelection(query)}
		return toolhostv1.NewToolServiceClient(conn).SearchTools(ctx, req)
	})
	if err != nil {
		return nil, err
	}
	return hostpb.ToMatches(resp), nil
}

// RenderTools returns the tools that match the query and can be called, ordered by name, as a model's API or a prompt
// wants them. Rendered.Omitted lists the tools that the API would refuse, with the reason. Errors: invalid_argument, also for
// a format that the toolhost does not know.
func (c *Client) RenderTools(ctx context.Context, format tool.Format, query tool.Query) (tool.Rendered, error) {
	resp, err := link.Invoke(ctx, c.link, func(conn grpc.ClientConnInterface) (*toolhostv1.RenderToolsResponse, error) {
		req := &toolhostv1.RenderToolsRequest{Format: hostpb.FromFormat(format), Selection: hostpb.FromSelection(query)}
		return toolhostv1.NewToolServiceClient(conn).RenderTools(ctx, req)
	})
	if err != nil {
		return tool.Rendered{}, err
	}
	return hostpb.ToRendered(resp), nil
}
