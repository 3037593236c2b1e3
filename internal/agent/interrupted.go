package agent

import (
	"context"
	"errors"

	"github.com/toolhost/toolhost/internal/agent/runstore"
	"github.com/toolhost/toolhost/tool"
)

// A run that no process works on stays as its journal says: a process that is killed, or that cannot write its output any
// more, appends nothing. So the agent claims each run in the store for as long as it works on it, and GetRun and ListRuns report
// an unfinished run without a claim as interrupted. A store that only one process can use has no claims; its unfinished runs
// count as running.

// claim claims a run before work on it begins. It fails with a KindConflict if another process works on the run.
func (j *journal) claim(runID string) error {
	if j.claims == nil {
		return nil
	}
	err := j.claims.Claim(runID)
	if errors.Is(err, runstore.ErrClaimed) {
		return tool.Errorf(tool.KindConflict, "%w; wait until that process has left it, or stop the process", err)
	}
	return storeError(err)
}

// release gives the claim of a run up.
func (j *journal) release(runID string) {
	if j.claims != nil {
		j.claims.Release(runID)
	}
}

// markInterrupted sets r.Interrupted. The run may have finished after r was read and before the claim was looked for, so it is
// then read again.
func (j *journal) markInterrupted(ctx context.Context, r *Run) error {
	if j.claims == nil || r.Finished() || r.Unreadable {
		return nil
	}
	claimed, err := j.claims.Claimed(r.ID)
	if err == nil && !claimed && r.Parent != nil {
		claimed, err = j.claims.Claimed(r.Parent.RunID) // its process is about to go on with the sub-run
	}
	if err != nil || claimed {
		return storeError(err)
	}
	now, err := j.summaryOf(ctx, r.ID)
	if err != nil {
		return err
	}
	*r = now
	r.Interrupted = !now.Finished()
	return nil
}
