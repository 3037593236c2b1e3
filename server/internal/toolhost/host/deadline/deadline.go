// Package deadline gives each call a context that ends at the call's deadline.
//
// The package does not decide how long a call may take.
package deadline

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrPassed is the cause of a context that ended at its deadline.
var ErrPassed = errors.New("its deadline passed")

// clockSlack is how much earlier than the host a plugin may report that a deadline has passed. The
// plugin starts to count at another moment, and some count in whole milliseconds or more.
const clockSlack = 100 * time.Millisecond

// stoodStill is how late the end of a deadline comes at least if the process did not run meanwhile:
// it was stopped, or its machine. It is also how long what arrived in that time can be read.
const stoodStill = time.Second

// Timer is the time that one call has. Use Init before any other method but Cancel, and Stop when
// the call has ended. All methods are safe for concurrent use. A Timer must not be copied.
//
// A call gets its deadline in steps. While its arguments arrive, Set gives it a long deadline. When
// they are complete, Set or SetExtendable gives it the final one. Progress of the tool can extend
// that one up to a fixed moment. A deadline can also pause, because the tool waits for a person. It
// must not pause without end, so a pause is an extension by all of the spare time, and its end
// takes back what it did not use.
//
// The deadline of a context of the standard library cannot move. So the context of a Timer has
// none: a time.Timer cancels it.
//
// A process that was stopped past the deadline finds two things at once when it goes on: that the
// time is over, and what the plugin sent in time. So the context ends a moment later then, and the
// answer counts.
type Timer struct {
	ctx    context.Context
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	timer *time.Timer   // cancels ctx at the deadline; nil: there is no deadline
	late  bool          // the deadline passed while the process stood still
	limit time.Duration // from the last Set to the deadline, extensions included
	end   time.Time     // the deadline; zero: none
	last  time.Time     // the latest moment to which Extend can move the deadline; zero: it cannot

	reasons int           // calls of Pause without their Resume
	paused  time.Time     // when the present pause began; zero: the deadline does not pause
	spare   time.Duration // how long the deadline can still pause
}

// Init creates the context of the timer, which has no deadline yet.
func (t *Timer) Init(parent context.Context) { t.ctx, t.cancel = context.WithCancelCause(parent) }

// Context returns the context of the call. It ends at the deadline, at Cancel, and with its parent.
// Its cause says which.
func (t *Timer) Context() context.Context { return t.ctx }

// Set sets the deadline to d from now. The context does not get a deadline after its end.
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
	t.limit, t.end, t.late = d, time.Now().Add(d), false
	switch {
	case t.ctx.Err() != nil:
	case t.timer == nil:
		t.timer = time.AfterFunc(d, t.pass)
	default:
		t.timer.Reset(d)
	}
}

// pass ends the context at the deadline. It ends it a moment later if the process stood still, but
// only once.
func (t *Timer) pass() {
	t.mu.Lock()
	again := t.timer != nil && !t.late && time.Since(t.end) >= stoodStill
	if again {
		t.late = true
		t.timer.Reset(stoodStill)
	}
	t.mu.Unlock()
	if !again {
		t.Cancel(ErrPassed)
	}
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
	if next.After(t.end) && t.moveLocked(next) {
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

// Pause stops the time of the call until Resume, or until all the time that AllowPause gave is
// used. If there are several reasons to pause, each has its Pause and Resume.
func (t *Timer) Pause() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reasons++
	if t.reasons == 1 && t.spare > 0 {
		t.paused = time.Now()
		t.shiftLocked(t.spare)
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
	t.shiftLocked(-t.spare)
}

// shiftLocked moves the deadline, and the latest one, unless the deadline has passed.
func (t *Timer) shiftLocked(by time.Duration) {
	if !t.moveLocked(t.end.Add(by)) {
		return
	}
	t.end = t.end.Add(by)
	if !t.last.IsZero() {
		t.last = t.last.Add(by)
	}
}

// moveLocked sets the moment at which the context ends. It returns false if there is no deadline,
// or if it has passed.
func (t *Timer) moveLocked(end time.Time) bool {
	if t.timer == nil || !t.timer.Stop() {
		return false
	}
	t.timer.Reset(time.Until(end))
	return true
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
	case <-t.ctx.Done():
		return false
	}
}

// Cancel ends the context with a cause. If the context has ended already, or if there was no Init,
// Cancel does nothing. It does not block.
func (t *Timer) Cancel(cause error) {
	if t.cancel != nil {
		t.cancel(cause)
	}
}

// Stop ends the context, and frees what the deadline uses.
func (t *Timer) Stop() {
	t.Cancel(nil)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer != nil {
		t.timer.Stop()
		t.timer = nil
	}
}
