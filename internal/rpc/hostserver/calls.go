package hostserver

import (
	"context"

	"google.golang.org/grpc"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/rpc/hostpb"
	"github.com/toolhost/toolhost/tool"
)

// WatchCall implements toolhost.v1.ToolService. A shutdown does not cut it: it ends with its call, which the shutdown
// bounds.
func (s *toolService) WatchCall(req *toolhostv1.WatchCallRequest, stream grpc.ServerStreamingServer[toolhostv1.WatchCallResponse]) error {
	key := tool.CallKey{Principal: principalOf(stream.Context()), Session: req.GetSession(), ID: req.GetCallId()}
	for event, err := range s.calls.WatchCall(withAccount(stream.Context()), key, req.GetAfterSeq()) {
		if err != nil {
			return err
		}
		for m := range hostpb.FromEvent(event) {
			if err := stream.Send(&toolhostv1.WatchCallResponse{Event: m}); err != nil {
				return err
			}
		}
	}
	return nil
}

// CancelCall implements toolhost.v1.ToolService.
func (s *toolService) CancelCall(ctx context.Context, req *toolhostv1.CancelCallRequest) (*toolhostv1.CancelCallResponse, error) {
	key := tool.CallKey{Principal: principalOf(ctx), Session: req.GetSession(), ID: req.GetCallId()}
	if err := s.calls.CancelCall(ctx, key, req.GetReason()); err != nil {
		return nil, err
	}
	return &toolhostv1.CancelCallResponse{}, nil
}

// ListCalls implements toolhost.v1.AdminService.
func (s *adminService) ListCalls(ctx context.Context, req *toolhostv1.ListCallsRequest) (*toolhostv1.ListCallsResponse, error) {
	if req.GetPageSize() < 0 {
		return nil, tool.Errorf(tool.KindInvalidArgument, "page_size %d must not be negative", req.GetPageSize())
	}
	page, err := s.host.Calls(ctx, hostpb.ToCallQuery(req))
	if err != nil {
		return nil, err
	}
	resp := &toolhostv1.ListCallsResponse{NextPageToken: page.NextPageToken}
	for _, c := range page.Calls {
		resp.Calls = append(resp.Calls, hostpb.FromCallRecord(c))
	}
	return resp, nil
}
