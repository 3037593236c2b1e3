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

// Limits are the most calls of a tool that may start in any 60 seconds. 0 is no limit.
type Limits struct {
	Session int // of one session; sessionsWorth times as many of one principal
	Agent   int // of one agent for one principal, in all sessions
}

// Rates limits how many calls of a tool start in any 60 seconds: at most the tool's limit for each
// session, and at most ten times as many for each principal, because a caller chooses its sessions.
// An agent can have its own limit. Rates is exact: it stores the starts of the last 60 seconds,
// which are at most as many as the highest limit in that time. Use NewRates to make one. It is safe
// for concurrent use.
type Rates struct {
	mu      sync.Mutex
	windows map[rateKey]*window
	swept   time.Time // when windows without starts were last removed
}

// NewRates returns a Rates that has counted no start.
func NewRates() *Rates { return &Rates{windows: map[rateKey]*window{}} }

type rateKey struct {
	tool, principal, session string
	agent                    string
	all                      bool // all sessions of the principal; session is empty
}

// window stores the starts of the last rateWindow, the oldest first. It does not depend on the
// limit. So a limit that an upgrade or a reload changes, in either direction, counts all these
// starts.
type window struct{ starts []time.Time }

// scope is one limit of a call, with the calls that it counts.
type scope struct {
	key   rateKey
	limit int
	words string // whose calls it counts
}

// scopes returns the limits that apply to a call.
func (l Limits) scopes(call *tool.Call) []scope {
	var all []scope
	if l.Session > 0 {
		all = append(all,
			scope{rateKey{tool: call.Tool, principal: call.Principal, session: call.Session}, l.Session, "of a session"},
			scope{rateKey{tool: call.Tool, principal: call.Principal, all: true}, l.Session * sessionsWorth, "of one caller, in all of its sessions,"})
	}
	if l.Agent > 0 {
		all = append(all, scope{rateKey{tool: call.Tool, principal: call.Principal, agent: call.Agent, all: true}, l.Agent, "of the agent " + call.Agent})
	}
	return all
}

// Check returns nil if a call may start now, and otherwise a rate_limited error that says when it
// may. If take is set, Check counts the start of a call that may start.
func (r *Rates) Check(call *tool.Call, limits Limits, take bool) *tool.Error {
	scopes := limits.scopes(call)
	if len(scopes) == 0 {
		return nil
	}
	by, wait := r.wait(scopes, take)
	if wait <= 0 {
		return nil
	}
	err := tool.Errorf(tool.KindRateLimited, "the tool %q is called too often: at most %d calls %s may start in 60 seconds; try again in %v",
		call.Tool, by.limit, by.words, wait.Round(time.Millisecond))
	err.RetryAfter = wait
	return err
}

// wait returns the time until one more call may start under all limits, and the first limit that
// makes it wait. If the call may start now and take is set, wait counts the start for all limits.
func (r *Rates) wait(scopes []scope, take bool) (by scope, wait time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	r.sweepLocked(now)
	for _, s := range scopes {
		if wait := r.windowLocked(s.key, now).wait(now, s.limit); wait > 0 {
			return s, wait
		}
	}
	if take {
		for _, s := range scopes {
			w := r.windowLocked(s.key, now)
			w.starts = append(w.starts, now)
			r.windows[s.key] = w
		}
	}
	return scope{}, 0
}

// windowLocked returns a window without the starts that are too old to count.
func (r *Rates) windowLocked(key rateKey, now time.Time) *window {
	w := r.windows[key]
	if w == nil {
		return &window{}
	}
	w.trim(now)
	return w
}

// sweepLocked removes the windows whose starts are all too old to count. It does so once in a
// rateWindow.
func (r *Rates) sweepLocked(now time.Time) {
	if now.Sub(r.swept) < rateWindow {
		return
	}
	r.swept = now
	for key := range r.windows {
		if len(r.windowLocked(key, now).starts) == 0 {
			delete(r.windows, key)
		}
	}
}

// trim removes the starts that are too old to count.
func (w *window) trim(now time.Time) {
	old := 0
	for old < len(w.starts) && now.Sub(w.starts[old]) >= rateWindow {
		old++
	}
	w.starts = w.starts[old:]
}

// wait returns how long it takes until one more call may start; 0 or less: it may start now.
func (w *window) wait(now time.Time, limit int) time.Duration {
	if len(w.starts) < limit {
		return 0
	}
	return rateWindow - now.Sub(w.starts[len(w.starts)-limit])
}
