package hostserver

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc/metadata"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/wire/flow"
	"github.com/toolhost/toolhost/internal/wire/hostpb"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/intake"
	"github.com/toolhost/toolhost/server/internal/fairness/budget"
	"github.com/toolhost/toolhost/tool"
)

// maxQueuedText limits the argument text of one call that the host has not yet received.
const maxQueuedText = 16 << 20

// streamCall is one call on a stream. The stream's reader calls its methods, which do not block;
// events leave through emit.
type streamCall struct {
	service *toolService
	start   *toolhostv1.StartCall
	stream  context.Context            // the context of the stream, with the deadline
	caller  *remote                    // of the stream; not changed
	valid   func(context.Context) bool // from gate.Recheck, of the stream; nil: the caller's credential is always valid
	// ctx ends with the stream, or when the call is given up. Its cause is the error that the
	// caller receives.
	ctx context.Context
	// giveUp ends the call for its caller with a cause. Only the first call has an effect.
	giveUp context.CancelCauseFunc
	// emit sends an event, and blocks while the caller does not read. It fails when the stream or
	// the call has ended; but while the stream exists, it still sends the outcome.
	emit func(*toolhostv1.CallEvent) error

	mutex     sync.Mutex
	execution tool.Execution // nil until the host has opened the call
	hold      budget.Hold    // the memory of the start frame and of the queued text
	cancelled bool           // canceled before the host opened the call
	reason    string         // of the cancellation
	text      flow.Text      // argument text that the host has not yet received
	complete  bool           // no more text may arrive
	wake      chan struct{}  // holds a token after a change of text or complete; nil: the arguments were complete
	ended     bool           // the outcome was emitted; used by run only
}

// init initializes a zero call. The caller must give it up, also if it is not run.
func (c *streamCall) init(stream context.Context, caller *remote, s *toolService, start *toolhostv1.StartCall) {
	c.service, c.start, c.stream, c.caller, c.complete = s, start, stream, caller, start.GetComplete()
	c.ctx, c.giveUp = context.WithCancelCause(stream)
	if !c.complete {
		c.wake = make(chan struct{}, 1)
	}
}

// callBytes is the memory of a call on a stream, in addition to what its caller sends.
const callBytes = 4 << 10

// reserve reserves the memory of the call until letGo. Call it after init.
func (c *streamCall) reserve() *tool.Error {
	c.hold.On(budget.FromContext(c.stream))
	c.hold.For(c.caller.Principal, false)
	if err := c.hold.TryReserve(callBytes + c.start.SizeWire()); err != nil {
		return noRoom(err)
	}
	return nil
}

// recheck returns an error if the caller's credential is not valid any more. A call that is open is
// executed when its arguments are complete. So a caller that opened calls in advance could execute
// them long after its credential was revoked, if only the beginning of the call were checked.
func (c *streamCall) recheck() *tool.Error {
	if c.valid == nil || c.valid(c.stream) {
		return nil
	}
	return tool.Errorf(tool.KindUnavailable, "the credential of this stream is not valid any more; the call was not executed")
}

// letGo releases the memory of the call. It may be called more than once.
func (c *streamCall) letGo() { c.hold.Release() }

// noRoom returns the error for a request that exceeds the memory budget.
func noRoom(err error) *tool.Error {
	e := tool.Errorf(tool.KindRateLimited, "%w; nothing was executed; try again when other calls have ended", err)
	e.RetryAfter = time.Second
	return e
}

// run executes the call. It returns when the outcome was emitted or cannot be.
func (c *streamCall) run() {
	defer c.giveUp(nil)
	defer c.service.guard.caught("a call on a stream", c.end)
	if err := c.serve(); err != nil {
		c.end(tool.AsError(err))
	}
}

// serve executes the call up to its outcome. It returns an error if there is no outcome.
func (c *streamCall) serve() error {
	call, err := c.request()
	if err != nil {
		return err
	}
	execution, err := c.service.host.Open(c.ctx, call, c.start.GetComplete())
	if err != nil {
		return c.because(err)
	}
	var feeding sync.WaitGroup
	defer feeding.Wait()
	defer c.giveUp(nil)
	defer execution.Close()
	c.opened(execution)
	if !c.start.GetComplete() {
		feeding.Go(c.feed)
	}
	for {
		event, err := execution.Next(c.ctx)
		if err != nil {
			return c.because(err)
		}
		for m := range hostpb.FromEvent(event) {
			if err := c.emit(m); err != nil {
				return c.because(err)
			}
		}
		if event.Ended != nil {
			c.ended = true
			return nil
		}
	}
}

// request returns the call for the host. From then on, the memory of the call counts for the
// principal that the call is for.
func (c *streamCall) request() (tool.Call, error) {
	call, err := c.service.callOf(c.stream, c.caller, c.start.GetTool(), c.start.GetArguments(), c.start.GetOptions())
	if err == nil && call.Via != "" {
		if full := c.hold.Move(call.Principal); full != nil {
			err = ofCall(call.ID, noRoom(full))
		}
	}
	return call, err
}

// because returns why the call was given up, or err if it was not.
func (c *streamCall) because(err error) error {
	if cause := context.Cause(c.ctx); cause != nil {
		return cause
	}
	return err
}

// end emits the outcome of a call that failed outside the host.
func (c *streamCall) end(failure *tool.Error) {
	if c.ended {
		return
	}
	c.ended = true
	for m := range hostpb.FromEvent(failed(c.start, failure)) {
		_ = c.emit(m) // fails only if the stream has ended
	}
}

