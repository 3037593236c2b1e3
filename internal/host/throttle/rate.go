package throttle

import (
	"sync"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// rateWindow is the time in which a rate limit counts starts.
const rateWindow = time.Minute

// sessionsWorth is how many sessions at their limit a principal may have. That is enough for an
// agent with several runs, and it bounds a caller that takes a new session for each call.
const sessionsWorth = 10

// Rates limits how many calls of a tool start in any 60 seconds: at most the tool's limit for each
// session, and at most ten times as many for each principal, because a caller chooses its sessions.
// Rates is exact: it stores as many starts as the limit allows. Use NewRates to make one. It is
// safe for concurrent use.
type Rates struct {
	mu      sync.Mutex
	windows map[rateKey]*window
	swept   time.Time // when windows without starts were last removed
}

// NewRates returns a Rates that has counted no start.
func NewRates() *Rates { return &Rates{windows: map[rateKey]*window{}} }

type rateKey struct {
	tool, principal, session string
	all                      bool // all sessions of the principal; session is empty
}

// window stores the latest starts as a ring.
type window struct {
	starts []time.Time // at most as many as the limit
	oldest int
}

// Check returns nil if a call may start now, and otherwise a rate_limited error that says when it
// may. If take is set, Check counts the start of a call that may start. A limit of 0 is no limit.
func (r *Rates) Check(call *tool.Call, limit int, take bool) *tool.Error {
	if limit == 0 {
		return nil
	}
	session := rateKey{tool: call.Tool, principal: call.Principal, session: call.Session}
	principal := rateKey{tool: call.Tool, principal: call.Principal, all: true}
	wait, most, scope := r.wait(session, limit, principal, limit*sessionsWorth, take)
	if wait <= 0 {
		return nil
	}
	err := tool.Errorf(tool.KindRateLimited, "the tool %q is called too often: at most %d calls %s may start in 60 seconds; try again in %v",
		call.Tool, most, scope, wait.Round(time.Millisecond))
	err.RetryAfter = wait
	return err
}

// wait returns how long it takes until one more call may start under the limits of its session and
// of its principal, and which limit applies. If the call may start now and take is set, wait counts
// the start for both.
func (r *Rates) wait(own rateKey, limit int, principal rateKey, most int, take bool) (wait time.Duration, by int, scope string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	r.sweepLocked(now)
	session, all := r.windowLocked(own, limit), r.windowLocked(principal, most)
	if wait := session.wait(now, limit); wait > 0 {
		return wait, limit, "of a session"
	}
	if wait := all.wait(now, most); wait > 0 {
		return wait, most, "of one caller, in all of its sessions,"
	}
	if take {
		r.windows[own], r.windows[principal] = session, all
		session.add(now, limit)
		all.add(now, most)
	}
	return 0, 0, ""
}

func (r *Rates) windowLocked(key rateKey, limit int) *window {
	w := r.windows[key]
	if w == nil {
		w = &window{}
	}
	w.resize(limit)
	return w
}

// sweepLocked removes the windows whose starts are all too old to count. It does so once in a
// rateWindow.
func (r *Rates) sweepLocked(now time.Time) {
	if now.Sub(r.swept) < rateWindow {
		return
	}
	r.swept = now
	for key, w := range r.windows {
		if now.Sub(w.newest()) >= rateWindow {
			delete(r.windows, key)
		}
	}
}

// wait returns how long it takes until one more call may start; 0 or less: it may start now.
func (w *window) wait(now time.Time, limit int) time.Duration {
	if len(w.starts) < limit {
		return 0
	}
	return rateWindow - now.Sub(w.starts[w.oldest])
}

// resize adapts the ring to a limit that an upgrade of the plugin has changed. The starts are in
// order afterwards, the oldest first, so that a full ring can grow and a smaller one keeps the
// latest.
func (w *window) resize(limit int) {
	if len(w.starts) == limit || len(w.starts) < limit && w.oldest == 0 {
		return
	}
	ordered := append(append([]time.Time(nil), w.starts[w.oldest:]...), w.starts[:w.oldest]...)
	w.starts, w.oldest = ordered[max(0, len(ordered)-limit):], 0
}

func (w *window) add(now time.Time, limit int) {
	if len(w.starts) < limit {
		w.starts = append(w.starts, now)
		return
	}
	w.starts[w.oldest] = now
	w.oldest = (w.oldest + 1) % limit
}

func (w *window) newest() time.Time {
	if w.oldest > 0 {
		return w.starts[w.oldest-1]
	}
	return w.starts[len(w.starts)-1]
}
