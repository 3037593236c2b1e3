package pluginwire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	"github.com/toolhost/toolhost/internal/rpc/flow"
	"github.com/toolhost/toolhost/internal/rpc/toolpb"
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

// maxEvent bounds one status or log record: more than anybody reads, and less than what holds up other calls for long.
const maxEvent = 1 << 20

// ServerCall is one call as the plugin sees it. NextArguments is called from one goroutine at a time; Send from any.
type ServerCall struct {
	session   *streamSession
	number    uint32
	start     Start
	arguments argumentText
	credit    flow.Credit
	asking    asking
	ctx       flow.CallContext
}

func newServerCall(s *streamSession, number uint32, frame *pluginv1.StartCall) *ServerCall {
	c := &ServerCall{session: s, number: number, start: toStart(frame)}
	c.credit.Grant(int(frame.GetCredit()))
	c.ctx.Init(s.ctx, c.start.Timeout, timeIsUp)
	c.arguments.init(c.start.Arguments, c.start.Complete, s.server.cfg.MaxArgumentBytes)
	c.start.Arguments = nil // to be had by NextArguments
	return c
}

// timeIsUp returns the cause with which the context of a call ends at its deadline.
func timeIsUp() error {
	return &tool.Error{Kind: tool.KindTimeout, Message: "the call's time is up", Err: context.DeadlineExceeded}
}

// Start returns what the host said at the start, without the arguments.
func (c *ServerCall) Start() Start { return c.start }

// NextArguments waits for argument text. While complete is false, text is the next piece of what a model still writes,
// good for previews alone, and may end anywhere. When complete is true, text is the whole arguments, and the call is to
// be executed; further calls return the same. If the call is cancelled or abandoned before, err is ctx's cause or that
// of the call. The text must not be changed.
func (c *ServerCall) NextArguments(ctx context.Context) (text []byte, complete bool, err error) {
	for {
		text, complete, err = c.arguments.next()
		if complete || err != nil || len(text) > 0 {
			return text, complete, err
		}
		select {
		case <-c.arguments.more:
		case <-c.ctx.Done():
			return nil, false, context.Cause(&c.ctx)
		case <-ctx.Done():
			return nil, false, context.Cause(ctx)
		}
	}
}

// Send sends the event's status or log record to the host, and waits while the call's reader has not taken enough of
// what was sent before. It fails when ctx or the call ends first, or when the event has more than 1 MiB; an event with
// neither does nothing. What the event points to must not be changed afterwards.
func (c *ServerCall) Send(ctx context.Context, event tool.Event) error {
	frame := &pluginv1.ConnectResponse{Call: c.number}
	switch {
	case event.Status != nil:
		frame.Frame = &pluginv1.ConnectResponse_Status{Status: toolpb.FromStatus(*event.Status)}
	case event.Log != nil:
		frame.Frame = &pluginv1.ConnectResponse_Log{Log: toolpb.FromLogRecord(*event.Log)}
	default:
		return nil
	}
	return c.send(ctx, frame)
}

func (c *ServerCall) send(ctx context.Context, frame *pluginv1.ConnectResponse) error {
	size := frame.SizeWire()
	if size > maxEvent {
		return tool.Errorf(tool.KindInvalidArgument, "a status or log record of %d bytes; at most %d can be sent", size, maxEvent)
	}
	if !c.credit.TryAcquire(size) {
		// A handler that ignores its context must not wait for credit that nobody will grant to a cancelled call.
		waiting, stop := context.WithCancelCause(ctx)
		defer stop(nil)
		release := context.AfterFunc(&c.ctx, func() { stop(context.Cause(&c.ctx)) })
		defer release()
		if err := c.credit.Acquire(waiting, size); err != nil {
			return err
		}
	}
	return c.session.out.Put(ctx, frame, size)
}

// stop cancels the call on the host's behalf.
func (c *ServerCall) stop(reason string) {
	message := "the call was cancelled"
	if reason != "" {
		message += ": " + reason
	}
	c.ctx.End(&tool.Error{Kind: tool.KindCancelled, Message: message, Err: context.Canceled})
}

// release lets go of what the call holds, and of those who still wait to send for it.
func (c *ServerCall) release() {
	over := &tool.Error{Kind: tool.KindCancelled, Message: "the call has ended", Err: context.Canceled}
	c.credit.Close(over)
	c.ctx.End(over)
}

// explain returns err as the outcome. Where it only says that the call's context ended, the outcome says why it did.
func (c *ServerCall) explain(err error) *tool.Error {
	if _, ok := errors.AsType[*tool.Error](err); !ok && c.ctx.Err() != nil &&
		(errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		err = context.Cause(&c.ctx)
	}
	return tool.AsError(err)
}

// argumentText is a call's argument text as it comes in.
type argumentText struct {
	limit int
	more  chan struct{} // holds one token for a reader; nil if the text was complete from the start

	mu       sync.Mutex
	text     []byte
	seen     int // of text, by the reader
	complete bool
	err      error
}

func (a *argumentText) init(text []byte, complete bool, limit int) {
	a.text, a.complete, a.limit = text, complete, limit
	if !complete {
		a.more = make(chan struct{}, 1)
	}
}

func (a *argumentText) append(text []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.complete || a.err != nil {
		return
	}
	if len(a.text)+len(text) > a.limit {
		a.err = tool.Errorf(tool.KindInvalidArgument, "the arguments are larger than the %d bytes that are allowed", a.limit)
		a.text = nil
	} else {
		a.text = append(a.text, text...)
	}
	a.notify()
}

// finish says that the text is complete. arguments, if not empty, replace it.
func (a *argumentText) finish(arguments []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.complete || a.err != nil {
		return
	}
	if len(arguments) > 0 {
		a.text = arguments
	}
	a.complete = true
	a.notify()
}

// next returns the text that the reader has not seen, or all of it once it is complete. Growth never writes into what
// was returned.
func (a *argumentText) next() (text []byte, complete bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.complete || a.err != nil {
		return a.text, a.complete, a.err
	}
	text = a.text[a.seen:len(a.text):len(a.text)]
	a.seen = len(a.text)
	return text, false, nil
}

func (a *argumentText) notify() {
	select {
	case a.more <- struct{}{}:
	default:
	}
}

// guard runs f, which is not ours, and makes a panic in it an error that names it. The stack goes to the log.
// A goroutine that f ends by runtime.Goexit cannot be saved; see streamSession.run.
func (s *server) guard(what slog.Attr, f func() error) (err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		s.cfg.Logger.Error("panic in a tool", what, slog.Any("panic", fmt.Sprint(p)), slog.String("stack", string(debug.Stack())))
		err = tool.Errorf(tool.KindInternal, "panic: %s", clip(fmt.Sprint(p), maxReason))
	}()
	return f()
}
