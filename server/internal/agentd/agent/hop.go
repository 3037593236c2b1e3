package agent

import (
	"context"
	"iter"
	"sync"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/tool"
)

// Follow yields the events of a run after a Seq, as WatchHere of its owner's agent yields them to
// the caller of ctx. Only the Seq of durable events counts. It ends with ctx.
type Follow func(ctx context.Context, owner runstore.Owner, runID string, after uint64) iter.Seq2[loop.Event, error]

// hopPause is the time between two attempts to follow a run at the same owner. Durable events do
// not wait for it.
const hopPause = 5 * time.Second

// hop follows a run for one watcher at the agent that works on it.
//
// The problem: only that agent has the passing events, it may be stopped or cut off, and the run
// may go to another one meanwhile. The idea: the feed of a hop has that agent's passing events, and
// the positions of durable ones, which the watcher reads from the journal. The positions also come
// from the store, as without a hop, so durable events do not depend on the other agent. The
// invariant: a feed has the events of one epoch. When the store names another one, the feed ends,
// and the watcher drops the text of the turn.
type hop struct {
	feed
	cancel context.CancelFunc
	group  sync.WaitGroup
	ending sync.Once
}

// owner returns the owner that is known, with the epoch of its claim.
func (w *runWatch) owner() runstore.Position {
	return runstore.Position{Epoch: w.known.Epoch, Owner: w.known.Owner}
}

// startHop returns the feed of a hop to the owner that is known, or nil.
func (w *runWatch) startHop(ctx context.Context) *feed {
	owner := w.owner()
	if w.here || owner.Owner == (runstore.Owner{}) || w.agent.follow == nil || owner == w.tried && time.Now().Before(w.again) {
		return nil
	}
	w.tried = owner
	ctx, cancel := context.WithCancel(ctx)
	h := &hop{cancel: cancel}
	h.begin(w.at.seq)
	h.moveTo(w.known.Seq) // no event in the journal waits for the owner's answer
	known, after := w.known, w.at.seq
	h.group.Go(func() { h.done(w.agent.receive(ctx, h, owner.Owner, w.runID, after)) }) // ends with ctx, like the next
	h.group.Go(func() { h.done(w.agent.attend(ctx, h, w.runID, known)) })
	w.hop = h
	return &h.feed
}

// stopHop ends the hop, if there is one.
func (w *runWatch) stopHop() {
	if w.hop == nil {
		return
	}
	w.hop.cancel()
	w.hop.group.Wait()
	w.hop, w.again = nil, time.Now().Add(hopPause)
}

// done ends the feed. No error ends the watch: the journal says whether the run goes on.
func (h *hop) done(err error) {
	h.ending.Do(func() {
		if err != nil {
			err = tool.Errorf(tool.KindUnavailable, "following the run at its agentd: %w", err)
		}
		h.end(err)
	})
}

// receive relays what the owner yields.
func (a *Agent) receive(ctx context.Context, h *hop, owner runstore.Owner, runID string, after uint64) error {
	for e, err := range a.follow(ctx, owner, runID, after) {
		if err != nil {
			return err
		}
		h.relay(e)
	}
	return nil
}

// attend relays the positions of the store until the run has another owner.
func (a *Agent) attend(ctx context.Context, h *hop, runID string, owner runstore.Position) error {
	for at := owner; ; {
		now, err := a.moves.await(ctx, moved{runID, at}, func() bool { return a.work.feedOf(runID) != nil })
		if err != nil {
			return err
		}
		if now.Epoch != owner.Epoch || now.Owner != owner.Owner { // or the run is at work here, or gone
			return tool.Errorf(tool.KindUnavailable, "run %s has another owner", runID)
		}
		h.moveTo(now.Seq)
		at = now
	}
}
