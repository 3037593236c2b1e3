package host

import (
	"container/heap"
	"sync"
	"time"
)

// deadlines ends calls when their time is up, with one timer for all of them: nearly every call is over long before, and then
// no timer was set or stopped for it. The zero value is ready for use. It is safe for concurrent use.
type deadlines struct {
	mu     sync.Mutex
	runs   dueRuns
	timer  *time.Timer // nil until it is needed
	wakes  time.Time   // when it fires, which may be long before a call is due; zero: it does not
	closed error       // not nil: why every call ends at once
}

// due is the place of a run among the deadlines, whose lock guards it.
type due struct {
	at    time.Time
	place int // in the heap, from 1; 0: it is not there
}

// set ends a run at a moment, which takes the place of one that was set before.
func (d *deadlines) set(r *run, at time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed != nil {
		r.cancel(d.closed)
		return
	}
	r.due.at = at
	if r.due.place > 0 {
		heap.Fix(&d.runs, r.due.place-1)
	} else {
		heap.Push(&d.runs, r)
	}
	d.armLocked()
}

// postpone is set, but does nothing and returns false if the run's time is up already, or nothing was set for it.
func (d *deadlines) postpone(r *run, at time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if r.due.place == 0 {
		return false
	}
	r.due.at = at
	heap.Fix(&d.runs, r.due.place-1)
	d.armLocked()
	return true
}

// remove forgets a run that is over.
func (d *deadlines) remove(r *run) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if r.due.place > 0 {
		heap.Remove(&d.runs, r.due.place-1)
	}
}

// close ends all runs, and every one that is set later, for a cause.
func (d *deadlines) close(cause error) {
	d.mu.Lock()
	runs := d.runs
	for _, r := range runs {
		r.due.place = 0
	}
	d.runs, d.closed = nil, cause
	if d.timer != nil {
		d.timer.Stop()
	}
	d.mu.Unlock()
	for _, r := range runs {
		r.cancel(cause)
	}
}

// fire ends the runs whose time is up. It is the timer's.
func (d *deadlines) fire() {
	var over []*run
	d.mu.Lock()
	d.wakes = time.Time{}
	for now := time.Now(); len(d.runs) > 0 && !d.runs[0].due.at.After(now); {
		over = append(over, heap.Pop(&d.runs).(*run))
	}
	d.armLocked()
	d.mu.Unlock()
	for _, r := range over {
		r.cancel(errDeadline)
	}
}

// armLocked sets the timer if it would fire too late.
func (d *deadlines) armLocked() {
	if len(d.runs) == 0 || d.closed != nil {
		return
	}
	first := d.runs[0].due.at
	if !d.wakes.IsZero() && !first.Before(d.wakes) {
		return
	}
	d.wakes = first
	if d.timer == nil {
		d.timer = time.AfterFunc(time.Until(first), d.fire)
	} else {
		d.timer.Reset(time.Until(first))
	}
}

// dueRuns is a heap of runs, of which the first is due first.
type dueRuns []*run

func (q dueRuns) Len() int           { return len(q) }
func (q dueRuns) Less(i, j int) bool { return q[i].due.at.Before(q[j].due.at) }

func (q dueRuns) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].due.place, q[j].due.place = i+1, j+1
}

// Push implements heap.Interface.
func (q *dueRuns) Push(r any) {
	*q = append(*q, r.(*run))
	r.(*run).due.place = len(*q)
}

// Pop implements heap.Interface.
func (q *dueRuns) Pop() any {
	last := len(*q) - 1
	r := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	r.due.place = 0
	return r
}
