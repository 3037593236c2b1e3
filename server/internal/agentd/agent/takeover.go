package agent

import (
	"context"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/tool"
)

// Several agents may share a store. Each of them looks for runs with something to do that nobody
// works on: those of an agent that is gone, and those that have waited. The store decides which
// runs these are, and gives each to one agent.

// takeOverPause is the pause between two looks. A store takes an agent for gone only after some
// seconds, so that shorter pauses gain nothing.
const takeOverPause = time.Second

// crowdedPause is the pause if runs wait for slots and one is free.
const crowdedPause = 50 * time.Millisecond

// takeOver continues the runs that are due, and returns their number.
func (a *Agent) takeOver(ctx context.Context, shared runstore.Sharing) (n int, err error) {
	for {
		limit := min(max(a.work.free(), 0), runstore.MaxPage)
		taken, err := shared.TakeOver(ctx, limit)
		if err != nil {
			return n, storeError(err)
		}
		for i := range taken {
			k := a.refOf(&taken[i].Run)
			k.epoch = taken[i].Epoch
			if a.work.adopt(k) {
				n++
			}
		}
		a.work.mu.Lock()
		a.work.crowded = cap(a.slots) <= a.work.slots
		a.work.mu.Unlock()
		if len(taken) < runstore.MaxPage {
			return n, nil
		}
	}
}

// look takes over runs, and tells those of this agent that have entries in their inboxes.
func (a *Agent) look(ctx context.Context, shared runstore.Sharing) (n int, err error) {
	if !a.work.drains() {
		n, err = a.takeOver(ctx, shared)
	}
	if err == nil {
		err = a.collect(ctx, shared)
	}
	return n, err
}

// pause waits for the next look, and reports whether there is one. If runs wait for slots, it comes
// soon after a slot is free, together with the other slots of that time.
func (w *atWork) pause(ctx context.Context) bool {
	if sleep(ctx, crowdedPause) != nil {
		return false
	}
	later := time.NewTimer(takeOverPause - crowdedPause)
	defer later.Stop()
	select {
	case <-w.freed:
	case <-later.C:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// keepTakingOver takes over runs until the agent closes.
func (w *atWork) keepTakingOver(shared runstore.Sharing) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.group.Go(func() { // ends with the agent
		for w.pause(w.agent.ctx) {
			n, err := w.agent.look(w.agent.ctx, shared)
			if n > 0 {
				w.agent.config().Log.Info("runs that are due go on here", "runs", n)
			}
			if err != nil && tool.KindOf(err) != tool.KindUnavailable && w.agent.ctx.Err() == nil {
				w.agent.config().Log.Error("looking for runs that no agentd works on, and for requests", "error", err)
			}
		}
	})
}

// adopt starts a goroutine for a run that is claimed already, and reports whether it has. If the
// run is at work here, that is under an earlier claim, which another agent had meanwhile: that work
// ends, and the next look finds the run again.
func (w *atWork) adopt(k runRef) bool {
	r, wait, err := w.find(k.id, mail) // which may be why the store gave the run
	if err == nil && r == nil && wait == nil {
		_, err = w.begun(k, mail, nil)
		return err == nil
	}
	if r != nil && r.epoch < k.epoch {
		select {
		case r.lost <- struct{}{}:
		default:
		}
	}
	w.agent.journal.release(k.id, k.epoch)
	return false
}
