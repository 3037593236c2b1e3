package pluginwire

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	"github.com/toolhost/toolhost/internal/rpc/flow"
	"github.com/toolhost/toolhost/tool"
)

// streamSession is one Connect stream on the plugin's side: its calls and what they share.
type streamSession struct {
	server *server
	stream context.Context // the stream's own: ends when the host is gone
	ctx    context.Context // of all calls
	cancel context.CancelCauseFunc
	out    *flow.Stream[*pluginv1.ConnectResponse, *pluginv1.ConnectRequest]
	work   flow.Workers // one goroutine per call

	mu    sync.Mutex
	calls map[uint32]*ServerCall // those without an end
}

func newStreamSession(s *server, stream grpc.BidiStreamingServer[pluginv1.ConnectRequest, pluginv1.ConnectResponse]) *streamSession {
	ctx, cancel := context.WithCancelCause(stream.Context())
	session := &streamSession{server: s, stream: stream.Context(), ctx: ctx, cancel: cancel, calls: map[uint32]*ServerCall{}}
	session.out = flow.NewStream[*pluginv1.ConnectResponse, *pluginv1.ConnectRequest](stream.Send, linkResponse, outboxBytes)
	session.out.PeerMetadata(metadata.ValueFromIncomingContext(stream.Context(), flow.BatchKey))
	return session
}

// linkResponse is the link function of the stream; see flow.NewStream.
func linkResponse(first *pluginv1.ConnectResponse, batch []*pluginv1.ConnectResponse, ackToken, ack uint64) {
	first.Batch, first.AckToken, first.Ack = batch, ackToken, ack
}

// close cancels all calls, waits for them, and then for what they had to say, as far as the host still listens.
func (s *streamSession) close() {
	s.cancel(&tool.Error{Kind: tool.KindCancelled, Message: "toolhost has closed the connection", Err: context.Canceled})
	s.work.Close()
	_ = s.out.Drain(s.stream) // where it fails there is nobody to hear it
	s.out.Close()
}

// read handles the host's frames until the stream ends. It never waits for a call.
func (s *streamSession) read(stream grpc.BidiStreamingServer[pluginv1.ConnectRequest, pluginv1.ConnectResponse]) error {
	frame := &pluginv1.ConnectRequest{} // what is in it stays with its call, the frame itself is used again
	for {
		err := stream.RecvMsg(frame)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		s.out.Receive(frame, s.dispatch)
		frame.Frame, frame.Batch = nil, nil // what has been said is not kept until something else is
	}
}

func (s *streamSession) dispatch(frame *pluginv1.ConnectRequest) {
	if start, ok := frame.GetFrame().(*pluginv1.ConnectRequest_Start); ok {
		s.begin(frame.GetCall(), start.Start)
		return
	}
	s.mu.Lock()
	call := s.calls[frame.GetCall()]
	s.mu.Unlock()
	if call == nil {
		return
	}
	switch f := frame.GetFrame().(type) {
	case *pluginv1.ConnectRequest_Append:
		call.arguments.append(f.Append.GetText())
	case *pluginv1.ConnectRequest_Complete:
		call.arguments.finish(f.Complete.GetArguments())
	case *pluginv1.ConnectRequest_Cancel:
		call.stop(f.Cancel.GetReason())
	case *pluginv1.ConnectRequest_Credit:
		call.credit.Grant(int(f.Credit.GetBytes()))
	case *pluginv1.ConnectRequest_Artifact:
		call.asking.answered(f.Artifact)
	}
}

func (s *streamSession) begin(number uint32, start *pluginv1.StartCall) {
	call := newServerCall(s, number, start)
	s.mu.Lock()
	_, taken := s.calls[number]
	if !taken {
		s.calls[number] = call
	}
	s.mu.Unlock()
	if taken {
		call.release()
		s.server.cfg.Logger.Error("toolhost used the number of a call that has not ended", slog.Uint64("call", uint64(number)))
		return
	}
	s.work.Go(func() { s.run(call) }) // ends with Handler.Call; close waits for it
}

// run runs one call to its end, and says it.
func (s *streamSession) run(call *ServerCall) {
	end, size := &endFrame{}, 0
	defer func() {
		if size == 0 {
			size = end.fail(tool.Errorf(tool.KindInternal, "the tool ended its goroutine (runtime.Goexit) without an answer"))
		}
		s.mu.Lock()
		delete(s.calls, call.number)
		s.mu.Unlock()
		call.release()
		_ = s.out.Put(s.stream, end.of(call.number), size) // where it fails there is nobody to hear it
	}()
	size = s.outcome(call, end)
}

// outcome runs a call, makes its outcome that of end, and returns about how many bytes that has.
func (s *streamSession) outcome(call *ServerCall, end *endFrame) (size int) {
	var result tool.Result
	err := s.server.guard(slog.String("call_id", call.start.CallID), func() (err error) {
		result, err = s.server.handler.Call(&call.ctx, call)
		return err
	})
	if err == nil {
		size, err = call.sendResult(result, end)
	}
	if err != nil {
		size = end.fail(call.explain(err))
	}
	return size
}
