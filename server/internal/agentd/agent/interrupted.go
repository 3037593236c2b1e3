package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/tool"
)

// A run whose process has gone cannot be recognized in its journal, because a process that is
// killed, or ends by SIGPIPE, appends nothing. So the agent claims each run in the store while it
// works on the run. GetRun and ListRuns report an unfinished run without a claim as interrupted. A
// store that only one process uses has no claims. GetRun and ListRuns report its unfinished runs as
// running. A sub-run counts as claimed if its parent run is claimed. In a store that several agents
// share, no agent works on a run that waits.

// claim claims a run before work on it begins. It fails with KindConflict if another process works
// on the run.
func (j *journal) claim(runID string) (epoch uint64, err error) {
	if j.claims == nil {
		return 0, nil
	}
	epoch, err = j.claims.Claim(runID)
	return epoch, claimError(err)
}

// claimPause is the pause between two attempts to confirm a claim.
const claimPause = time.Second

// confirm returns nil if a claim has not ended, or KindConflict.
func (j *journal) confirm(runID string, epoch uint64) error {
	if j.shared != nil {
		return claimError(j.shared.Confirm(runID, epoch))
	}
	return nil // a claim ends only with its process
}

// claimAll claims those of many runs that no other process works on.
func (j *journal) claimAll(runIDs []string) (claimed map[string]uint64, err error) {
	if j.claims != nil && len(runIDs) > 0 {
		claimed, err = j.claims.ClaimAll(runIDs)
		return claimed, storeError(err)
	}
	claimed = make(map[string]uint64, len(runIDs))
	for _, id := range runIDs {
		claimed[id] = 0
	}
	return claimed, nil
}

func claimError(err error) error {
	if errors.Is(err, runstore.ErrClaimed) {
		return tool.Errorf(tool.KindConflict, "%w; wait until that process has left it, or stop the process", err)
	}
	return storeError(err)
}

// release gives up the claim of a run.
func (j *journal) release(runID string, epoch uint64) {
	if j.claims != nil {
		j.claims.Release(runID, epoch)
	}
}

// markInterrupted sets Interrupted of runs, and returns those that exist. A run can finish between
// the reading of it and the check of its claim, so markInterrupted reads those without a claim
// again: with again, which lists the same runs, or one by one if it is nil.
func (j *journal) markInterrupted(ctx context.Context, runs []Run, again func() ([]Run, error)) ([]Run, error) {
	if j.claims == nil {
		return runs, nil
	}
	open := func(r *Run) bool { return !r.Finished() && !r.Unreadable }
	var ids []string
	for i := range runs {
		if r := &runs[i]; open(r) {
			ids = append(ids, r.ID)
			if r.Parent != nil {
				ids = append(ids, r.Parent.RunID) // its process continues the sub-run
			}
		}
	}
	if len(ids) == 0 {
		return runs, nil
	}
	claimed, err := j.claims.Claimed(ids)
	if err != nil {
		return nil, storeError(err)
	}
	var read map[string]Run
	kept := make([]Run, 0, len(runs))
	for _, r := range runs {
		if !open(&r) || claimed[r.ID] || r.Parent != nil && claimed[r.Parent.RunID] {
			kept = append(kept, r)
			continue
		}
		if read == nil {
			read = byID(again)
		}
		now, known := read[r.ID]
		if !known {
			now, err = j.summaryOf(ctx, r.ID)
		}
		if tool.KindOf(err) == tool.KindNotFound && again != nil {
			err = nil // it was deleted meanwhile
			continue
		}
		if err != nil {
			return nil, err
		}
		if open(&now) && now.parks() {
			now.Parked = parked
		}
		now.Interrupted = open(&now) && !(j.shared != nil && now.Waiting && now.Parked == "")
		kept = append(kept, now)
	}
	return kept, nil
}

// parked is why a run stays where it is.
var parked = fmt.Sprintf("%d agentds in a row ended while they worked on it, without a new event, so it may have ended them; send it a message or a decision to go on, or cancel it", runstore.MaxStalled)

// byID returns what list lists. A run that it does not list has changed, or its page begins with a
// run that was deleted.
func byID(list func() ([]Run, error)) map[string]Run {
	read := make(map[string]Run)
	if list == nil {
		return read
	}
	runs, _ := list()
	for _, r := range runs {
		read[r.ID] = r
	}
	return read
}
