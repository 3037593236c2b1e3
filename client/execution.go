package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/rpc/flow"
	"github.com/toolhost/toolhost/internal/rpc/hostpb"
	"github.com/toolhost/toolhost/tool"
)

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
