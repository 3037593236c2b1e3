package hostserver

import (
	"context"

	"google.golang.org/protobuf/proto"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/rpc/hostpb"
	"github.com/toolhost/toolhost/tool"
)

// Finder searches and renders tools. Errors: invalid_argument.
type Finder interface {
	// SearchTools returns the tools that match and hold one of the words, the best match first.
	SearchTools(ctx context.Context, words string, query tool.Query) ([]tool.Match, error)
	// RenderTools returns the tools that match and can be called, ordered by name, in a format. One that is empty, or not
	// known, is an error.
	RenderTools(ctx context.Context, format tool.Format, query tool.Query) (tool.Rendered, error)
}

// SearchTools implements toolhost.v1.ToolService.
func (s *toolService) SearchTools(ctx context.Context, req *toolhostv1.SearchToolsRequest) (*toolhostv1.SearchToolsResponse, error) {
	query := hostpb.ToSelection(req.GetSelection())
	query.Principal = principalOf(ctx)
	matches, err := s.host.SearchTools(ctx, req.GetQuery(), query)
	if err != nil {
		return nil, err
	}
	resp := hostpb.FromMatches(matches)
	return resp, fits(resp)
}

// RenderTools implements toolhost.v1.ToolService.
func (s *toolService) RenderTools(ctx context.Context, req *toolhostv1.RenderToolsRequest) (*toolhostv1.RenderToolsResponse, error) {
	query := hostpb.ToSelection(req.GetSelection())
	query.Principal = principalOf(ctx)
	rendered, err := s.host.RenderTools(ctx, hostpb.ToFormat(req.GetFormat()), query)
	if err != nil {
		return nil, err
	}
	resp := hostpb.FromRendered(rendered)
	return resp, fits(resp)
}

// fits returns an error for an answer that does not fit a message.
func fits(resp proto.Message) error {
	if size := proto.Size(resp); size > hostpb.MaxMessageBytes {
		return tool.Errorf(tool.KindInvalidArgument, "the tools have %d bytes, and an answer at most %d; select fewer", size, hostpb.MaxMessageBytes)
	}
	return nil
}
