package pluginwire

import (
	"context"
	"errors"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	"github.com/toolhost/toolhost/internal/rpc/flow"
	"github.com/toolhost/toolhost/internal/rpc/toolpb"
	"github.com/toolhost/toolhost/tool"
)

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
