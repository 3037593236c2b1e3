// Package deadline gives each call a context that ends at the call's deadline.
//
// Timer is the time of one call. Queue ends the contexts of all calls with one timer of the
// runtime. The package does not decide how long a call may take.
package deadline

import (
	"container/heap"
	"errors"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/rpc/flow"
)

// ErrPassed is the cause of a context that ended at its deadline.
var ErrPassed = errors.New("its deadline passed")

// clockSlack is how much earlier than the host a plugin may report that a deadline has passed. The
// plugin starts to count at another moment, and some count in whole milliseconds or more.
const clockSlack = 100 * time.Millisecond

// Timer is the time that one call has. Use Init before any other method but Cancel. All methods are
// safe for concurrent use. A Timer must not be copied.
//
// A call gets its deadline in steps. While its arguments arrive, Set gives it a long deadline.
// When they are complete, Set or SetExtendable gives it the final one. Progress of the tool can
// extend that one up to a fixed moment. A deadline can also pause, because the tool waits for a
// person. It must not pause without end, so a pause is an extension by all of the spare time, and its
// end takes back what it did not use: the queue needs to know nothing of pauses.
type Timer struct {
	// Ctx ends at the deadline, at Cancel and when the queue closes. Its cause says which.
	Ctx   flow.CallContext
	queue *Queue
	entry entry // guarded by the mutex of the queue

	mu    sync.Mutex
	limit time.Duration // from the last Set to the deadline, extensions included
	end   time.Time     // the deadline; zero: none
	last  time.Time     // the latest moment to which Extend can move the deadline; zero: it cannot

	reasons int           // calls of Pause without their Resume
	paused  time.Time     // when the present pause began; zero: the deadline does not pause
	spare   time.Duration // how long the deadline can still pause
}

// Init connects the timer with its queue. The timer has no deadline yet.
func (t *Timer) Init(q *Queue) { t.queue = q }

// Set sets the deadline to d from now. It does nothing after Stop.
func (t *Timer) Set(d time.Duration) {
	t.mu.Lock()
	closed := t.setLocked(d)
	t.mu.Unlock()
	if closed != nil {
		t.Cancel(closed)
	}
}

// SetExtendable is Set for a deadline that Extend can move, up to most from now.
func (t *Timer) SetExtendable(d, most time.Duration) {
	t.mu.Lock()
	closed := t.setLocked(d)
	t.last = time.Now().Add(most)
	t.mu.Unlock()
	if closed != nil {
		t.Cancel(closed)
	}
}

// setLocked sets the deadline. If the queue is closed, it returns the cause for which the context
// must end.
func (t *Timer) setLocked(d time.Duration) (closed error) {
	t.limit, t.end = d, time.Now().Add(d)
	return t.queue.set(t, t.end)
}

// Extend moves an extendable deadline to d from now, but not past the moment that SetExtendable
// allows. It never moves the deadline to an earlier moment, and does nothing once the deadline has
// passed or the timer was stopped.
func (t *Timer) Extend(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last.IsZero() {
		return
	}
	next := time.Now().Add(d)
	if next.After(t.last) {
		next = t.last
	}
	if next.After(t.end) && t.queue.move(t, next) {
		t.limit += next.Sub(t.end)
		t.end = next
	}
}

// AllowPause lets the deadline pause, for most in all. Call it before Pause.
func (t *Timer) AllowPause(most time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.spare = most
}

// Pause stops the time of the call until Resume, or until all the time that AllowPause gave is used.
// If there are several reasons to pause, each has its Pause and Resume.
func (t *Timer) Pause() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reasons++
	if t.reasons == 1 && t.spare > 0 {
		t.paused = time.Now()
		t.moveLocked(t.spare)
	}
}

// Resume ends one reason to pause. With the last one, the time continues.
func (t *Timer) Resume() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reasons--
	if t.reasons > 0 || t.paused.IsZero() {
		return
	}
	t.spare = max(t.spare-time.Since(t.paused), 0)
	t.paused = time.Time{}
	t.moveLocked(-t.spare)
}

// moveLocked moves the deadline, and the latest one, unless the deadline has passed.
func (t *Timer) moveLocked(by time.Duration) {
	if !t.queue.move(t, t.end.Add(by)) {
		return
	}
	t.end = t.end.Add(by)
	if !t.last.IsZero() {
		t.last = t.last.Add(by)
	}
}

// Spare returns how long the deadline can still pause.
func (t *Timer) Spare() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.paused.IsZero() {
		return t.spare
	}
	return max(t.spare-time.Since(t.paused), 0)
}

// Granted returns how long the plugin may take from now, up to the latest moment to which its
// progress and pauses can move the deadline.
func (t *Timer) Granted() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	left := time.Until(t.end)
	if t.last.After(t.end) {
		left = time.Until(t.last)
	}
	if t.paused.IsZero() {
		left += t.spare
	}
	return left
}

// Near reports whether the deadline has passed or is about to pass by the clock of a plugin.
func (t *Timer) Near() bool {
	end := t.End()
	return !end.IsZero() && time.Until(end) <= clockSlack
}

