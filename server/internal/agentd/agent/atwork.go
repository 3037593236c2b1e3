package agent

import (
	"errors"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/tool"
)

// atWork is the runs on which this process works. It takes a run's claim before it starts the run's
// goroutine, and gives the claim up when nothing is left to do. All methods are safe for concurrent
// use.
type atWork struct {
	agent *Agent
	group sync.WaitGroup // the runs' goroutines, and moves

	mu     sync.Mutex
	closed bool
	runs   map[string]*run
	// working counts the runs at work of each principal and tenant that has any, for quotas.
	working map[runstore.Query]int
	// slots counts the runs at work that need one. If crowded is set, a look found as many runs that
	// are due as there were free slots, or none was free: new runs wait for their turn in the store.
	slots   int
	crowded bool
	freed   chan struct{} // capacity 1; signals that a slot is free, if crowded is set
	trying  int           // attempts of an engine that may claim a run
	// draining is set once the agent gives up its runs.
	draining bool
	// moving are the runs whose claim is being taken or given up, which may need a database. The
	// channel is closed when that is done. Such a run is not in runs.
	moving map[string]chan struct{}
	// paused is until when runs are left alone that have failed here. If they have entries, their
	// claims stay.
	paused map[string]time.Time
	// shown is the feed of the last run in the foreground that has ended. Its command starts the run
	// and then watches it, and a run of a scripted model can end between the two.
	shown struct {
		runID string
		feed  *feed
	}
}

// runRef is what the agent knows of a run before it reads the journal.
type runRef struct {
	id   string
	last uint64 // the Seq of its last event, or of an earlier one
	// parent is the id of the run that has this one as a sub-run. Empty: it is none.
	parent string
	// owner is the key of the principal that the run belongs to.
	owner string
	// fresh means that this agent has just started the run. tries is how often in a row the journal
	// could not be written.
	fresh bool
	tries int
	epoch uint64 // of the run's claim, once it is claimed
}

func (r *Run) ref() runRef {
	k := runRef{id: r.ID, last: r.LastSeq, owner: r.Principal}
	if r.Parent != nil {
		k.parent = r.Parent.RunID
	}
	return k
}

// wake starts a goroutine for a run that has none, and hands it an input, which may be nil. It may
// wait for the store, as long as a claim takes.
func (w *atWork) wake(k runRef, in *input) error {
	_, err := w.rouse(k, in)
	return err
}

// rouse is wake, and returns the run.
func (w *atWork) rouse(k runRef, in *input) (*run, error) {
	for {
		r, wait, err := w.find(k.id, in)
		if err != nil || r != nil {
			return r, err
		}
		if wait == nil {
			k.epoch, err = w.agent.journal.claim(k.id)
			return w.begun(k, in, err)
		}
		<-wait // the goroutine that closes it waits only for the store
	}
}

// wakeAll is wake for many runs without an input, with one request to the store. It returns the
// errors of the runs that it has not woken, by their ids.
func (w *atWork) wakeAll(runs []runRef) map[string]error {
	errs := make(map[string]error)
	failed := func(k runRef, err error) {
		if err != nil {
			errs[k.id] = err
		}
	}
	var moving, waiting []runRef
	var ids []string
	for _, k := range runs {
		switch r, wait, err := w.find(k.id, nil); {
		case wait != nil:
			waiting = append(waiting, k)
		case err == nil && r == nil:
			moving, ids = append(moving, k), append(ids, k.id)
		default:
			failed(k, err)
		}
	}
	claimed, err := w.agent.journal.claimAll(ids)
	for _, k := range moving {
		epoch, ok := claimed[k.id]
		refused := err
		switch k.epoch = epoch; {
		case ok:
			refused = nil
		case err == nil:
			refused = claimError(runstore.AlreadyClaimed(k.id))
		}
		_, refused = w.begun(k, nil, refused)
		failed(k, refused)
	}
	for _, k := range waiting {
		failed(k, w.wake(k, nil))
	}
	return errs
}

// wakeSoon is wake for a run that is in the journal and must not be forgotten: if the store is not
// available now, the run begins later.
func (w *atWork) wakeSoon(k runRef) error {
	err := w.wake(k, nil)
	if !errors.Is(err, runstore.ErrUnavailable) {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return errClosed()
	}
	k.tries++
	w.group.Go(func() { w.retryLater(k) }) // ends with the agent
	return nil
}

