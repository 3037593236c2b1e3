package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/rpc/flow"
	"github.com/toolhost/toolhost/internal/rpc/hostpb"
	"github.com/toolhost/toolhost/tool"
)

// NewCall returns a call of a tool whose arguments are the JSON encoding of a Go value: usually a map or
// a struct. nil means no arguments. The caller may set the other fields of the call. Errors:
// invalid_argument if the value cannot be encoded.
func NewCall(toolName string, arguments any) (tool.Call, error) {
	call := tool.Call{Tool: toolName}
	if arguments == nil {
		return call, nil
	}
	text, err := json.Marshal(arguments)
	if err != nil {
		return tool.Call{}, tool.Errorf(tool.KindInvalidArgument, "encoding the arguments of %q: %w", toolName, err)
	}
	call.Arguments = text
	return call, nil
}

// Open begins a call. If complete, call.Arguments are all the arguments, else their beginning, and Send brings the
// rest. ctx bounds only the opening; the principal of the call is ignored, because the server knows who calls.
//
// All calls of a client share one stream, on which none holds up another. The error is that nothing could be sent:
// what the host says of the call, also that there is no such tool, is in the Ended event. If the connection is lost,
// open calls end with KindUnavailable where they cannot have been executed, else with KindOutcomeUnknown: the same
// call id, sent again, then tells. The next Open connects anew.
//
// The execution must be closed. Events that nobody reads are held back by the host, at no cost to other calls.
func (c *Client) Open(ctx context.Context, call tool.Call, complete bool) (tool.Execution, error) {
	s, err := c.shared(ctx)
	if err != nil {
		return nil, err
	}
	return s.open(ctx, call, complete)
}

// Call executes a call and waits for its end. The error is the outcome's: a failure of the machinery, always a
// *tool.Error. A tool that says that it failed is no error but a result with IsError. When ctx ends, the call is
// cancelled at the host, whether it has an id or not, and Call waits at most a second more to say how it ended.
func (c *Client) Call(ctx context.Context, call tool.Call) (tool.Outcome, error) {
	call.OutcomeOnly = true
	return c.Follow(ctx, call, func(tool.Event) {})
}

// Follow is Call, and shows every event but the end as it comes. It calls show from its own goroutine, one event at a
// time.
func (c *Client) Follow(ctx context.Context, call tool.Call, show func(tool.Event)) (tool.Outcome, error) {
	execution, err := c.Open(ctx, call, true)
	if err != nil {
		return failed(call.ID, err)
	}
	defer execution.Close()
	for {
		event, err := execution.Next(ctx)
		switch {
		case err != nil:
			return cancelled(ctx, err, call.ID, execution)
		case event.Ended != nil:
			return outcomeOf(event.Ended)
		}
		show(event)
	}
}

// cancelGrace is how long Call waits for the end of a call that it cancelled: most tools stop at once, and then the
// host says what was done and what was not.
const cancelGrace = time.Second

// cancelled ends a call whose caller stopped waiting because of err.
func cancelled(ctx context.Context, err error, callID string, execution tool.Execution) (tool.Outcome, error) {
	execution.Cancel("the caller stopped waiting: " + err.Error())
	if ctx.Err() != nil {
		err = ctx.Err() // the kind is that of the context, whatever cause it was given
	}
	grace, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelGrace)
	defer stop()
	for {
		event, nextErr := execution.Next(grace)
		if nextErr != nil {
			return failed(callID, err)
		}
		if event.Ended == nil {
			continue
		}
		if e := event.Ended.Err; e != nil && e.Kind == tool.KindCancelled {
			e.Kind = tool.AsError(err).Kind // it was this caller's time that was up
		}
		return outcomeOf(event.Ended)
	}
}

func outcomeOf(o *tool.Outcome) (tool.Outcome, error) {
	if o.Err != nil {
		return *o, o.Err
	}
	return *o, nil
}

func failed(callID string, err error) (tool.Outcome, error) {
	failure := *tool.AsError(err)
	if failure.CallID == "" {
		failure.CallID = callID
	}
	return tool.Outcome{CallID: failure.CallID, Err: &failure}, &failure
}

// execution is a call on a session. It implements tool.Execution.
type execution struct {
	session *session
	number  uint32
	named   bool // the caller chose the id: the call goes on without it
	inbox   flow.Inbox[item]
	joiner  hostpb.Joiner // Next's

	mutex    sync.Mutex
	callID   string
	complete bool // the host may have all arguments, and so may have executed the call
	ended    bool // nothing comes or goes any more
	closed   bool // nobody reads: what comes is dropped
}

// item is what an inbox holds: a message, or the outcome that the client itself made when the stream was lost.
type item struct {
	message *toolhostv1.CallEvent
	outcome *tool.Outcome
}

func newExecution(s *session, callID string) *execution {
	e := &execution{session: s, named: callID != "", callID: callID}
	e.inbox.Init(hostpb.Window, e.grant)
	return e
}

// frame queues a small frame that must not wait.
func (e *execution) frame(r *toolhostv1.ConnectRequest) {
	r.Call = e.number
	_ = e.session.stream.PutNow(r) // if it fails, the session fails and ends the call
}

