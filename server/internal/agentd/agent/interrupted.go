package agent

import (
	"context"
	"errors"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/tool"
)

// A run whose process has gone cannot be recognized in its journal, because a process that is
// killed, or ends by SIGPIPE, appends nothing. So the agent claims each run in the store while it
// works on the run. GetRun and ListRuns report an unfinished run without a claim as interrupted. A
// store that only one process uses has no claims. GetRun and ListRuns report its unfinished runs as
// running. A sub-run counts as claimed if its parent run is claimed.

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