// find hands an input to the run at work. If there is none, it returns the channel to wait for
// before the next attempt, or begins to move the run itself: the caller then claims it and calls
// begun. A run that has failed here is not tried for mail alone until its pause ends.
func (w *atWork) find(runID string, in *input) (*run, <-chan struct{}, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, nil, errClosed()
	}
	if r := w.runs[runID]; r != nil {
		r.receive(in)
		return r, nil, nil
	}
	if wait := w.moving[runID]; wait != nil {
		return nil, wait, nil
	}
	if _, paused := w.paused[runID]; paused && in == mail {
		return nil, nil, errPaused
	}
	w.move(runID)
	return nil, nil, nil
}

// begun ends the move that find began. It starts the run's goroutine if the claim succeeded.
func (w *atWork) begun(k runRef, in *input, err error) (r *run, _ error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		// An agent that closes waits for this move, and cancels the run at its first step.
		r = newRun(w.agent, k)
		w.runs[k.id] = r
		delete(w.paused, k.id)
		w.agent.arrived(k.id)
		w.countLocked(r)
		w.group.Go(func() { r.work(w.agent.ctx) }) // ends with the work on the run, or with the agent
		r.receive(in)
	}
	w.moved(k.id)
	return r, err
}

// move makes others wait for the run until moved. The caller holds mu. Close waits for it.
func (w *atWork) move(runID string) {
	w.group.Add(1)
	w.moving[runID] = make(chan struct{})
}

// moved lets others go on. The caller holds mu.
func (w *atWork) moved(runID string) {
	close(w.moving[runID])
	delete(w.moving, runID)
	w.group.Done()
}

// take returns the waiting inputs of a run, and whether its inbox in the store may have entries. If
// last is set and there is neither, it removes the run from the runs at work and returns left =
// true.
func (w *atWork) take(r *run, last bool) (inputs []*input, posted, left bool) {
	w.mu.Lock()
	inputs, r.inbox = r.inbox, nil
	posted, r.posted = r.posted, false
	r.rest = nil
	left = last && len(inputs) == 0 && !posted
	forgotten := left && w.forget(r)
	w.mu.Unlock()
	if forgotten {
		w.leave(r)
	}
	return inputs, posted, left
}

// drop ends work on a run and returns its remaining inputs. If pause is not 0, no agent takes the
// run by itself until the pause ends. It must be 0 unless agents share the store.
func (w *atWork) drop(r *run, pause time.Duration) []*input {
	w.mu.Lock()
	forgotten := w.forget(r)
	inputs := r.inbox
	r.inbox = nil
	w.mu.Unlock()
	switch {
	case forgotten && pause > 0:
		w.pause(r, pause)
	case forgotten:
		w.release(r)
	}
	return inputs
}

// pause gives up a run that forget has removed, so that no agent takes it by itself before the
// pause ends. The store would give a run with entries in its inbox to any agent at once, so this
// agent keeps the claim of such a run for the pause. Then any agent can take the run. One of a
// later version may be able to continue it.
func (w *atWork) pause(r *run, pause time.Duration) {
	w.agent.journal.shared.Leave([]runstore.Leaving{{RunID: r.id, Epoch: r.epoch, Wait: pause}})
	w.mu.Lock()
	defer w.mu.Unlock()
	until := time.Now().Add(pause)
	w.paused[r.id] = until
	w.group.Go(func() { // ends with the agent
		if sleep(w.agent.ctx, pause) == nil {
			w.unpause(r, until)
		}
	})
	w.moved(r.id)
}

// unpause ends a pause and gives up the claim of before, if the run has no later one.
func (w *atWork) unpause(r *run, until time.Time) {
	w.agent.journal.release(r.id, r.epoch)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.paused[r.id].Equal(until) { // no attempt has followed meanwhile
		delete(w.paused, r.id)
	}
}

// forget removes a run from the runs at work, and reports whether it was one of them. The caller
// holds mu, and then calls release without it.
func (w *atWork) forget(r *run) bool {
	if w.runs[r.id] != r {
		return false
	}
	delete(w.runs, r.id)
	w.countLocked(r)
	w.move(r.id)
	if w.agent.journal.shared != nil { // a sub-run that rests goes with its parent, or alone if that is gone
		for _, below := range w.runs {
			if below.parent == r.id {
				below.wake()
			}
		}
	}
	if r.log.foreground && !r.sub {
		w.shown.runID, w.shown.feed = r.id, &r.feed
	}
	return true
}

