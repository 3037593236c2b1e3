package agent

import (
	"context"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// Engine decides when an agent works on a run, and nothing else: it calls the methods of Worker.
// What has happened and what is due is in the store alone, so an engine that forgets everything
// loses nothing. The agent itself works on a run for which it gets a request.
type Engine interface {
	// Drive makes the worker work until ctx ends. The agent calls it once, in a goroutine of its own,
	// and only if several agents share the store.
	Drive(ctx context.Context, w Worker)
}

// Worker is an agent as an engine sees it. All methods are safe for concurrent use.
type Worker interface {
	// Work works on one run; see Agent.
	Work(ctx context.Context, runID string) (next time.Time, err error)
	// Look begins to work on the runs that are due, as many as have a slot, and returns their number.
	Look(ctx context.Context) (n int, err error)
	// Freed signals that runs wait for a slot and one is free.
	Freed() <-chan struct{}
}

var _ Worker = (*Agent)(nil)

// Local is the engine that needs nothing beside the store: it looks once a second for what is due.
type Local struct{}

// lookPause is the pause between two looks. A store takes an agent for gone only after some
// seconds, so that shorter pauses gain nothing. crowdedPause is the pause if runs wait for slots
// and one is free.
const (
	lookPause    = time.Second
	crowdedPause = 50 * time.Millisecond
)

// Drive implements Engine. A failed look is repeated with the next one; the worker reports it.
func (Local) Drive(ctx context.Context, w Worker) {
	for sleep(ctx, crowdedPause) == nil { // together with the other slots of that time
		later := time.NewTimer(lookPause - crowdedPause)
		select {
		case <-w.Freed():
		case <-later.C:
		case <-ctx.Done():
			later.Stop()
			return
		}
		later.Stop()
		_, _ = w.Look(ctx)
	}
}

// Work works on a run and its sub-runs until the run has ended or all of them only wait, and
// returns when they go on by themselves. Zero: only a request continues them. Work does nothing for
// a run that has ended or is parked. It may be called at any agent and at any time: the store gives
// a run to one agent. Errors: KindNotFound; KindConflict if another agent works on the run;
// KindUnavailable if the store is gone or the agent closes. If ctx ends first, the agent goes on
// with the run. In a store that agents do not share, a run that waits is at work.
func (a *Agent) Work(ctx context.Context, runID string) (next time.Time, err error) {
	for {
		kept, err := a.journal.summaryOf(ctx, runID)
		if err != nil || kept.Finished() || kept.parks() && a.work.feedOf(runID) == nil {
			return time.Time{}, err
		}
		r, err := a.work.rouse(kept.ref(), nil)
		if err != nil {
			return time.Time{}, err
		}
		select {
		case <-r.done:
		case <-ctx.Done():
			return time.Time{}, tool.AsError(ctx.Err())
		}
		if r.err != nil || a.work.feedOf(runID) == nil { // else it had got a request
			return r.next, r.err
		}
	}
}