// failed returns the outcome of a call that did not reach the host, or for which the server stopped
// waiting.
func failed(start *toolhostv1.StartCall, failure *tool.Error) tool.Event {
	told := *failure
	if id := start.GetOptions().GetCallId(); told.CallID == "" && tool.CheckID(id) == nil { // an invalid id may have megabytes
		told.CallID = id
	}
	return tool.Event{Ended: &tool.Outcome{CallID: told.CallID, Plugin: told.Plugin, Instance: told.Instance, Err: &told}}
}

// opened stores the execution, and cancels it if the caller has already canceled the call.
func (c *streamCall) opened(execution tool.Execution) {
	c.mutex.Lock()
	c.execution = execution
	cancelled, reason := c.cancelled, c.reason
	c.mutex.Unlock()
	if cancelled {
		execution.Cancel(reason)
	}
}

// feed passes argument text to the host until it is complete.
func (c *streamCall) feed() {
	defer c.service.guard.caught("the arguments of a call on a stream", func(e *tool.Error) { c.giveUp(e) })
	for {
		select {
		case <-c.wake:
		case <-c.ctx.Done():
			return
		}
		c.mutex.Lock()
		text, complete := c.text, c.complete
		c.text = flow.Text{}
		c.mutex.Unlock()
		if complete {
			if refused := c.recheck(); refused != nil {
				c.giveUp(refused)
				return
			}
		}
		if err := c.hand(text.Blocks(), complete); err != nil {
			c.giveUp(tool.AsError(err))
			return
		}
		if complete {
			return
		}
	}
}

// hand passes text to the host. complete says that it is the last text.
func (c *streamCall) hand(text [][]byte, complete bool) error {
	if complete && len(text) == 0 {
		text = [][]byte{nil}
	}
	for i, block := range text {
		err := c.execution.Send(c.ctx, block, complete && i == len(text)-1)
		c.hold.Give(len(block))
		if err != nil {
			return err
		}
	}
	return nil
}

// append queues argument text. It keeps the slice.
func (c *streamCall) append(text []byte) {
	intake.Carry(c.hold.Account(), len(text))
	c.mutex.Lock()
	defer c.mutex.Unlock()
	switch {
	case c.complete:
		c.giveUp(tool.Errorf(tool.KindInvalidArgument, "argument text came after the arguments were complete; the call was stopped"))
	case c.text.Len()+len(text) > maxQueuedText:
		c.giveUp(tool.Errorf(tool.KindInvalidArgument, "more than %d bytes of argument text wait to be read; the call was stopped", maxQueuedText))
	default:
		if err := c.hold.TryReserve(len(text)); err != nil {
			c.giveUp(noRoom(err))
			return
		}
		if c.text.Len() == 0 {
			c.text = flow.TextOf(text)
		} else {
			c.text.Append(text)
		}
		c.notify()
	}
}

// finish marks the arguments as complete. It may be called more than once.
func (c *streamCall) finish() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.complete = true
	c.notify()
}

func (c *streamCall) notify() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// cancel requests the cancellation of the call, which still ends with an outcome.
func (c *streamCall) cancel(reason string) {
	c.mutex.Lock()
	execution := c.execution
	if execution == nil {
		c.cancelled, c.reason = true, reason
	}
	c.mutex.Unlock()
	if execution != nil {
		execution.Cancel(reason)
	}
}

// callerDone records that the caller has half-closed the stream.
func (c *streamCall) callerDone() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if !c.complete {
		c.giveUp(tool.Errorf(tool.KindCancelled, "the call was abandoned: its caller closed the stream before the arguments were complete; nothing was executed"))
	}
}

// callOf returns the call that an RPC requests, with what only the RPC contains: the principal, the
// deadline, and the trace context.
func (s *toolService) callOf(ctx context.Context, caller *remote, name string, arguments []byte, options *toolhostv1.CallOptions) (tool.Call, error) {
	if id := options.GetCallId(); id != "" {
		if err := tool.CheckID(id); err != nil { // checked here, because errors and events repeat the id, and an invalid one may not fit into a message
			return tool.Call{}, tool.Errorf(tool.KindInvalidArgument, "the call id cannot be used: %w", err)
		}
	}
	call, err := hostpb.ToCall(name, arguments, options)
	if err != nil {
		return call, ofCall(options.GetCallId(), err)
	}
	if err := s.identify(ctx, caller, &call, options); err != nil {
		return call, ofCall(call.ID, err)
	}
	if deadline, ok := ctx.Deadline(); ok {
		left := max(time.Until(deadline), 1) // 0 would mean no limit
		if call.Timeout == 0 || left < call.Timeout {
			call.Timeout = left
		}
		if call.ApprovalWait != nil {
			call.ApprovalWait = new(min(left, *call.ApprovalWait))
		}
	}
	if call.Traceparent == "" {
		if values := metadata.ValueFromIncomingContext(ctx, "traceparent"); len(values) > 0 {
			call.Traceparent = values[0]
		}
	}
	return call, nil
}

// identify sets the principals of a call: the one that the call is for, its delegate, and the one
// that approved it.
func (s *toolService) identify(ctx context.Context, caller *remote, call *tool.Call, options *toolhostv1.CallOptions) error {
	of, err := s.subjectOf(ctx, caller, authz.ToolsCall, options.GetOnBehalfOf())
	if err != nil {
		return err
	}
	call.Principal, call.Groups, call.Via, call.From = of.key, of.groups, of.via, caller.who.From
	if call.Agent, call.Run, err = s.agentOf(caller, of, options); err != nil {
		return err
	}
	if call.Approval != nil {
		call.Approval.Approver, call.Approval.ApproverGroups, err = s.approverOf(ctx, caller, of, options.GetApproval())
	}
	return err
}

// ofCall returns an error with the id of the call that it concerns.
func ofCall(id string, err error) *tool.Error {
	failure := tool.AsError(err)
	failure.CallID = id
	return failure
}
