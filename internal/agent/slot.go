package agent

import (
	"context"

	"github.com/toolhost/toolhost/internal/agent/loop"
)

// A run at work has a slot. The number of slots is limited, so that memory and the load on models
// and tools are bounded however many runs are started. Runs without a slot wait in order of
// arrival. A run that waits only for a person gives its slot up.
//
// A sub-run needs no slot, because its parent has one. If sub-runs needed slots, parents that wait
// for their sub-runs could hold all slots, and no run would make progress. If a sub-run waits for a
// person, its parent also gives its slot up. After the decision, the sub-run continues before its
// parent has a slot again, and then runs without one. The calls of one response bound the number of
// such sub-runs.

// awaitSlot waits for a slot before the run reads its journal, or until the run has an input.
func (r *run) awaitSlot(ctx context.Context) error {
	if r.sub {
		return nil
	}
	select {
	case r.agent.slots <- struct{}{}:
		r.hasSlot = true
	case <-r.woken:
		// The input is recorded at once. What follows from it waits for a slot.
		r.wake()
	case <-ctx.Done():
		return errClosed()
	}
	return nil
}

// wake signals that the inbox is not empty.
func (r *run) wake() {
	select {
	case r.woken <- struct{}{}:
	default:
	}
}

// wantedSlot returns the channel that gives a slot, or nil, which blocks, if the run needs none.
func (r *run) wantedSlot() chan<- struct{} {
	if r.sub || r.hasSlot || !r.busy() {
		return nil
	}
	return r.agent.slots
}

// busy reports whether the run has work to do.
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

// mayWork reports whether the run may start tasks. A run without work gives its slot up.
func (r *run) mayWork() bool {
	if r.hasSlot && !r.busy() {
		r.releaseSlot()
	}
	r.waits.Store(!r.sub && !r.hasSlot && !r.busy())
	if r.observed != nil {
		busy := r.hasSlot || r.state.Finished() == nil && r.busy()
		r.observed.works(r.hasSlot || r.sub && busy)
		r.observed.waits(!busy && r.state.Finished() == nil)
	}
	return r.sub || r.hasSlot
}

// releaseSlot gives the run's slot up, if it has one.
func (r *run) releaseSlot() {
	if r.hasSlot {
		<-r.agent.slots
		r.hasSlot = false
	}
}
