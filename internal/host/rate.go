package host

import (
	"sync"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// rateWindow is the time in which a tool's rate limit counts starts.
const rateWindow = time.Minute

// rates holds when calls of tools with a rate limit were started, so that never more than the limit start in any 60
// seconds, per tool and session, and never more than ten times as many per tool and principal: a caller chooses its sessions. It
// is exact: it remembers as many starts as the limit allows.
type rates struct {
	mu      sync.Mutex
	windows map[rateKey]*window
	swept   time.Time // when windows without starts were last removed
}

// sessionsWorth is how many sessions at their limit a principal may have: enough for an agent with several runs, and a bound for
// a caller that takes a new session for each call.
const sessionsWorth = 10

type rateKey struct {
	tool, principal, session string
	all                      bool // of the principal; session is empty
}

// window holds the latest starts, as a ring.
type window struct {
	starts []time.Time // at most as many as the limit
	oldest int
}

func newRates() *rates { return &rates{windows: map[rateKey]*window{}} }

// check returns nil if the run may start now, and counts that if take is set; else a rate_limited error that says when.
func (l *rates) check(r *run, take bool) *tool.Error {
	limit := int(r.tool.Spec.RateLimitPerMinute)
	if limit == 0 {
		return nil
	}
	own := rateKey{tool: r.call.Tool, principal: r.call.Principal, session: r.call.Session}
	principal := rateKey{tool: r.call.Tool, principal: r.call.Principal, all: true}
	wait, most, who := l.wait(own, limit, principal, limit*sessionsWorth, take)
	if wait <= 0 {
		return nil
	}
	err := tool.Errorf(tool.KindRateLimited, "the tool %q is called too often: at most %d calls %s may start in 60 seconds; try again in %v",
		r.call.Tool, most, who, wait.Round(time.Millisecond))
	err.RetryAfter = wait
	return err
}

// wait returns how long it takes until one more call may start, by the limit of its session and that of its principal, and which
// of the two lets it wait. If that is now and take is set, the start is counted for both.
func (l *rates) wait(own rateKey, limit int, principal rateKey, most int, take bool) (wait time.Duration, by int, who string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.sweep(now)
	session, all := l.window(own, limit), l.window(principal, most)
	if wait := session.wait(now, limit); wait > 0 {
		return wait, limit, "of a session"
	}
	if wait := all.wait(now, most); wait > 0 {
		return wait, most, "of one caller, in all of its sessions,"
	}
	if take {
		l.windows[own], l.windows[principal] = session, all
		session.add(now, limit)
		all.add(now, most)
	}
	return 0, 0, ""
}

func (l *rates) window(key rateKey, limit int) *window {
	w := l.windows[key]
	if w == nil {
		w = &window{}
	}
	w.resize(limit)
	return w
}

// wait returns how long it takes until one more call may start.
func (w *window) wait(now time.Time, limit int) time.Duration {
	if len(w.starts) < limit {
		return 0
	}
	return rateWindow - now.Sub(w.starts[w.oldest])
}

// resize keeps what a smaller limit, after an upgrade, can hold, and gets a ring that is full in order to grow. The
// oldest starts come first then.
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

// sweep removes, once in a window, what has had no start since the last one. l.mu is held.
func (l *rates) sweep(now time.Time) {
	if now.Sub(l.swept) < rateWindow {
		return
	}
	l.swept = now
	for key, w := range l.windows {
		if now.Sub(w.newest()) >= rateWindow {
			delete(l.windows, key)
		}
	}
}

func (w *window) newest() time.Time {
	if w.oldest > 0 {
		return w.starts[w.oldest-1]
	}
	return w.starts[len(w.starts)-1]
}