func (e *execution) grant(bytes int) {
	e.frame(&toolhostv1.ConnectRequest{Frame: &toolhostv1.ConnectRequest_Credit{
		Credit: &toolhostv1.GrantCredit{Bytes: uint32(bytes)},
	}})
}

// markComplete comes before the frame that says so, because from then on the call may be executed.
func (e *execution) markComplete(complete bool) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.complete = complete
}

// receive takes a message from the stream. It does not block.
func (e *execution) receive(m *toolhostv1.CallEvent) {
	if m.GetEnded() != nil {
		e.finish(item{message: m})
		return
	}
	if started := m.GetStarted(); started != nil {
		e.mutex.Lock()
		e.callID = started.GetCallId()
		e.mutex.Unlock()
	}
	size := m.SizeWire()
	err := e.inbox.Put(item{message: m}, size)
	switch {
	case errors.Is(err, flow.ErrOverrun):
		failure := tool.Errorf(tool.KindInternal, "toolhost broke the contract: %w", err)
		e.cancel(failure.Message)
		e.finish(item{outcome: e.outcome(failure)})
	case err != nil && size > 0:
		e.grant(size) // nobody reads it, and the call must get to its end
	}
}

// finish puts the last item into the inbox.
func (e *execution) finish(last item) {
	e.mutex.Lock()
	e.ended = true
	e.mutex.Unlock()
	e.inbox.Finish(io.EOF, last)
}

// lose ends the call because its session failed. lost says that what was sent may have been executed.
func (e *execution) lose(cause *tool.Error, lost bool) {
	e.mutex.Lock()
	executed := lost && e.complete
	e.mutex.Unlock()
	failure := *cause
	switch {
	case executed:
		failure.Kind = tool.KindOutcomeUnknown
		failure.Message = fmt.Sprintf("the connection was lost while the call ran, and it may have been executed; %s (%s)", e.advice(), cause.Message)
	case lost:
		failure.Message = fmt.Sprintf("the connection was lost before the arguments were complete; the call was not executed (%s)", cause.Message)
	}
	e.finish(item{outcome: e.outcome(&failure)})
}

// advice says how the outcome of a lost call can be had.
func (e *execution) advice() string {
	if e.named {
		return "the same call, sent again with the same call id, tells its outcome and is not executed twice"
	}
	return "it had no call id by which its outcome could be had; give calls that change something an id"
}

func (e *execution) outcome(failure *tool.Error) *tool.Outcome {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	failure.CallID = e.callID
	return &tool.Outcome{CallID: e.callID, Err: failure}
}

// Send implements tool.Execution.
func (e *execution) Send(ctx context.Context, text []byte, complete bool) error {
	for len(text) > 0 {
		n := min(len(text), hostpb.ChunkBytes)
		if err := e.put(ctx, &toolhostv1.ConnectRequest{Frame: &toolhostv1.ConnectRequest_Append{
			Append: &toolhostv1.AppendArguments{Text: text[:n:n]},
		}}); err != nil {
			return err
		}
		text = text[n:]
	}
	if !complete {
		return nil
	}
	e.markComplete(true)
	err := e.put(ctx, &toolhostv1.ConnectRequest{Frame: &toolhostv1.ConnectRequest_Complete{
		Complete: &toolhostv1.CompleteArguments{},
	}})
	if err != nil {
		e.markComplete(false)
	}
	return err
}

// put queues a frame, unless the call has ended.
func (e *execution) put(ctx context.Context, r *toolhostv1.ConnectRequest) error {
	e.mutex.Lock()
	over := e.ended || e.closed
	e.mutex.Unlock()
	if over {
		return nil
	}
	r.Call = e.number
	return e.session.put(ctx, r)
}

// Next implements tool.Execution.
func (e *execution) Next(ctx context.Context) (tool.Event, error) {
	for {
		next, err := e.inbox.Next(ctx)
		if err != nil {
			return tool.Event{}, err
		}
		if next.outcome != nil {
			return tool.Event{Ended: next.outcome}, nil
		}
		if event, ok := e.joiner.Add(next.message); ok {
			return event, nil
		}
	}
}

// Cancel implements tool.Execution.
func (e *execution) Cancel(reason string) {
	e.mutex.Lock()
	over := e.ended
	e.mutex.Unlock()
	if !over {
		e.cancel(reason)
	}
}

func (e *execution) cancel(reason string) {
	e.frame(&toolhostv1.ConnectRequest{Frame: &toolhostv1.ConnectRequest_Cancel{Cancel: &toolhostv1.CancelCall{Reason: hostpb.FromReason(reason)}}})
}

// Close implements tool.Execution.
func (e *execution) Close() {
	e.mutex.Lock()
	first := !e.closed
	e.closed = true
	over, goesOn := e.ended, e.named && e.complete
	e.mutex.Unlock()
	if !first {
		return
	}
	e.inbox.Abort(io.EOF)
	if over {
		return
	}
	if !goesOn {
		e.cancel("its caller is not interested any more")
	}
	e.grant(hostpb.Window) // in place of what was not read; from here on receive grants
}
