package pluginwire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"sync"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	"github.com/toolhost/toolhost/internal/wire/flow"
	"github.com/toolhost/toolhost/internal/wire/trace"
	"github.com/toolhost/toolhost/tool"
)

// Call is one call of a Conn. Append and Complete must not be called concurrently, and neither must
// Next; all other methods are safe for concurrent use.
type Call struct {
	conn   *Conn
	out    *flow.Stream[*pluginv1.ConnectRequest, *pluginv1.ConnectResponse]
	number uint32
	id     string
	inbox  *flow.Inbox[*pluginv1.ConnectResponse]

	artifacts ArtifactReader                            // nil: the call has no artifacts
	hold      func(ctx context.Context, size int) error // nil: the size of results is not reserved
	settles   bool                                      // the call asks what became of an earlier one
	spans     func(spans []trace.Span, dropped int)     // nil: spans are ignored

	mu        sync.Mutex
	complete  bool // the arguments are complete
	cancelled bool // a cancel frame was sent
	over      bool // the call has ended, failed, or was closed
	questions questions

	// Used by Next only.
	spanBytes  int // how many bytes of spans are still accepted
	spansTaken int
	result     assembly
	statuses   statusFold
	finished   bool // Next returned the Ended event
}

// Start starts a call. ctx limits only the wait for room on the stream. An error means that the
// plugin does not execute the call: it is the cause of ctx, or wraps ErrConnLost. Large arguments
// are split, so that frames of other calls can be sent in between.
func (c *Conn) Start(ctx context.Context, start Start) (*Call, error) {
	call, err := c.register(start)
	if err != nil {
		return nil, err
	}
	first, rest := start, []byte(nil)
	if len(start.Arguments) > maxPiece && !start.Settle { // the contract requires them whole
		first.Arguments, rest, first.Complete = start.Arguments[:maxPiece], start.Arguments[maxPiece:], false
	}
	call.complete = start.Complete
	if err := call.putStart(ctx, first); err != nil {
		c.forget(call.number)
		return nil, err
	}
	if len(rest) > 0 {
		err = call.appendText(ctx, rest)
		if err == nil && start.Complete {
			err = call.putComplete(ctx, nil)
		}
	}
	if err != nil {
		call.Close()
		return nil, err
	}
	return call, nil
}

func (c *Conn) register(start Start) (*Call, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.err != nil:
		return nil, c.loss()
	case c.out == nil:
		return nil, tool.Errorf(tool.KindInternal, "starting a call: the connection to the plugin is not open")
	case c.last == math.MaxUint32:
		return nil, tool.Errorf(tool.KindUnavailable, "starting a call: the connection has carried all the calls that it can; restart the plugin")
	}
	c.last++
	call := &Call{conn: c, out: c.out, number: c.last, id: start.CallID, artifacts: start.Artifacts, hold: start.Hold, spans: start.Spans, spanBytes: start.SpanBytes}
	call.inbox = flow.NewInbox[*pluginv1.ConnectResponse](c.cfg.CallWindow, call.grant)
	call.result.limit = c.cfg.MaxResultBytes
	if start.Settle {
		call.settles, call.result.limit = true, min(c.cfg.MaxResultBytes, maxMessage)
	}
	c.calls[call.number] = call
	return call, nil
}

func (c *Call) putStart(ctx context.Context, start Start) error {
	frame, size, err := c.startFrame(start)
	if err != nil {
		return err
	}
	return c.put(ctx, frame, size)
}

// startFrame refuses a frame that is larger than a message may be, because it would end the stream
// of all calls.
func (c *Call) startFrame(start Start) (frame *pluginv1.ConnectRequest, size int, err error) {
	frame = &pluginv1.ConnectRequest{
		Call:  c.number,
		Frame: &pluginv1.ConnectRequest_Start{Start: fromStart(start, c.conn.cfg.CallWindow)},
	}
	size = frame.SizeWire()
	if size > maxMessage {
		return nil, 0, tool.Errorf(tool.KindInvalidArgument, "starting a call: its context values and secrets have %d bytes; at most %d can be sent", size-len(start.Arguments), maxMessage-maxPiece)
	}
	return frame, size, nil
}

// Append sends argument text of a call that was started with incomplete arguments. The text may end
// anywhere. Append blocks until the stream has room or ctx ends. It does nothing if the call has
// ended.
func (c *Call) Append(ctx context.Context, text []byte) error {
	if open, err := c.argumentsOpen(); !open {
		return err
	}
	return c.appendText(ctx, bytes.Clone(text))
}

