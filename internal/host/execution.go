package host

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/budget"
	"github.com/toolhost/toolhost/internal/rpc/flow"
	"github.com/toolhost/toolhost/tool"
)

// execution is one caller's hold on a call: the arguments that it sends, and how far it has read the events.
type execution struct {
	host        *Host
	id          string // the call's
	minted      bool   // the id is the host's, so nobody can come back for the call
	outcomeOnly bool   // the caller wants nothing else
	fresh       bool   // of its run

	mu       sync.Mutex
	text     flow.Text // the arguments so far
	complete bool
	replayed bool
	closed   bool
	run      *run        // the call that is followed; another's if the id is taken
	waits    *time.Timer // for the next piece of the arguments; nil: none is awaited
	hold     budget.Hold // for the outcome of another's call
	loose    bool        // see letGo

	read uint64 // the number of the last event that was read; Next's alone
}

var _ tool.Execution = (*execution)(nil)

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
		e.waits.Reset(e.argumentsPatience())
		e.run.append(text)
		return nil
	}
	e.waits.Stop()
	run, work := e.run, workOf(e.text.Len())
	e.mu.Unlock() // who cancels the call meanwhile must not wait
	err := run.hold.Reserve(ctx, work)
	e.mu.Lock()
	switch {
	case e.complete || e.closed:
	case err != nil:
		e.endLocked(tool.Outcome{Err: run.noRoom(err)})
	default:
		if todo := e.submitLocked(false); todo.run != nil {
			e.run.spawn(todo.do)
		}
	}
	return nil
}

// growLocked makes room for so many more bytes of arguments, or says why there is none.
func (e *execution) growLocked(more int) *tool.Error {
	if e.text.Len()+more > e.host.cfg.MaxArgumentBytes {
		return e.host.tooLarge(e.id)
	}
	if e.run.previews() {
		more *= 2 // the plugin's text is another copy
	}
	if err := e.run.hold.TryReserve(more); err != nil {
		return e.run.noRoom(err)
	}
	return nil
}

// endLocked ends a call whose arguments are not complete.
func (e *execution) endLocked(outcome tool.Outcome) {
	e.complete, e.text = true, flow.Text{}
	e.waits.Stop()
	e.run.finishWithout(outcome)
}

// awaitArguments ends the call if its arguments do not come in time.
func (e *execution) awaitArguments() {
	e.mu.Lock()
	defer e.mu.Unlock()
	// Stopped when the arguments are complete, or with the call.
	e.waits = time.AfterFunc(e.argumentsPatience(), e.lateArguments)
}

// argumentsPatience returns how long the next piece of the arguments may take: so long as is set, and no longer than all
// arguments together may take.
func (e *execution) argumentsPatience() time.Duration {
	return min(e.host.cfg.ArgumentsTimeout, e.host.cfg.MaxTimeout-time.Since(e.run.came))
}

func (e *execution) lateArguments() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.complete || e.closed {
		return
	}
	e.endLocked(tool.Outcome{Err: tool.Errorf(tool.KindTimeout,
		"the arguments were not complete %v after the call was opened; a piece of them must come every %v, and all of them within %v; nothing was executed",
		time.Since(e.run.came).Round(time.Millisecond), e.host.cfg.ArgumentsTimeout, e.host.cfg.MaxTimeout)})
}

func (e *execution) submit() task {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.submitLocked(true)
}

// submitLocked has the call admitted; whole says that its arguments came with it. Nothing in it waits: what does is in the
// task that it returns.
func (e *execution) submitLocked(whole bool) (todo task) {
	e.complete = true
	own := e.run
	e.run, todo = e.host.admit(own, e.text.Take(), whole)
	e.replayed = e.run != own
	if e.replayed {
		e.join(own)
	}
	return todo
}

// Next implements tool.Execution.
func (e *execution) Next(ctx context.Context) (tool.Event, error) {
	for {
		e.mu.Lock()
		r, replayed := e.run, e.replayed
		e.mu.Unlock()
		ev, err := e.next(ctx, &r.record)
		if err != nil {
			return ev, err
		}
		e.mu.Lock()
		moved := e.run != r
		e.mu.Unlock()
		if moved {
			// The call joined another while it was waited for: that one's events count, all of them.
			e.read = 0
			continue
		}
		e.read = ev.Seq
		if replayed && ev.Ended != nil {
			if err := e.account(ev.Ended); err != nil {
				return tool.Event{}, err
			}
			ended := *ev.Ended
			ended.Replayed = true
			ev.Ended = &ended
		}
		return ev, nil
	}
}

// next returns the next event of a record that the caller wants to see.
func (e *execution) next(ctx context.Context, r *record) (tool.Event, error) {
	if e.outcomeOnly && e.read == 0 {
		return r.last(ctx)
	}
	return r.next(ctx, e.read)
}

// Cancel implements tool.Execution.
func (e *execution) Cancel(reason string) {
	e.mu.Lock()
	r, complete := e.run, e.complete
	e.mu.Unlock()
	cause := cancelledBy(reason)
	if !complete {
		r.abandon(cause)
		return
	}
	r.cancel(cause)
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
		e.run.abandon(errAbandoned)
	case e.minted:
		e.run.cancel(&cancelError{reason: "its caller left"})
	}
	e.letGoLocked()
}

// cancelError is the cause of a call that somebody cancelled.
type cancelError struct{ reason string }

func (e *cancelError) Error() string { return fmt.Sprintf("the call was cancelled: %s", e.reason) }
