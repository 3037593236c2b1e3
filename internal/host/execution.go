package host

import (
	"context"
	"fmt"
	"sync"

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
	text     []byte // the arguments so far
	complete bool
	replayed bool
	closed   bool
	run      *run // the call that is followed; another's if the id is taken

	read uint64 // the number of the last event that was read; Next's alone
}

var _ tool.Execution = (*execution)(nil)

// Send implements tool.Execution.
func (e *execution) Send(_ context.Context, text []byte, complete bool) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.complete || e.closed {
		return nil
	}
	if len(e.text)+len(text) > e.host.cfg.MaxArgumentBytes {
		e.complete = true
		e.run.finishWithout(tool.Outcome{Err: e.host.tooLarge(e.id)})
		return nil
	}
	e.text = append(e.text, text...)
	if complete {
		if todo := e.submitLocked(false); todo.run != nil {
			e.run.spawn(todo.do)
		}
	} else {
		e.run.append(text)
	}
	return nil
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
	e.run, todo = e.host.admit(own, e.text, whole)
	e.replayed = e.run != own
	e.text = nil
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
		e.run.abandon(errAbandoned)
	case e.minted:
		e.run.cancel(&cancelError{reason: "its caller left"})
	}
}

// cancelError is the cause of a call that somebody cancelled.
type cancelError struct{ reason string }

func (e *cancelError) Error() string { return fmt.Sprintf("the call was cancelled: %s", e.reason) }
