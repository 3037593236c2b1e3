package agent

import (
	"context"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/tool"
)

// Resume continues all interrupted runs and returns their number. It skips runs in the foreground
// of another process and runs that another process works on. If several agents share the store, the
// engine looks for runs that are due, from then on.
func (a *Agent) Resume(ctx context.Context) (int, error) {
	a.serves.Store(true)
	if shared := a.journal.shared; shared != nil {
		leave, err := a.looks.await(ctx)
		defer leave()
		if err != nil {
			return 0, err
		}
		n, err := a.takeOver(ctx, shared)
		if err == nil {
			a.work.drive()
		}
		return n, err
	}
	query, n := runstore.Query{UnfinishedOnly: true}, 0
	for {
		page, err := a.store.List(ctx, query)
		if err != nil {
			return n, storeError(err)
		}
		runs := make([]runRef, len(page))
		for i := range page {
			runs[i] = a.refOf(&page[i])
		}
		errs := a.work.wakeAll(runs)
		var failed error
		for _, k := range runs {
			switch err := errs[k.id]; tool.KindOf(err) {
			case "":
				n++
			case tool.KindConflict:
				a.config().Log.Warn("another process works on a run; it is not resumed here", "run", k.id, "error", err)
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

// refOf returns what the agent knows of a run that it continues.
func (a *Agent) refOf(kept *runstore.Run) runRef {
	r, err := summarize(kept)
	if err != nil { // the run's next event replaces the summary
		a.config().Log.Error("the summary of a run is broken; the run continues", "run", kept.ID, "error", err)
		return runRef{id: kept.ID, last: kept.LastSeq}
	}
	return r.ref()
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
