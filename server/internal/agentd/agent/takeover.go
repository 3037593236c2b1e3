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
		n += a.adoptAll(taken)
		a.work.mu.Lock()
		a.work.crowded = cap(a.slots) <= a.work.slots
		a.work.mu.Unlock()
		if len(taken) < runstore.MaxPage {
			return n, nil
		}
	}
}

// adoptAll begins to work on runs that are claimed, and returns their number.
func (a *Agent) adoptAll(taken []runstore.Taken) (n int) {
	for i := range taken {
		k := a.refOf(&taken[i].Run)
		k.epoch = taken[i].Epoch
		if a.work.adopt(k) {
			n++
		}
	}
	return n
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
	return n, a.reported(ctx, err)
}

// Collect implements Worker.
func (a *Agent) Collect(ctx context.Context) error {
	if a.journal.shared == nil {
		return nil
	}
	return a.reported(ctx, a.collect(ctx, a.journal.shared))
}

// reported logs the error of a look, unless it passes.
func (a *Agent) reported(ctx context.Context, err error) error {
	if err != nil && tool.KindOf(err) != tool.KindUnavailable && ctx.Err() == nil {
		a.config().Log.Error("looking for runs that no agentd works on, and for requests", "error", err)
	}
	return err
}

// Slots implements Worker.
func (a *Agent) Slots() (free int, freed <-chan struct{}) {
	if !a.work.drains() {
		free = max(a.work.free(), 0)
	}
	return free, a.work.freed
}

// due tells the engine that there is something to do for a run, by the run that its family has at
// the top.
func (a *Agent) due(ctx context.Context, r *Run) {
	top := r.ID
	for parent := r.Parent; parent != nil; {
		above, err := a.journal.summaryOf(ctx, parent.RunID)
		if err != nil || above.Finished() {
			break // whoever looks finds it
		}
		top, parent = above.ID, above.Parent
	}
	a.config().Engine.Due(top)
}

// entrusts reports whether the engine brings it about that an agent consumes a request for a run.
// No engine goes on with a run that is parked.
func (a *Agent) entrusts(r *Run) bool {
	return a.journal.shared != nil && a.serves.Load() && r.stalled < runstore.MaxStalled && a.work.at(r.ID) == nil && a.config().Engine.Ready()
}

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
