package agent

import (
	"context"
	"slices"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/tool"
)

// pendingRefs returns references to the decisions that a run and its sub-runs wait for.
func (j *journal) pendingRefs(ctx context.Context, runID string) ([]string, error) {
	r, err := j.summaryOf(ctx, runID)
	if err != nil || !r.Waiting {
		return nil, err
	}
	var s loop.State
	if _, err := j.fold(ctx, runID, &s); err != nil {
		return nil, err
	}
	return refsOf(runID, &s), nil
}

// refsOf returns the decisions that a run waits for, in it and below it.
func refsOf(runID string, s *loop.State) (refs []string) {
	for _, p := range s.Pending() {
		refs = append(refs, loop.DecisionRef(runID, p.ID))
	}
	return append(refs, s.Batch().SubRunDecisions()...)
}

// pendingBelow returns the decisions that sub-runs still wait for.
func (j *journal) pendingBelow(ctx context.Context, s *loop.State) ([]loop.Pending, error) {
	var list []loop.Pending
	folded := make(map[string][]loop.Pending)
	for _, ref := range s.Batch().SubRunDecisions() {
		runID, id := loop.SplitRef(ref)
		if _, ok := folded[runID]; !ok {
			var below loop.State
			if _, err := j.fold(ctx, runID, &below); err != nil {
				return nil, err
			}
			folded[runID] = below.Pending()
		}
		for _, p := range folded[runID] {
			if p.ID == id {
				p.ID, p.RunID = ref, runID
				list = append(list, p)
			}
		}
	}
	return list, nil
}

// targetOf returns the run that the decisions belong to, and the decisions with that run's own ids.
// runID is the run that the caller named.
func (j *journal) targetOf(ctx context.Context, runID string, decisions []loop.DecisionMade) (string, []loop.DecisionMade, error) {
	made := slices.Clone(decisions)
	at := ""
	for i := range made {
		below, id := loop.SplitRef(made[i].ID)
		if below == "" {
			below = runID
		}
		if i > 0 && below != at {
			return "", nil, tool.Errorf(tool.KindInvalidArgument, "the decisions are for several runs, %s and %s; respond to one after the other", at, below)
		}
		at, made[i].ID = below, id
	}
	for above, depth := at, 0; above != runID; depth++ {
		r, err := j.summaryOf(ctx, above)
		if err != nil || r.Parent == nil || depth > maxDepth {
			return "", nil, tool.Errorf(tool.KindNotFound, "run %s has no sub-run %q", runID, loop.Clip(at))
		}
		above = r.Parent.RunID
	}
	return at, made, nil
}

// maxDepth limits the chain of parents. It is larger than any nesting of sub-runs.
const maxDepth = 1000
