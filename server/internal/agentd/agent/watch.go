package agent

import (
	"context"
	"iter"
	"math"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/tool"
)

// WatchRun yields the events of a run after a Seq: first those in the journal, then new ones, each
// durable event exactly once. A watcher that joins while the model writes also gets the passing
// events since the last durable one, and one that joins right after the end of a run in the
// foreground those of its last turns. A slow consumer may miss passing events but no durable ones,
// and does not delay the run or other watchers.
//
// While the run is not at work in this agent, the durable events come up to watchPause later, and
// the passing ones only with Config.Follow. If it leaves its agent in the middle of a turn whose
// passing events were yielded, a TurnReset says that they are void.
//
// WatchRun ends when the run has finished. The last value is an error if there is no such run
// (KindNotFound), or if the agent closes, or the run is not at work here and this agent serves no
// runs that several agents share (KindUnavailable).
func (a *Agent) WatchRun(ctx context.Context, runID string, after uint64) iter.Seq2[loop.Event, error] {
	return a.watch(ctx, runID, after, a.moves == nil || !a.serves.Load())
}

// WatchHere is WatchRun for another agent that follows a run. It ends with KindUnavailable if the
// run is not at work here, or not any more.
func (a *Agent) WatchHere(ctx context.Context, runID string, after uint64) iter.Seq2[loop.Event, error] {
	return a.watch(ctx, runID, after, true)
}

// watch is WatchRun, or ends if the run is not at work here.
func (a *Agent) watch(ctx context.Context, runID string, after uint64, here bool) iter.Seq2[loop.Event, error] {
	return func(yield func(loop.Event, error) bool) {
		w := &runWatch{agent: a, runID: runID, here: here, at: place{seq: after}, yield: yield}
		if err := w.run(ctx); err != nil {
			yield(loop.Event{}, tool.AsError(err))
		}
	}
}

// runWatch is one watch. A run can come to this agent and leave it meanwhile. Then another feed
// follows, whose passing events have an Index of their own: the watch resets the turn and goes on
// counting, so that the first ones of the new feed are not taken for known ones.
type runWatch struct {
	agent  *Agent
	runID  string
	here   bool
	at     place  // in the present feed
	before uint64 // the passing events of the turn in the feeds before
	yield  func(loop.Event, error) bool
	left   bool // the consumer has left; no more may be yielded

	known runstore.Position // of the run when it is not at work here, as of the last question
	hop   *hop              // the source of the present feed; nil: the run is at work here, or there is no feed
	tried runstore.Position // the owner that was followed last, with its epoch
	again time.Time         // when that one may be followed again
}

// run yields events. It returns nil if the run has finished, or the consumer has left.
func (w *runWatch) run(ctx context.Context) error {
	defer w.stopHop()
	work := &w.agent.work
	f := work.feedToWatch(w.runID) // kept to its end, so that no event is missed
	for {
		if f == nil {
			f = work.feedOf(w.runID)
		}
		var events []loop.Event
		upTo, behind := uint64(math.MaxUint64), f == nil
		var err error
		if f != nil {
			events, upTo, behind, err = f.after(ctx, w.at)
		}
		if err != nil && !w.survives(ctx, err) {
			return err
		}
		for _, e := range events {
			w.show(e)
		}
		if behind && err == nil {
			if err = w.replay(ctx, upTo); err != nil {
				return err
			}
			if w.hop != nil && w.at.seq < upTo { // the other agent named events that there are not
				behind = false
			}
		}
		if w.left {
			return nil
		}
		if f == nil || len(events) == 0 && !behind {
			w.leave()
			w.stopHop()
			if f = work.feedOf(w.runID); f != nil {
				continue
			}
			if again, err := w.endOf(ctx); !again || err != nil {
				return err
			}
			f = w.startHop(ctx)
		}
	}
}

// survives reports whether the watch goes on although the feed has ended with an error: the run
// goes on under another claim.
func (w *runWatch) survives(ctx context.Context, err error) bool {
	kind := tool.KindOf(err)
	return !w.here && ctx.Err() == nil && w.agent.ctx.Err() == nil && (kind == tool.KindConflict || kind == tool.KindUnavailable)
}

