package agent

import (
	"context"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// An engine decides when an agent works on a run, and nothing else: it calls Work. What has
// happened and what is due is in the store alone. The local engine is the look for what is due once
// a second, and the requests that an agent gets.

// Work works on a run and its sub-runs until the run has ended or all of them only wait, and
// returns when they go on by themselves. Zero: only a request continues them. Work does nothing for
// a run that has ended. It may be called at any agent and at any time: the store gives a run to one
// agent. Errors: KindNotFound; KindConflict if another agent works on the run; KindUnavailable if
// the store is gone or the agent closes. If ctx ends first, the agent goes on with the run. In a
// store that agents do not share, a run that waits is at work.
func (a *Agent) Work(ctx context.Context, runID string) (next time.Time, err error) {
	for {
		kept, err := a.journal.summaryOf(ctx, runID)
		if err != nil || kept.Finished() {
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