// Limit returns the time from the setting of the deadline to the deadline, for people: without the
// fractions of a millisecond that a longer time got by a transport or an extension.
func (t *Timer) Limit() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.limit < shortLimit {
		return t.limit
	}
	return t.limit.Round(time.Millisecond)
}

// shortLimit is a limit whose fractions of a millisecond matter.
const shortLimit = 100 * time.Millisecond

// End returns the deadline; zero if there is none.
func (t *Timer) End() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.end
}

// Sleep waits for d. It returns false if the context ends first, and returns false at once if the
// deadline is earlier than d from now.
func (t *Timer) Sleep(d time.Duration) bool {
	if time.Now().Add(d).After(t.End()) {
		return false
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-t.Ctx.Done():
		return false
	}
}

// Cancel ends the context with a cause. If the context has ended already, Cancel does nothing. It
// does not block.
func (t *Timer) Cancel(cause error) { t.Ctx.End(cause) }

// Stop ends the context and frees the timer's place in its queue. Later calls of Set and Extend do
// nothing.
func (t *Timer) Stop() {
	if t.queue != nil {
		t.queue.remove(t)
	}
	t.Cancel(nil)
}

// Queue ends the contexts of calls at their deadlines. The zero value is ready for use. All methods
// are safe for concurrent use.
//
// A runtime timer for each call would be set and stopped in vain, since nearly every call ends long
// before its deadline. So the queue holds a heap of deadlines and one runtime timer. The runtime
// timer fires at or before the earliest deadline: a call that ends leaves it unchanged, and a new
// call resets it only if the call is due earlier than the runtime timer fires.
type Queue struct {
	mu     sync.Mutex
	due    dueTimers
	timer  *time.Timer // nil until a deadline is set
	wakes  time.Time   // when timer fires; zero: it does not
	closed error       // not nil: the cause for which every context ends at once
}

// entry is the place of a Timer in its queue.
type entry struct {
	at      time.Time
	place   int  // the index in the heap plus 1; 0: not in the heap
	stopped bool // the timer gets no place any more
}

// set gives a timer a deadline, which replaces an earlier one. It returns the cause of Close if the
// queue is closed.
func (q *Queue) set(t *Timer, at time.Time) (closed error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case t.entry.stopped:
		return nil
	case q.closed != nil:
		return q.closed
	}
	t.entry.at = at
	if t.entry.place > 0 {
		heap.Fix(&q.due, t.entry.place-1)
	} else {
		heap.Push(&q.due, t)
	}
	q.armLocked()
	return nil
}

// move gives a timer that has a deadline another one. It returns false and does nothing if the timer
// has no deadline, or its deadline has passed.
func (q *Queue) move(t *Timer, at time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if t.entry.place == 0 {
		return false
	}
	t.entry.at = at
	heap.Fix(&q.due, t.entry.place-1)
	q.armLocked()
	return true
}

// remove takes a timer out of the queue for good.
func (q *Queue) remove(t *Timer) {
	q.mu.Lock()
	defer q.mu.Unlock()
	t.entry.stopped = true
	if t.entry.place > 0 {
		heap.Remove(&q.due, t.entry.place-1)
	}
}

// Close ends the contexts of all timers in the queue, and of each that gets a deadline later, with
// a cause.
func (q *Queue) Close(cause error) {
	q.mu.Lock()
	due := q.due
	for _, t := range due {
		t.entry.place = 0
	}
	q.due, q.closed = nil, cause
	if q.timer != nil {
		q.timer.Stop()
	}
	q.mu.Unlock()
	for _, t := range due {
		t.Cancel(cause)
	}
}

// fire ends the contexts whose deadlines have passed. The runtime timer calls it.
func (q *Queue) fire() {
	var over []*Timer
	q.mu.Lock()
	q.wakes = time.Time{}
	for now := time.Now(); len(q.due) > 0 && !q.due[0].entry.at.After(now); {
		over = append(over, heap.Pop(&q.due).(*Timer))
	}
	q.armLocked()
	q.mu.Unlock()
	for _, t := range over {
		t.Cancel(ErrPassed)
	}
}

// armLocked sets the runtime timer if it would fire after the earliest deadline.
func (q *Queue) armLocked() {
	if len(q.due) == 0 || q.closed != nil {
		return
	}
	first := q.due[0].entry.at
	if !q.wakes.IsZero() && !first.Before(q.wakes) {
		return
	}
	q.wakes = first
	if q.timer == nil {
		q.timer = time.AfterFunc(time.Until(first), q.fire)
	} else {
		q.timer.Reset(time.Until(first))
	}
}

// dueTimers is a heap with the earliest deadline first. It implements heap.Interface.
type dueTimers []*Timer

func (h dueTimers) Len() int           { return len(h) }
func (h dueTimers) Less(i, j int) bool { return h[i].entry.at.Before(h[j].entry.at) }

func (h dueTimers) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].entry.place, h[j].entry.place = i+1, j+1
}

// Push implements heap.Interface.
func (h *dueTimers) Push(t any) {
	*h = append(*h, t.(*Timer))
	t.(*Timer).entry.place = len(*h)
}

// Pop implements heap.Interface.
func (h *dueTimers) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	t.entry.place = 0
	return t
}