// show yields an event.
func (w *runWatch) show(e loop.Event) {
	if w.left {
		return
	}
	w.at.advance(e)
	if e.Durable() {
		w.before = 0
	} else if w.before > 0 && e.Index > 0 {
		e.Index += w.before
	}
	w.left = !w.yield(e, nil)
}

// leave ends the use of a feed. Passing events that no durable event follows are void.
func (w *runWatch) leave() {
	if w.at.index == 0 {
		return
	}
	// The attempts of the turn so far are not known here.
	w.show(loop.Event{Seq: w.at.seq + 1, Index: w.at.index + 1, Time: time.Now(), Payload: &loop.TurnReset{Reason: "the run has left the agentd that worked on it", Attempt: 2}})
	w.before += w.at.index
	w.at.index = 0
}

// replay yields the journal's events up to a Seq. The run's feed has the later ones, with the
// passing events, which the journal does not have.
func (w *runWatch) replay(ctx context.Context, upTo uint64) error {
	for rec, err := range w.agent.store.Read(ctx, w.runID, w.at.seq) {
		var e loop.Event
		if err == nil {
			e, err = decode(rec)
		}
		if err != nil {
			return storeError(err)
		}
		if e.Seq > upTo {
			return nil
		}
		if w.show(e); w.left {
			return nil
		}
	}
	return nil
}

// endOf reports whether the watch goes on although the run is not at work here, and waits until
// there may be something to show. It returns nil if the run has finished.
func (w *runWatch) endOf(ctx context.Context) (again bool, err error) {
	a := w.agent
	before, err := a.journal.summaryOf(ctx, w.runID)
	switch {
	case err != nil:
		return false, err
	case !w.here && before.LastSeq > w.at.seq:
		return true, nil
	case before.Finished():
		return false, nil
	case !w.here:
		w.known.Seq = before.LastSeq
		return true, w.news(ctx)
	}
	// A run that was just resumed is at work, or has new events.
	if a.work.feedOf(w.runID) != nil {
		return true, nil
	}
	r, err := a.journal.summaryOf(ctx, w.runID)
	if err != nil || r.LastSeq > before.LastSeq {
		return err == nil, err
	}
	return false, tool.Errorf(tool.KindUnavailable, "run %s is not finished and not at work here; resume it", w.runID)
}

// news waits until the run has moved, or an owner that did not help may be followed again.
func (w *runWatch) news(ctx context.Context) error {
	a, waiting := w.agent, ctx
	if w.known.Owner != (runstore.Owner{}) && w.tried == w.owner() {
		var cancel context.CancelFunc
		waiting, cancel = context.WithDeadline(ctx, w.again)
		defer cancel()
	}
	now, err := a.moves.await(waiting, moved{w.runID, w.known}, func() bool { return a.work.feedOf(w.runID) != nil })
	if err != nil && waiting.Err() != nil && ctx.Err() == nil {
		return nil
	}
	w.known = now
	return err
}

// watchPause is the pause between two looks at the runs that are watched and not at work here.
const watchPause = time.Second

// moves waits until runs have events after a position, or another owner.
type moves = polled[moved, runstore.Position]

type moved struct {
	runID string
	since runstore.Position
}

// moved returns the positions of those of the runs that have moved, and the zero value for those
// that are gone. It asks the store once for all.
func (a *Agent) moved(ctx context.Context, watched []moved) (map[moved]runstore.Position, error) {
	ids := make([]string, len(watched))
	for i, m := range watched {
		ids[i] = m.runID
	}
	now, err := a.journal.shared.Positions(ctx, ids)
	if err != nil {
		return nil, err
	}
	news := make(map[moved]runstore.Position)
	for _, m := range watched {
		if at, ok := now[m.runID]; !ok || at.Seq > m.since.Seq || at.Epoch != m.since.Epoch || at.Owner != m.since.Owner {
			news[m] = at
		}
	}
	return news, nil
}

// arrived wakes the watchers of a run that is at work here from now on.
func (a *Agent) arrived(runID string) {
	if a.moves != nil {
		a.moves.wake(func(m moved) bool { return m.runID == runID })
	}
}