// Complete says that the arguments are complete and valid, so that the plugin executes the call.
// arguments, if not empty, replace the text that was sent; they must not change during the call,
// and are sent in one frame of at most 4 MiB. Complete blocks until the stream has room or ctx
// ends. It does nothing if the call has ended. An error means that the plugin does not execute the
// call, which is still open.
func (c *Call) Complete(ctx context.Context, arguments []byte) error {
	if open, err := c.argumentsOpen(); !open {
		return err
	}
	if len(arguments) > maxReplacement {
		return tool.Errorf(tool.KindInvalidArgument, "the arguments have %d bytes; at most %d can replace the text of a call", len(arguments), maxReplacement)
	}
	if err := c.putComplete(ctx, arguments); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.complete = true
	return nil
}

// Cancel requests the cancellation of the call. It does not block. The call still ends with the
// outcome that the plugin sends. Only the first Cancel has an effect.
func (c *Call) Cancel(reason string) {
	c.mu.Lock()
	first := !c.cancelled && !c.over
	c.cancelled = true
	c.mu.Unlock()
	if first {
		c.sendCancel(reason)
	}
}

// Close removes the call: later frames of the plugin for it are ignored. If it has not ended, it is
// canceled. Close does not block and may be called more than once.
func (c *Call) Close() {
	c.mu.Lock()
	cancel := !c.cancelled && !c.over
	c.cancelled, c.over = true, true
	c.mu.Unlock()
	c.conn.forget(c.number)
	c.inbox.Abort(errCallClosed)
	if cancel {
		c.sendCancel("toolhost is not interested any more")
	}
}

func (c *Call) sendCancel(reason string) {
	cancel := &pluginv1.CancelCall{Reason: validText(clip(reason, maxReason))}
	c.putNow(&pluginv1.ConnectRequest{Call: c.number, Frame: &pluginv1.ConnectRequest_Cancel{Cancel: cancel}})
}

// argumentsOpen reports whether argument text may be sent. If not, err is the reason, or nil if the
// call has ended.
func (c *Call) argumentsOpen() (open bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.over:
		return false, nil
	case c.complete:
		return false, tool.Errorf(tool.KindInternal, "sending arguments: they were said to be complete")
	default:
		return true, nil
	}
}

func (c *Call) appendText(ctx context.Context, text []byte) error {
	for len(text) > 0 {
		n := min(len(text), maxPiece)
		piece := &pluginv1.ConnectRequest_Append{Append: &pluginv1.AppendArguments{Text: text[:n]}}
		if err := c.put(ctx, &pluginv1.ConnectRequest{Call: c.number, Frame: piece}, n); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}

func (c *Call) putComplete(ctx context.Context, arguments []byte) error {
	complete := &pluginv1.ConnectRequest_Complete{Complete: &pluginv1.CompleteArguments{Arguments: arguments}}
	return c.put(ctx, &pluginv1.ConnectRequest{Call: c.number, Frame: complete}, len(arguments))
}

// put queues a frame of about size bytes.
func (c *Call) put(ctx context.Context, frame *pluginv1.ConnectRequest, size int) error {
	return c.unsent(c.out.Put(ctx, frame, size))
}

// unsent returns why the outbox did not accept a frame.
func (c *Call) unsent(err error) error {
	if err == nil || c.out.Err() == nil {
		return err
	}
	if connErr := c.conn.Err(); connErr != nil {
		return connErr
	}
	return lost(err) // the error of the outbox is about to end the connection
}

// putNow queues a frame without blocking. A stream that accepts no frame ends the connection and
// all its calls.
func (c *Call) putNow(frame *pluginv1.ConnectRequest) {
	if err := c.out.PutNow(frame); errors.Is(err, flow.ErrStalled) {
		c.conn.lose(err)
	}
}

// grant gives the plugin credit for frames that the reader has taken.
func (c *Call) grant(n int) {
	credit := &pluginv1.GrantCredit{Bytes: uint32(min(n, math.MaxUint32))}
	c.putNow(&pluginv1.ConnectRequest{Call: c.number, Frame: &pluginv1.ConnectRequest_Credit{Credit: credit}})
}

// ended handles the end from the plugin.
func (c *Call) ended(frame *pluginv1.ConnectResponse) {
	c.mu.Lock()
	c.over = true
	c.mu.Unlock()
	c.inbox.Finish(io.EOF, frame)
}

// fail ends the call on the host's side: its reader receives err as the outcome, and the plugin
// receives a cancellation.
func (c *Call) fail(err *tool.Error) {
	c.inbox.Abort(&failure{err})
	c.Cancel(err.Message)
	c.conn.forget(c.number)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
}
