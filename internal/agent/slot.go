package agent

import (
	"context"

	"github.com/toolhost/toolhost/internal/agent/loop"
)

// A run at work has a seat: there are only so many, so that whatever comes at once, memory and what is asked of models
// and tools stay bounded. Runs without a seat wait in the order in which they came. A run that waits for nothing but a
// person gives its seat to another.
//
// A sub-run needs no seat, because the run that waits for it has one: if it needed one of its own, runs that all wait for
// their sub-runs could hold all there are, and nothing would ever go on. One exception is meant: where a sub-run waits for a
// person, the run above it gives its seat away, too; once the person has decided, the sub-run is at work before the run above
// has a seat again. How many sub-runs a run has at a time is bounded by the calls of one response.

// queue waits for a seat before anything of the run is read, but not if somebody wants to tell it something.
func (r *run) awaitSlot(ctx context.Context) error {
	if r.sub {
		return nil
	}
	select {
	case r.agent.slots <- struct{}{}:
		r.hasSlot = true
	case <-r.woken:
		// What is told is journaled at once. What follows from it waits.
		r.wake()
	case <-ctx.Done():
		return errClosed()
	}
	return nil
}

// wake says that there is something in the inbox.
func (r *run) wake() {
	select {
	case r.woken <- struct{}{}:
	default:
	}
}

// wanted returns where a seat is to be had; nil, to which nothing can be sent, if the run needs none.
func (r *run) wantedSlot() chan<- struct{} {
	if r.sub || r.hasSlot || !r.busy() {
		return nil
	}
	return r.agent.slots
}

// busy reports whether the run has something to do.
func (r *run) busy() bool {
	for _, command := range loop.Next(&r.state) {
		switch c := command.(type) {
		case loop.Wait:
		case loop.CallTool:
			if c.Cancel != nil || !r.state.WaitsForPerson(c.Call.ID) {
				return true
			}
		default:
			return true
		}
	}
	return false
}

// mayWork reports whether the run may begin something, and gives its seat away if it has nothing to do.
func (r *run) mayWork() bool {
	if r.hasSlot && !r.busy() {
		r.releaseSlot()
	}
	return r.sub || r.hasSlot
}

// leave gives the run's seat away, if it has one.
func (r *run) releaseSlot() {
	if r.hasSlot {
		<-r.agent.slots
		r.hasSlot = false
	}
}
