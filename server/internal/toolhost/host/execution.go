package host

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/wire/flow"
	"github.com/toolhost/toolhost/server/internal/fairness/budget"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/eventlog"
	"github.com/toolhost/toolhost/tool"
)

// execution is one caller's view of a call: the arguments that the caller sends, and how far it has
// read the events. When the arguments are complete and another call has the id, the execution joins
// that call.
type execution struct {
	host        *Host
	id          string // of the call
	generated   bool   // the host generated the id; the caller does not know it
	outcomeOnly bool   // the caller wants no other event

	mu       sync.Mutex
	text     flow.Text // the arguments so far
	complete bool
	replayed bool // call is not this execution's own
	closed   bool
	call     *call       // whose events the caller reads
	waits    *time.Timer // for the next piece of arguments; nil: there is none
	hold     budget.Hold // memory for the outcome of a call that has given its own back

	read uint64 // the number of the last event that the caller has read; used by Next only
}

var _ tool.Execution = (*execution)(nil)

// errAbandoned is the reason why a call ends if its caller leaves before the arguments are
// complete.
var errAbandoned = fmt.Errorf("its caller left before the arguments were complete; nothing was executed")

// cancelError is the cause of a call that was cancelled.
type cancelError struct{ reason string }

func (e *cancelError) Error() string { return fmt.Sprintf("the call was cancelled: %s", e.reason) }

// cancelledBy returns the cause of a canceled call. reason is empty if the caller gave none.
func cancelledBy(reason string) *cancelError {
	if reason == "" {
		reason = "its caller cancelled it"
	}
	return &cancelError{reason: reason}
}

// Send implements tool.Execution.
func (e *execution) Send(ctx context.Context, text []byte, complete bool) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.complete || e.closed {
		return nil
	}
	if refused := e.growLocked(len(text)); refused != nil {
		e.endLocked(tool.Outcome{Err: refused})
		return nil
	}
	e.text.Append(text)
	if !complete {
		e.waits.Reset(e.argumentsTimeout())
		e.call.args.append(text)
		return nil
	}
	e.waits.Stop()
	c, work := e.call, workOf(e.text.Len())
	e.mu.Unlock() // a cancel must not wait for memory
	err := c.memory.hold.Reserve(ctx, work)
	e.mu.Lock()
	switch {
	case e.complete || e.closed:
	case err != nil:
		e.endLocked(tool.Outcome{Err: noRoom(err, c.request.ID)})
	default:
		if todo := e.submitLocked(false); todo.call != nil {
			todo.call.spawn(todo.do)
		}
	}
	return nil
}

// growLocked reserves memory for more bytes of arguments.
func (e *execution) growLocked(more int) *tool.Error {
	if e.text.Len()+more > e.call.settings.MaxArgumentBytes {
		return e.call.settings.tooLarge(e.id)
	}
	if e.call.args.previews() {
		more *= 2 // the preview has a copy
	}
	if err := e.call.memory.hold.TryReserve(more); err != nil {
		return noRoom(err, e.call.request.ID)
	}
	return nil
}

// endLocked ends a call whose arguments are not complete.
func (e *execution) endLocked(outcome tool.Outcome) {
	e.complete, e.text = true, flow.Text{}
	e.waits.Stop()
	e.call.finishUnexecuted(outcome)
}

// awaitArguments ends the call if the rest of its arguments does not arrive in time.
func (e *execution) awaitArguments() {
	e.mu.Lock()
	defer e.mu.Unlock()
	// Stopped when the arguments are complete, or with the call.
	e.waits = time.AfterFunc(e.argumentsTimeout(), e.argumentsTimedOut)
}

// argumentsTimeout returns how long the next piece of the arguments may take. All pieces together
// may take MaxTimeout.
func (e *execution) argumentsTimeout() time.Duration {
	return min(e.call.settings.ArgumentsTimeout, e.call.settings.MaxTimeout-time.Since(e.call.arrived))
}

func (e *execution) argumentsTimedOut() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.complete || e.closed {
		return
	}
	e.endLocked(tool.Outcome{Err: tool.Errorf(tool.KindTimeout,
		"the arguments were not complete %v after the call was opened; a piece of them must come every %v, and all of them within %v; nothing was executed",
		time.Since(e.call.arrived).Round(time.Millisecond), e.call.settings.ArgumentsTimeout, e.call.settings.MaxTimeout)})
}

func (e *execution) submit() task {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.submitLocked(true)
}

// submitLocked claims the id for the complete arguments. whole says that they arrived with the
// call. It does not block: it returns the work that may block as a task.
func (e *execution) submitLocked(whole bool) (todo task) {
	e.complete = true
	opened := e.call
	follow, todo := e.host.claim(opened, e.text.Take(), whole)
	todo.execution = e
	e.followLocked(opened, follow)
	return todo
}

// claimAgain claims the id after the tool was asked what became of an earlier execution.
func (e *execution) claimAgain(opened *call, s submission) task {
	e.mu.Lock()
	defer e.mu.Unlock()
	follow, todo := e.host.claimFor(opened, s, false)
	e.followLocked(opened, follow)
	return todo
}

// followLocked makes the caller read the events of the call that has the id.
func (e *execution) followLocked(opened, follow *call) {
	e.call, e.replayed = follow, follow != opened
	if !e.replayed || e.closed {
		return
	}
	if !follow.memory.follow() {
		e.hold.On(opened.memory.hold.Account())
	}
	opened.memory.unfollow()
}

// Next implements tool.Execution.
func (e *execution) Next(ctx context.Context) (tool.Event, error) {
	for {
		e.mu.Lock()
		c, replayed := e.call, e.replayed
		e.mu.Unlock()
		ev, err := e.next(ctx, &c.events)
		if err != nil {
			return ev, err
		}
		e.mu.Lock()
		joined := e.call != c
		e.mu.Unlock()
		if joined {
			e.read = 0 // the events of the other call count, from its first one
			continue
		}
		e.read = ev.Seq
		if replayed && ev.Ended != nil {
			if err := e.reserveOutcome(ev.Ended); err != nil {
				return tool.Event{}, err
			}
			ended := *ev.Ended
			ended.Replayed = true
			ev.Ended = &ended
		}
		return ev, nil
	}
}

// next returns the next event that the caller wants.
func (e *execution) next(ctx context.Context, events *eventlog.Call) (tool.Event, error) {
	if e.outcomeOnly && e.read == 0 {
		return events.Last(ctx)
	}
	return events.Next(ctx, e.read)
}

// reserveOutcome reserves memory for the outcome of another call.
func (e *execution) reserveOutcome(o *tool.Outcome) error {
	if err := e.hold.TryReserve(eventlog.OutcomeSize(o)); err != nil {
		e := tool.Errorf(tool.KindRateLimited, "the call has ended and its outcome cannot be shown now: %w; repeat the call with its id later", err)
		e.CallID, e.RetryAfter = o.CallID, busyRetry
		return e
	}
	return nil
}

// Cancel implements tool.Execution.
func (e *execution) Cancel(reason string) {
	e.mu.Lock()
	c, complete := e.call, e.complete
	e.mu.Unlock()
	cause := cancelledBy(reason)
	if !complete {
		c.abandon(cause)
		return
	}
	c.Cancel(cause)
}

// Close implements tool.Execution.
func (e *execution) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	e.closed = true
	switch {
	case !e.complete:
		e.text = flow.Text{}
		e.waits.Stop()
		e.call.abandon(errAbandoned)
	case e.generated:
		e.call.Cancel(&cancelError{reason: "its caller left"})
	}
	e.hold.Release()
	e.call.memory.unfollow()
}
