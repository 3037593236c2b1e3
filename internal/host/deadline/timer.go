// Package deadline gives each call a context that ends at the call's deadline.
//
// Timer is the time of one call. Queue ends the contexts of all calls with one timer of the
// runtime. The package does not decide how long a call may take.
package deadline

import (
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
// extend that one up to a fixed moment.
type Timer struct {
	// Ctx ends at the deadline, at Cancel and when the queue closes. Its cause says which.
	Ctx   flow.Lifetime
	queue *Queue
	entry entry // guarded by the mutex of the queue

	mu    sync.Mutex
	limit time.Duration // from the last Set to the deadline, extensions included
	end   time.Time     // the deadline; zero: none
	last  time.Time     // the latest moment to which Extend can move the deadline; zero: it cannot
}

// Init makes the timer one of the queue. The timer has no deadline yet.
func (t *Timer) Init(q *Queue) { t.queue = q }

// Set moves the deadline to d from now. It does nothing to a timer that was stopped.
func (t *Timer) Set(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.setLocked(d)
}

// SetExtendable is Set for a deadline that Extend can move, up to most from now.
func (t *Timer) SetExtendable(d, most time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.setLocked(d)
	t.last = time.Now().Add(most)
}

func (t *Timer) setLocked(d time.Duration) {
	t.limit, t.end = d, time.Now().Add(d)
	t.queue.set(t, t.end)
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
	if next.After(t.end) && t.queue.postpone(t, next) {
		t.limit += next.Sub(t.end)
		t.end = next
	}
}

// Granted returns how long the plugin may take from now, as far as it can know: up to the moment to
// which its progress can extend the deadline.
func (t *Timer) Granted() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last.After(t.end) {
		return time.Until(t.last)
	}
	return time.Until(t.end)
}

// Near reports whether the deadline has passed or is about to pass by the clock of a plugin.
func (t *Timer) Near() bool {
	end := t.End()
	return !end.IsZero() && time.Until(end) <= clockSlack
}

// Limit returns how long the call may take, from when its deadline was set.
func (t *Timer) Limit() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.limit
}

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

// Cancel ends the context with a cause. The first end of a context counts. Cancel does not block.
func (t *Timer) Cancel(cause error) { t.Ctx.End(cause) }

// Stop ends the context and frees the timer's place in its queue. Later calls of Set and Extend do
// nothing.
func (t *Timer) Stop() {
	if t.queue != nil {
		t.queue.remove(t)
	}
	t.Cancel(nil)
}