// release gives up the claim of a run that was forgotten.
func (w *atWork) release(r *run) {
	w.agent.journal.release(r.id, r.epoch)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.moved(r.id)
}

// leave is release for a run with nothing left to do. If its inbox in the store has entries, the
// run goes on.
func (w *atWork) leave(r *run) {
	if w.agent.journal.shared == nil {
		w.release(r)
		return
	}
	w.leaveAll([]*run{r}, []runstore.Leaving{{RunID: r.id, Epoch: r.epoch}})
}

// leaveAll gives up the claims of runs that were forgotten. If the inbox of one of them in the
// store has entries, all of them go on.
func (w *atWork) leaveAll(runs []*run, leaving []runstore.Leaving) {
	if !w.agent.journal.shared.Leave(leaving) {
		for _, r := range runs {
			_, _ = w.begun(runRef{id: r.id, last: r.feed.position(), parent: r.parent, owner: r.owner, epoch: r.epoch}, mail, nil)
		}
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range runs {
		w.moved(r.id)
	}
}

// at returns the run if it is at work here, or nil.
func (w *atWork) at(runID string) *run {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.runs[runID]
}

func (w *atWork) feedOf(runID string) *feed {
	if r := w.at(runID); r != nil {
		return &r.feed
	}
	return nil
}

// feedToWatch returns the feed with which a watch begins, or nil: that of a run at work, or that of
// the last run in the foreground after its end.
func (w *atWork) feedToWatch(runID string) *feed {
	if f := w.feedOf(runID); f != nil {
		return f
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.shown.runID == runID {
		return w.shown.feed
	}
	return nil
}

// workingOf returns the number of runs at work of a principal or a tenant.
func (w *atWork) workingOf(holder runstore.Query) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.working[holder]
}

// setWaits notes whether a run waits only for a person.
func (w *atWork) setWaits(r *run, waits bool) {
	if r.waits.Swap(waits) == waits {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.countLocked(r)
}

// countLocked brings working up to date after a change of a run. mu is held.
func (w *atWork) countLocked(r *run) {
	works := w.runs[r.id] == r && !r.sub && !r.waits.Load()
	if works == r.counted {
		return
	}
	r.counted = works
	if works {
		w.slots++
	} else if w.slots--; w.crowded {
		w.ring()
	}
	for _, holder := range [2]runstore.Query{{Owner: r.owner}, {Tenant: identity.TenantOf(r.owner)}} {
		if works {
			w.working[holder]++
		} else if w.working[holder]--; w.working[holder] == 0 {
			delete(w.working, holder)
		}
	}
}

// free returns how many more runs can have a slot, if each attempt of an engine claims one. It is
// negative if runs wait for one here.
func (w *atWork) free() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return cap(w.agent.slots) - w.slots - w.trying
}

// try counts an attempt of an engine until done, which may take as long as the store.
func (w *atWork) try() (done func()) {
	add := func(n int) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.trying += n; n < 0 && w.crowded {
			w.ring()
		}
	}
	add(1)
	return func() { add(-1) }
}

// mayBegin reports whether a new run begins here at once. Otherwise it stays in the store, where
// the engine, or any agent with a free slot, finds it in its turn. A store that agents do not share
// has no such place.
func (w *atWork) mayBegin() bool {
	if w.agent.journal.shared == nil || !w.agent.serves.Load() {
		return true
	}
	if w.agent.config().Engine.Ready() {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if cap(w.agent.slots) <= w.slots {
		w.crowded = true
	}
	if w.crowded {
		w.ring()
	}
	return !w.crowded && !w.draining
}

// ring makes the engine look for runs. mu is held.
func (w *atWork) ring() {
	select {
	case w.freed <- struct{}{}:
	default:
	}
}

// errPaused says that a run has failed here, and is not tried again yet.
var errPaused = errors.New("the run has failed here")

func errClosed() error {
	return tool.Errorf(tool.KindUnavailable, "the agent is shutting down; the run goes on when it is back")
}
