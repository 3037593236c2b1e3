package hostserver

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/wire/hostpb"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/tool"
)

type executeStream = grpc.BidiStreamingServer[toolhostv1.ExecuteRequest, toolhostv1.ExecuteResponse]

// Execute implements toolhost.v1.ToolService.
func (s *toolService) Execute(stream executeStream) error {
	emit := func(m *toolhostv1.CallEvent) error {
		return stream.Send(&toolhostv1.ExecuteResponse{Event: m})
	}
	first, err := stream.Recv()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	call := &streamCall{emit: emit}
	caller := callerOf(stream.Context())
	call.valid = gate.Recheck(stream.Context())
	call.init(withAccount(stream.Context()), &caller, s, first.GetStart())
	defer call.letGo()
	defer call.giveUp(nil)
	if call.start == nil {
		call.end(tool.Errorf(tool.KindInvalidArgument, "the first frame must be `start`"))
		return nil
	}
	if refused := call.reserve(); refused != nil {
		call.end(refused)
		return nil
	}
	if refused := call.recheck(); refused != nil { // the caller may have sent the first frame late
		call.end(refused)
		return nil
	}
	// ends with the stream, at the latest when this handler returns; the server waits for it
	s.tasks.Go(func() { receiveCall(stream, call) })
	call.run()
	return nil
}

func receiveCall(stream executeStream, call *streamCall) {
	for {
		req, err := stream.Recv()
		if err != nil {
			if errors.Is(err, io.EOF) {
				call.callerDone()
			}
			return
		}
		switch frame := req.GetFrame().(type) {
		case *toolhostv1.ExecuteRequest_Start:
			call.giveUp(tool.Errorf(tool.KindInvalidArgument, "`start` came twice; the call was stopped"))
		case *toolhostv1.ExecuteRequest_Append:
			call.append(frame.Append.GetText())
		case *toolhostv1.ExecuteRequest_Complete:
			call.finish()
		case *toolhostv1.ExecuteRequest_Cancel:
			call.cancel(frame.Cancel.GetReason())
		}
	}
}

// WatchCall implements toolhost.v1.ToolService. A shutdown does not cut it: it ends with its call,
// which the shutdown bounds.
func (s *toolService) WatchCall(req *toolhostv1.WatchCallRequest, stream grpc.ServerStreamingServer[toolhostv1.WatchCallResponse]) error {
	caller := callerOf(stream.Context())
	of, err := s.subjectOf(stream.Context(), &caller, authz.CallsOwn, req.GetOnBehalfOf())
	if err != nil {
		return err
	}
	key := tool.CallKey{Principal: of.key, Session: req.GetSession(), ID: req.GetCallId()}
	if done, err := s.watchAtPeer(req, key, stream); done {
		return err
	}
	for event, err := range s.calls.WatchCall(withAccount(stream.Context()), key, req.GetAfterSeq()) {
		if err != nil {
			return s.missing(stream.Context(), &caller, of, req.GetCallId(), err)
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
	caller := callerOf(ctx)
	of, err := s.subjectOf(ctx, &caller, authz.CallsOwn, req.GetOnBehalfOf())
	if err != nil {
		return nil, err
	}
	key := tool.CallKey{Principal: of.key, Session: req.GetSession(), ID: req.GetCallId()}
	err = s.calls.CancelCall(ctx, key, req.GetReason())
	err = s.orAtPeer(ctx, key, err, func(ctx context.Context, c toolhostv1.ToolServiceClient) error {
		_, err := c.CancelCall(ctx, req)
		return err
	})
	if err != nil {
		return nil, s.missing(ctx, &caller, of, req.GetCallId(), err)
	}
	return &toolhostv1.CancelCallResponse{}, nil
}

// AnswerQuestion implements toolhost.v1.ToolService.
func (s *toolService) AnswerQuestion(ctx context.Context, req *toolhostv1.AnswerQuestionRequest) (*toolhostv1.AnswerQuestionResponse, error) {
	caller := callerOf(ctx)
	of, err := s.subjectOf(ctx, &caller, authz.CallsOwn, req.GetOnBehalfOf())
	if err != nil {
		return nil, err
	}
	key := tool.CallKey{Principal: of.key, Session: req.GetSession(), ID: req.GetCallId()}
	err = s.calls.AnswerQuestion(ctx, key, req.GetQuestion(), toolpb.ToAnswer(req.GetAnswer()))
	err = s.orAtPeer(ctx, key, err, func(ctx context.Context, c toolhostv1.ToolServiceClient) error {
		_, err := c.AnswerQuestion(ctx, req)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &toolhostv1.AnswerQuestionResponse{}, nil
}

// ListCalls implements toolhost.v1.AdminService.
func (s *adminService) ListCalls(ctx context.Context, req *toolhostv1.ListCallsRequest) (*toolhostv1.ListCallsResponse, error) {
	if req.GetPageSize() < 0 {
		return nil, tool.Errorf(tool.KindInvalidArgument, "page_size %d must not be negative", req.GetPageSize())
	}
	query := hostpb.ToCallQuery(req)
	query.Tenants = s.tenants(ctx, authz.CallsList, query.Tenants)
	page, err := s.host.Calls(ctx, query)
	if err != nil {
		return nil, err
	}
	resp := &toolhostv1.ListCallsResponse{NextPageToken: page.NextPageToken}
	for _, c := range page.Calls {
		resp.Calls = append(resp.Calls, hostpb.FromCallRecord(c))
	}
	return resp, nil
}
