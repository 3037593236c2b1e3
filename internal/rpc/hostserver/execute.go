package hostserver

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
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
	call.init(withAccount(stream.Context()), s, first.GetStart())
	defer call.letGo()
	defer context.AfterFunc(stream.Context(), func() { call.giveUp(context.Cause(stream.Context())) })()
	if call.start == nil {
		call.end(tool.Errorf(tool.KindInvalidArgument, "the first frame must be `start`"))
		return nil
	}
	if refused := call.reserve(); refused != nil {
		call.end(refused)
		return nil
	}
	// Reads until the stream ends, at the latest when this handler returns; the server waits for it.
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
