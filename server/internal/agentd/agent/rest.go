package agent

import (
	"slices"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

// A run in a store that several agents share has an owner only while there is something to do.
//
// The problem: runs wait for people for days, and each of them would cost its agent a goroutine, a
// claim, and a part of each restart. The idea: the owner gives up a run and its sub-runs together
// when all of them only wait, and the store knows when the first of them has to go on. The
// invariant: each unfinished run has an owner, a time at which it is due, a decision that waits, or
// an entry in its inbox. The store compares the inboxes in the statement that gives the runs up. So
// a request either finds the owner, or finds a run that its agent can take.

// soon is how far ahead the next event must be for a run to be given up. To give a run up and to
// take it again costs more than to wait a few seconds.
const soon = 10 * time.Second

// rest is what a run waits for that has nothing to do.
type rest struct {
	until   time.Time // when it goes on by itself; zero: never
	subRuns []string  // that it waits for, in order
	told    []string  // the decisions that these wait for, as it has recorded them
	refs    []string  // all decisions that it waits for, as its parent records them
	work    bool      // it has something to do, for another agent
}

// resting returns what the run waits for, or nil if it works, if it soon goes on by itself, or if
// its agent keeps it in any case. A call at toolhost that asks a person is work: it can end without
// an answer.
func (r *run) resting() *rest {
	switch {
	case r.agent.journal.shared == nil || r.log.foreground:
		return nil
	case r.agent.work.drains():
		return r.leaving()
	case r.slot.held:
		return nil
	case r.slot.none() && len(r.tasks) == 0:
		return &rest{until: time.Now(), work: true} // another agent may have a slot
	}
	w := &rest{told: r.state.Batch().SubRunDecisions(), refs: refsOf(r.id, &r.state)}
	for _, command := range loop.Next(&r.state) {
		switch c := command.(type) {
		case loop.Wait:
			w.until = c.Until
		case loop.ReviewCall:
			if t := r.tasks["review "+c.Call.SentID()]; t == nil || !t.asksNobody {
				return nil
			}
		case loop.CallTool:
			if c.Cancel != nil || c.Call.System != loop.SystemNewTask || !r.state.WaitsForPerson(c.Call.ID) {
				return nil
			}
			w.subRuns = append(w.subRuns, loop.SubRunID(r.id, c.Call.ID))
		default:
			return nil
		}
	}
	if !w.until.IsZero() && time.Until(w.until) < soon {
		return nil
	}
	return w
}

// park notes that a run rests. If it is the top of a family that rests, park gives the family up.
// It reports whether the run was given up: its goroutine then ends.
func (w *atWork) park(r *run, now *rest) bool {
	family, leaving, left := w.forgetFamily(r, now)
	if family == nil {
		return left
	}
	for _, t := range r.tasks { // which watch the sub-runs
		t.stop()
	}
	for _, m := range family {
		close(m.parked)
		m.observed.end()
	}
	w.leaveAll(family, leaving)
	return true
}

// forgetFamily returns the family of a run that rests after it has forgotten it. It returns none if
// somebody else gives the family up, which is done already if left is set.
func (w *atWork) forgetFamily(r *run, now *rest) (family []*run, leaving []runstore.Leaving, left bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.runs[r.id] != r {
		return nil, nil, true
	}
	r.rest = now
	top := r
	for above := w.runs[r.parent]; above != nil; above = w.runs[above.parent] {
		top = above
	}
	if top != r {
		top.wake()
		return nil, nil, false
	}
	family = w.atRest(r, nil)
	for _, m := range family {
		k := runstore.Leaving{RunID: m.id, Epoch: m.epoch, Rests: !m.rest.work}
		if until := m.rest.until; !until.IsZero() {
			k.Wait = max(time.Until(until), time.Microsecond)
			if r.next.IsZero() || until.Before(r.next) {
				r.next = until
			}
		}
		leaving = append(leaving, k)
		w.forget(m)
	}
	return family, leaving, false
}

// atRest adds a run and the sub-runs for which it waits to a family, or returns nil if one of them
// does not rest, or has asked for other decisions than the run above has recorded. mu is held.
func (w *atWork) atRest(r *run, family []*run) []*run {
	if r == nil || r.rest == nil || len(r.inbox) > 0 || r.posted {
		return nil
	}
	family = append(family, r)
	var refs []string
	for _, id := range r.rest.subRuns {
		if w.draining && w.runs[id] == nil {
			continue
		}
		if family = w.atRest(w.runs[id], family); family == nil {
			return nil
		}
		refs = append(refs, w.runs[id].rest.refs...)
	}
	if !w.draining && !slices.Equal(refs, r.rest.told) {
		return nil
	}
	return family
}

// stir notes that something happens in a run that rested. It returns false if the run was given up:
// what happens is then the business of the next owner.
func (w *atWork) stir(r *run) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	r.rest = nil
	return w.runs[r.id] == r
}
