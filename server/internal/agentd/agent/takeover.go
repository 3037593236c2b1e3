package agent

import (
	"context"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/tool"
)

// Several agents may share a store. Each of them looks for runs with something to do that nobody
// works on: those of an agent that is gone, and those that have waited. The store decides which
// runs these are, and gives each to one agent.

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

// Look implements Worker. It also tells the runs of this agent that have entries in their inboxes.
func (a *Agent) Look(ctx context.Context) (n int, err error) {
	shared := a.journal.shared
	if shared == nil {
		return 0, nil
	}
	if !a.work.drains() {
		n, err = a.takeOver(ctx, shared)
	}
	if err == nil {
		err = a.collect(ctx, shared)
	}
	if n > 0 {
		a.config().Log.Info("runs that are due go on here", "runs", n)
	}
	if err != nil && tool.KindOf(err) != tool.KindUnavailable && ctx.Err() == nil {
		a.config().Log.Error("looking for runs that no agentd works on, and for requests", "error", err)
	}
	return n, err
}

// Freed implements Worker.
func (a *Agent) Freed() <-chan struct{} { return a.work.freed }

// drive lets the engine work until the agent closes.
func (w *atWork) drive() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.group.Go(func() { w.agent.config().Engine.Drive(w.agent.ctx, w.agent) }) // ends with the agent
	}
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
