package pluginwire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	"github.com/toolhost/toolhost/internal/wire/flow"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// streamSession is one Connect stream on the plugin's end, with its calls.
type streamSession struct {
	server *server
	stream context.Context // the context of the stream; ends when the host is gone
	ctx    context.Context // the parent of all call contexts
	cancel context.CancelCauseFunc
	out    *flow.Stream[*pluginv1.ConnectResponse, *pluginv1.ConnectRequest]
	work   flow.Workers // one goroutine per call

	mu    sync.Mutex
	calls map[uint32]*ServerCall // calls that have not ended
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

// close cancels all calls, waits for them, and sends their outcomes if the host still reads.
func (s *streamSession) close() {
	s.cancel(&tool.Error{Kind: tool.KindCancelled, Message: "toolhost has closed the connection", Err: context.Canceled})
	s.work.Close()
	_ = s.out.Drain(s.stream) // an error means that the stream has ended
	s.out.Close()
}

// read handles the host's frames until the stream ends. It does not wait for calls.
func (s *streamSession) read(stream grpc.BidiStreamingServer[pluginv1.ConnectRequest, pluginv1.ConnectResponse]) error {
	frame := &pluginv1.ConnectRequest{} // reused for all frames; their content stays with the calls
	for {
		err := stream.RecvMsg(frame)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		s.out.Receive(frame, s.dispatch)
		frame.Frame, frame.Batch = nil, nil // releases the content while no frame arrives
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
	case *pluginv1.ConnectRequest_Answer:
		call.asked.answered(f.Answer)
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

// run executes one call and sends its outcome.
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
		_ = s.out.Put(s.stream, end.of(call.number), size) // an error means that the stream has ended
	}()
	size = s.outcome(call, end)
}

// outcome executes a call, puts its outcome into end, and returns its approximate size.
func (s *streamSession) outcome(call *ServerCall, end *endFrame) (size int) {
	if call.start.Settle {
		return s.settlement(call, end)
	}
	var result tool.Result
	err := s.server.guard(slog.String("call_id", call.start.CallID), func() (err error) {
		result, err = s.server.handler.Call(call.ctx, call)
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

// settlement asks the handler what became of an earlier call, puts its answer into end, and returns
// its approximate size.
func (s *streamSession) settlement(call *ServerCall, end *endFrame) (size int) {
	var settlement tool.Settlement
	err := s.server.guard(slog.String("call_id", call.start.CallID), func() (err error) {
		settler, ok := s.server.handler.(Settler)
		if !ok {
			return tool.Errorf(tool.KindUnsupported, "no tool of the plugin can say what became of a call")
		}
		settlement, err = settler.Settle(call.ctx, call)
		return err
	})
	if err != nil {
		return end.fail(call.explain(err))
	}
	return end.settle(call.start.CallID, settlement)
}

// maxEvent limits one status or log record, so that it does not block other calls for long.
const maxEvent = 1 << 20

// ServerCall is one call on the plugin's end. NextArguments must not be called concurrently; Send
// may be.
type ServerCall struct {
	session   *streamSession
	number    uint32
	start     Start
	arguments argumentText
	credit    flow.Credit
	turn      flow.Credit // 1 while no goroutine sends a frame that costs credit: see send
	asking    asking
	asked     asked
	ctx       context.Context
	end       context.CancelCauseFunc // ends ctx

	// Used by SendSpans only.
	spanBytes int // how many bytes of frames with spans the host still accepts
	spansSent int
}

func newServerCall(s *streamSession, number uint32, frame *pluginv1.StartCall) *ServerCall {
	c := &ServerCall{session: s, number: number, start: toStart(frame)}
	c.spanBytes = c.start.SpanBytes
	c.credit.Grant(int(frame.GetCredit()))
	c.turn.Grant(1)
	c.ctx, c.end = callContext(s.ctx, c.start.Timeout)
	c.arguments.init(c.start.Arguments, c.start.Complete, s.server.cfg.MaxArgumentBytes)
	c.start.Arguments = nil // NextArguments returns them
	return c
}

// callContext returns the context of a call, and the function that ends it with a cause. A timeout
// of 0 means none.
func callContext(parent context.Context, timeout time.Duration) (context.Context, context.CancelCauseFunc) {
	if timeout <= 0 {
		return context.WithCancelCause(parent)
	}
	timeIsUp := &tool.Error{Kind: tool.KindTimeout, Message: "the call's time is up", Err: context.DeadlineExceeded}
	timed, stop := context.WithTimeoutCause(parent, timeout, timeIsUp)
	ctx, end := context.WithCancelCause(timed)
	return ctx, func(cause error) {
		end(cause)
		stop()
	}
}

// Start returns the start of the call as the host sent it, without the arguments.
func (c *ServerCall) Start() Start { return c.start }

// NextArguments waits for argument text. While complete is false, text is the next piece of what a
// model still generates; it may end anywhere, and may be used only for previews. When complete is
// true, text is the whole arguments, and the call is to be executed; further calls return the same.
// If the call ends before, err is the cause of ctx or of the call's context. The text must not be
// changed.
func (c *ServerCall) NextArguments(ctx context.Context) (text []byte, complete bool, err error) {
	for {
		text, complete, err = c.arguments.next()
		if complete || err != nil || len(text) > 0 {
			return text, complete, err
		}
		select {
		case <-c.arguments.more:
		case <-c.ctx.Done():
			return nil, false, context.Cause(c.ctx)
		case <-ctx.Done():
			return nil, false, context.Cause(ctx)
		}
	}
}

// Send sends the status or the log record of an event to the host. It blocks while the call has no
// credit. It fails when ctx or the call ends, or if the event has more than 1 MiB. It does nothing
// for other events. What the event refers to must not change afterwards.
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

// send sends a frame that costs credit. A frame may use more credit than is left, if some is left.
// So frames must enter the stream in the order in which they took their credit: if a large frame
// overtook a small one, the host would find the credit used up when the small one arrives, and
// would fail the call. turn gives one goroutine at a time the right to do both.
func (c *ServerCall) send(ctx context.Context, frame *pluginv1.ConnectResponse) error {
	size := frame.SizeWire()
	if size > maxEvent {
		return tool.Errorf(tool.KindInvalidArgument, "a status or log record of %d bytes; at most %d can be sent", size, maxEvent)
	}
	if err := c.acquire(ctx, &c.turn, 1); err != nil {
		return err
	}
	defer c.turn.Grant(1)
	if err := c.acquire(ctx, &c.credit, size); err != nil {
		return err
	}
	return c.session.out.Put(ctx, frame, size)
}

// acquire takes size bytes of a credit of the call. It fails when ctx or the call ends.
func (c *ServerCall) acquire(ctx context.Context, credit *flow.Credit, size int) error {
	if credit.TryAcquire(size) {
		return nil
	}
	// If a handler ignores its context, it must not wait for credit, because the host grants none to
	// a canceled call.
	waiting, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	release := context.AfterFunc(c.ctx, func() { stop(context.Cause(c.ctx)) })
	defer release()
	return credit.Acquire(waiting, size)
}

// stop cancels the call for the host.
func (c *ServerCall) stop(reason string) {
	message := "the call was cancelled"
	if reason != "" {
		message += ": " + reason
	}
	c.end(&tool.Error{Kind: tool.KindCancelled, Message: message, Err: context.Canceled})
}

// errCallEnded is the cause of a call's context after Handler.Call has returned. It is a constant,
// because the context of every call ends, and tools rarely ask why.
var errCallEnded = fmt.Errorf("the call has ended: %w", context.Canceled)

// release ends the context of the call and all waits for credit.
func (c *ServerCall) release() {
	c.turn.Close(errCallEnded)
	c.credit.Close(errCallEnded)
	c.end(errCallEnded)
}

// explain returns err as the outcome. If err is only the error of the call's context, it returns
// the cause.
func (c *ServerCall) explain(err error) *tool.Error {
	if _, ok := errors.AsType[*tool.Error](err); !ok && c.ctx.Err() != nil &&
		(errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		err = context.Cause(c.ctx)
	}
	return tool.AsError(err)
}

// argumentText collects the argument text of a call.
type argumentText struct {
	limit int
	more  chan struct{} // contains a token when text has arrived; nil if the text was complete at the start

	mu       sync.Mutex
	text     []byte
	seen     int // the length of text that the reader has seen
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

// finish marks the text as complete. arguments, if not empty, replace it.
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

// next returns the text that the reader has not seen, or all of it once it is complete. Later text
// is never written into the returned slice.
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

// guard runs f and converts a panic in it to an error. The stack goes to the log. guard cannot
// handle runtime.Goexit in f; see streamSession.run.
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
