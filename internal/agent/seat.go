package agent

import "context"

// A run at work has a seat: there are only so many, so that whatever comes at once, memory and what is asked of models
// and tools stay bounded. Runs without a seat wait in the order in which they came. A run that waits for nothing but a
// person gives its seat to another; a sub-run needs none, because the run that waits for it has one.

// queue waits for a seat before anything of the run is read, but not if somebody wants to tell it something.
func (r *run) queue(ctx context.Context) error {
	if r.sub {
		return nil
	}
	select {
	case r.agent.seats <- struct{}{}:
		r.seated = true
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
func (r *run) wanted() chan<- struct{} {
	if r.sub || r.seated || !r.busy() {
		return nil
	}
	return r.agent.seats
}

// busy reports whether the run has something to do.
func (r *run) busy() bool {
	for _, command := range Next(&r.state) {
		if _, wait := command.(Wait); !wait {
			return true
		}
	}
	return false
}

// mayWork reports whether the run may begin something, and gives its seat away if it has nothing to do.
func (r *run) mayWork() bool {
	if r.seated && !r.busy() {
		r.leave()
	}
	return r.sub || r.seated
}

// leave gives the run's seat away, if it has one.
func (r *run) leave() {
	if r.seated {
		<-r.agent.seats
		r.seated = false
	}
}
