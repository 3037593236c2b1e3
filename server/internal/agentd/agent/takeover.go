package agent

import (
	"context"
	"sync"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/tool"
)

// Several agents may share a store. Each of them looks for runs that have something to do and on
// which no agent works: runs of an agent that is gone, and runs whose wait has ended. The store
// decides which runs these are, and gives each to one agent.

// looks has the looks of an agent, of which one is made at a time.
//
// The problem: the engine looks, and so does each request for a run of another agent. Each look
// takes as many runs as slots are free, so several at the same time would take a multiple of that.
// The idea: all requests that arrive before a look begins share that look.
type looks struct {
	turn chan struct{} // capacity 1; has an element while a look is made

	mu   sync.Mutex
	next *look // waits for its turn; nil: there is none
}

// look is one look. Its result is set when done is closed.
type look struct {
	done chan struct{}
	err  error
}

// begin returns the look that begins next, and whether the caller has to make it.
func (l *looks) begin() (next *look, own bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if own = l.next == nil; own {
		l.next = &look{done: make(chan struct{})}
	}
	return l.next, own
}

// begun notes that the next look begins, so that no later request joins it.
func (l *looks) begun() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next = nil
}

// await waits for the turn to look, or until ctx ends. The caller calls leave in any case.
func (l *looks) await(ctx context.Context) (leave func(), err error) {
	select {
	case l.turn <- struct{}{}:
		return func() { <-l.turn }, nil
	case <-ctx.Done():
		return func() {}, tool.AsError(ctx.Err())
	}
}

// takeOver continues the runs that are due, and returns their number. The caller has its turn.
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
// If another call of Look waits for its turn, that call looks for both, and returns the number of
// runs. This one then returns 0.
func (a *Agent) Look(ctx context.Context) (n int, err error) {
	shared := a.journal.shared
	if shared == nil {
		return 0, nil
	}
	l, own := a.looks.begin()
	if !own {
		select {
		case <-l.done:
			return 0, l.err
		case <-ctx.Done():
			return 0, tool.AsError(ctx.Err())
		}
	}
	defer func() { l.err = err; close(l.done) }()
	leave, err := a.looks.await(ctx)
	defer leave()
	a.looks.begun()
	if err != nil {
		return 0, err
	}
	return a.lookNow(ctx, shared)
}

func (a *Agent) lookNow(ctx context.Context, shared runstore.Sharing) (n int, err error) {
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
// the top. It does not end with the request, whose caller may have left. If the store cannot be
// read, due does not tell the engine, and looks find the run.
func (a *Agent) due(r *Run) {
	top := r.ID
	for parent := r.Parent; parent != nil; {
		above, err := a.journal.summaryOf(a.ctx, parent.RunID)
		if err != nil {
			return
		}
		if above.Finished() {
			break
		}
		top, parent = above.ID, above.Parent
	}
	a.config().Engine.Due(top)
}

// owned reports whether an agent works on the run. That agent looks for requests by itself, so this
// agent does not call Engine.Due. Some engines limit the number of signals for a run, and a run may
// work for hours.
func (a *Agent) owned(r *Run) bool {
	owned, err := a.journal.claims.Claimed([]string{r.ID})
	return err == nil && owned[r.ID]
}

// entrusts reports whether a request for a run is written to the inbox at once. It is if the engine
// is ready, because the engine makes an agent consume the entry. It is also if the run is parked,
// so that each request makes one agent try the run, however often the caller repeats the request;
// see runstore.MaxStalled.
func (a *Agent) entrusts(r *Run) bool {
	if a.journal.shared == nil || a.work.at(r.ID) != nil {
		return false
	}
	return r.stalled >= runstore.MaxStalled || a.serves.Load() && a.config().Engine.Ready()
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
// run is at work here, it is so under an earlier claim, and another agent has claimed the run
// meanwhile. adopt ends that work and releases the new claim, and the next look finds the run
// again.
func (w *atWork) adopt(k runRef) bool {
	r, wait, err := w.find(k.id, nil)
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
