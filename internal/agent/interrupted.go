package agent

import (
	"context"
	"errors"

	"github.com/toolhost/toolhost/internal/agent/runstore"
	"github.com/toolhost/toolhost/tool"
)

// The journal of a run cannot say that its process is gone: a killed process, and one that cannot
// write its output, append nothing. So the agent claims each run in the store while it works on it.
// GetRun and ListRuns report an unfinished run without a claim as interrupted. A store for a single
// process has no claims, and its unfinished runs count as running.

// claim claims a run before work on it begins. It fails with KindConflict if another process works
// on the run.
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

// release gives up the claim of a run.
func (j *journal) release(runID string) {
	if j.claims != nil {
		j.claims.Release(runID)
	}
}

// markInterrupted sets r.Interrupted. The run can finish between the reading of r and the check of
// the claim, so markInterrupted reads it again if there is no claim.
func (j *journal) markInterrupted(ctx context.Context, r *Run) error {
	if j.claims == nil || r.Finished() || r.Unreadable {
		return nil
	}
	claimed, err := j.claims.Claimed(r.ID)
	if err == nil && !claimed && r.Parent != nil {
		claimed, err = j.claims.Claimed(r.Parent.RunID) // its process continues the sub-run
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
