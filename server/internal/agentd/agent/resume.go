package agent

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/tool"
)

// Resume continues all interrupted runs and returns their number. It skips runs in the foreground
// of another process and runs that another process works on.
func (a *Agent) Resume(ctx context.Context) (int, error) {
	query, n := runstore.Query{UnfinishedOnly: true}, 0
	var elsewhere []runRef
	defer func() { a.work.claimLater(elsewhere) }()
	for {
		page, err := a.store.List(ctx, query)
		if err != nil {
			return n, storeError(err)
		}
		runs := make([]runRef, len(page))
		for i := range page {
			k := runRef{id: page[i].ID, last: page[i].LastSeq}
			if r, err := summarize(&page[i]); err == nil {
				k = r.ref()
			} else { // the run's next event replaces the summary
				a.config().Log.Error("the summary of a run is broken; the run continues", "run", k.id, "error", err)
			}
			runs[i] = k
		}
		errs := a.work.wakeAll(runs)
		var failed error
		for _, k := range runs {
			switch err := errs[k.id]; tool.KindOf(err) {
			case "":
				n++
			case tool.KindConflict:
				a.config().Log.Warn("another process works on a run; it is not resumed here", "run", k.id, "error", err)
				elsewhere = append(elsewhere, k)
			default:
				if failed == nil {
					failed = err
				}
			}
		}
		if failed != nil {
			return n, failed
		}
		if len(page) < query.PageSize() {
			return n, nil
		}
		query.Before = page[len(page)-1].ID
	}
}

// ResumeRun continues one interrupted run. Any process may have begun it. ResumeRun does nothing
// for a run that has finished or that this agent works on. It fails with KindConflict if another
// process works on the run.
func (a *Agent) ResumeRun(ctx context.Context, runID string) error {
	r, err := a.journal.summaryOf(ctx, runID)
	if err != nil || r.Finished() {
		return err
	}
	return a.work.wake(r.ref(), nil)
}

// claimLater continues runs whose claims may be those of a process that has ended, if the store
// says that claims can outlive their process.
func (w *atWork) claimLater(runs []runRef) {
	lingering, ok := w.agent.journal.claims.(runstore.Lingering)
	if !ok || len(runs) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.group.Go(func() { // ends with the agent
		for end := time.Now().Add(lingering.Linger()); len(runs) > 0 && time.Now().Before(end) && sleep(w.agent.ctx, claimPause) == nil; {
			errs := make(map[string]error)
			for page := range slices.Chunk(runs, runstore.MaxPage) {
				maps.Copy(errs, w.wakeAll(page))
			}
			runs = slices.DeleteFunc(runs, func(k runRef) bool {
				err := errs[k.id]
				if err == nil {
					w.agent.config().Log.Info("the process that worked on a run has ended; the run goes on here", "run", k.id)
				}
				kind := tool.KindOf(err)
				return kind != tool.KindConflict && kind != tool.KindUnavailable
			})
		}
	})
}

// claimPause is the pause between two attempts of claimLater.
const claimPause = time.Second

// storeRetry is the retry policy for runs whose journal could not be written. A full disk may have
// space later.
func storeRetry() Retry { return Retry{Initial: time.Second, Max: 30 * time.Second} }

// retryLater continues a run after a pause, and after further ones as long as the store is not
// available. It ends when the agent closes.
func (w *atWork) retryLater(k runRef) {
	for sleep(w.agent.ctx, storeRetry().pause(k.tries, 0)) == nil {
		err := w.wake(k, nil)
		if tool.KindOf(err) != tool.KindUnavailable {
			if err != nil {
				w.agent.config().Log.Error("a run is not continued", "run", k.id, "error", err)
			}
			return
		}
		k.tries++
	}
}
