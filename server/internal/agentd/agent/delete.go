package agent

import (
	"context"
	"errors"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/tool"
)

// A run is deleted with its sub-runs, because its conversation is incomplete without theirs, and no
// other run has them. Only finished runs are deleted: a run at work, and a parent that waits for a
// sub-run, needs its journal. The store compares the last records of all of them when it deletes,
// so a message that continues one of them meanwhile wins, and nothing is deleted.
//
// The store keeps the ids. A client that repeats StartRun must not do again what the run has done,
// and the ids of its calls must not mean other calls.

// DeleteRun deletes a finished run with its sub-runs, and returns their ids, its own first. Errors:
// KindNotFound; KindConflict if one of them, or a run of which it is a sub-run, has not finished,
// or if another process works on it.
func (a *Agent) DeleteRun(ctx context.Context, runID string) ([]string, error) {
	runs, err := a.journal.family(ctx, runID)
	if err != nil {
		return nil, err
	}
	if err := a.journal.checkParents(ctx, &runs[0]); err != nil {
		return nil, err
	}
	deletion := runstore.Deletion{Time: time.Now(), Last: make(map[string]uint64, len(runs))}
	ids := make([]string, len(runs))
	for i := range runs {
		if err := a.work.checkIdle(&runs[i]); err != nil {
			return nil, err
		}
		ids[i], deletion.Last[runs[i].ID] = runs[i].ID, runs[i].LastSeq
	}
	if err := a.store.Delete(ctx, deletion); err != nil {
		return nil, storeError(err)
	}
	a.config().Log.With(loglevel.Key, loglevel.Runs).Info("run deleted", "run", runID, "sub_runs", len(ids)-1)
	return ids, nil
}

// family returns a run and all runs below it, parents first.
func (j *journal) family(ctx context.Context, runID string) ([]Run, error) {
	top, err := j.summaryOf(ctx, runID)
	if err != nil {
		return nil, err
	}
	runs := []Run{top}
	for i := 0; i < len(runs); i++ {
		query := runstore.Query{Parent: runs[i].ID}
		for {
			page, err := j.store.List(ctx, query)
			if err != nil {
				return nil, storeError(err)
			}
			for j := range page {
				below, err := summarize(&page[j])
				if err != nil {
					return nil, err
				}
				runs = append(runs, below)
			}
			if len(page) < query.PageSize() {
				break
			}
			query.Before = page[len(page)-1].ID
		}
	}
	return runs, nil
}

// checkParents returns a KindConflict if a run is below one that has not finished.
func (j *journal) checkParents(ctx context.Context, r *Run) error {
	for below := r; below.Parent != nil; {
		parent, err := j.summaryOf(ctx, below.Parent.RunID)
		switch {
		case tool.KindOf(err) == tool.KindNotFound:
			return nil
		case err != nil:
			return err
		case !parent.Finished():
			return tool.Errorf(tool.KindConflict, "run %s is a part of run %s, which has not finished", r.ID, parent.ID)
		}
		below = &parent
	}
	return nil
}

// checkIdle returns a KindConflict if a run has not finished, or if another process has claimed it.
func (w *atWork) checkIdle(r *Run) error {
	if !r.Finished() {
		return tool.Errorf(tool.KindConflict, "run %s has not finished; cancel it, or resume it if it was interrupted", r.ID)
	}
	w.mu.Lock() // forget and wake have it too, so that this claim is not mistaken for theirs
	defer w.mu.Unlock()
	if w.runs[r.ID] != nil {
		return nil // the run has just finished here, or Delete finds that it goes on
	}
	epoch, err := w.agent.journal.claim(r.ID) // does not block
	if err != nil {
		return err
	}
	w.agent.journal.release(r.ID, epoch)
	return nil
}

// Expired returns the ids of the finished runs that Config.Retention does not keep, without those
// of sub-runs, the newest first. A run with a sub-run that has not finished is not among them.
func (a *Agent) Expired(ctx context.Context, now time.Time) ([]string, error) {
	keep := a.config().Retention
	if keep == (Retention{}) {
		return nil, nil
	}
	var expired []string
	query, kept := runstore.Query{}, 0
	for {
		page, err := a.store.List(ctx, query)
		if errors.Is(err, runstore.ErrNotFound) { // the last run of the page before was deleted meanwhile
			return expired, nil
		}
		if err != nil {
			return nil, storeError(err)
		}
		for i := range page {
			r, err := summarize(&page[i])
			if err != nil || r.Parent != nil || !r.Finished() {
				continue // a broken summary is reported by ListRuns
			}
			goes, err := a.expires(ctx, &r, keep, kept, now)
			if err != nil {
				return nil, err
			}
			if goes {
				expired = append(expired, r.ID)
			} else {
				kept++
			}
		}
		if len(page) < query.PageSize() {
			return expired, nil
		}
		query.Before = page[len(page)-1].ID
	}
}

// expires reports whether a finished run is not kept. kept is the number of the newer ones that
// are.
func (a *Agent) expires(ctx context.Context, r *Run, keep Retention, kept int, now time.Time) (bool, error) {
	tooMany := keep.MaxCount > 0 && kept >= keep.MaxCount
	tooOld := func(last time.Time) bool { return keep.Keep > 0 && !last.Add(keep.Keep).After(now) }
	if !tooMany && !tooOld(r.UpdateTime) {
		return false, nil // most runs, without a look at their sub-runs
	}
	last, idle, err := a.journal.lastOf(ctx, r.ID)
	return err == nil && idle && (tooMany || tooOld(last)), err
}

// lastOf returns the time of the last event of a run and its sub-runs, and whether all have
// finished.
func (j *journal) lastOf(ctx context.Context, runID string) (last time.Time, idle bool, err error) {
	runs, err := j.family(ctx, runID)
	if tool.KindOf(err) == tool.KindNotFound {
		return last, false, nil // it was deleted meanwhile
	}
	for i := range runs {
		if !runs[i].Finished() {
			return last, false, nil
		}
		if runs[i].UpdateTime.After(last) {
			last = runs[i].UpdateTime
		}
	}
	return last, err == nil, err
}
