package agent

import (
	"context"
	"iter"
	"math"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/tool"
)

// WatchRun yields the events of a run after a Seq: first those in the journal, then new ones, each
// durable event exactly once. A watcher that joins while the model writes also gets the passing
// events since the last durable one, and one that joins right after the end of a run in the
// foreground those of its last turns. A slow consumer may miss passing events but no durable ones,
// and does not delay the run or other watchers.
//
// WatchRun ends when the run has finished. The last value is an error if there is no such run
// (KindNotFound), or if the agent closes or nobody works on the run (KindUnavailable). If several
// agents share the store, WatchRun reads the journal once a second while the run is not at work here,
// and then yields no passing events.
func (a *Agent) WatchRun(ctx context.Context, runID string, after uint64) iter.Seq2[loop.Event, error] {
	return func(yield func(loop.Event, error) bool) {
		at := place{seq: after}
		f := a.work.feedToWatch(runID) // kept to its end, so that no event is missed
		for {
			if f == nil {
				f = a.work.feedOf(runID)
			}
			var events []loop.Event
			upTo, behind := uint64(math.MaxUint64), f == nil
			var err error
			if f != nil {
				events, upTo, behind, err = f.after(ctx, at)
			}
			if err != nil {
				yield(loop.Event{}, tool.AsError(err))
				return
			}
			for _, e := range events {
				if !yield(e, nil) {
					return
				}
				at.advance(e)
			}
			if behind && !a.replay(ctx, runID, &at, upTo, yield) {
				return
			}
			if f == nil || len(events) == 0 && !behind {
				if f = a.work.feedOf(runID); f != nil {
					continue
				}
				again, err := a.endOf(ctx, runID)
				if again {
					continue
				}
				if err != nil {
					yield(loop.Event{}, err)
				}
				return
			}
		}
	}
}

// replay yields the journal's events up to a Seq and reports whether to continue. The run's feed
// has the later ones, with the passing events, which the journal does not have.
func (a *Agent) replay(ctx context.Context, runID string, at *place, upTo uint64, yield func(loop.Event, error) bool) bool {
	for rec, err := range a.store.Read(ctx, runID, at.seq) {
		var e loop.Event
		if err == nil {
			e, err = decode(rec)
		}
		if err != nil {
			yield(loop.Event{}, storeError(err))
			return false
		}
		if e.Seq > upTo {
			return true
		}
		if !yield(e, nil) {
			return false
		}
		at.advance(e)
	}
	return true
}

// endOf returns why a watch ends although the run is not at work here, or nil if the run has
// finished. again means that the run is, or was, at work in the meantime.
func (a *Agent) endOf(ctx context.Context, runID string) (again bool, err error) {
	before, err := a.journal.summaryOf(ctx, runID)
	if err != nil || before.Finished() {
		return false, err
	}
	// A run that was just resumed is at work, or has new events.
	if a.work.feedOf(runID) != nil {
		return true, nil
	}
	r, err := a.journal.summaryOf(ctx, runID)
	if err != nil || r.LastSeq > before.LastSeq {
		return err == nil, err
	}
	if a.journal.shared != nil { // it waits without an owner, or another agent works on it
		timer := time.NewTimer(takeOverPause)
		defer timer.Stop()
		select {
		case <-timer.C:
			return true, nil
		case <-ctx.Done():
			return false, tool.AsError(ctx.Err())
		case <-a.ctx.Done():
			return false, errClosed()
		}
	}
	return false, tool.Errorf(tool.KindUnavailable, "run %s is not finished and not at work here; resume it", runID)
}
