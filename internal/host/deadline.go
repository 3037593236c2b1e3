package host

import (
	"errors"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// errDeadline is the cause of a call that took too long.
var errDeadline = errors.New("its deadline passed")

// setDeadline ends the run after d from now. r.mu is held.
func (r *run) setDeadline(d time.Duration) {
	r.limit, r.deadline = d, time.Now().Add(d)
	r.host.deadlines.set(r, r.deadline)
}

// setTimeout gives a run whose arguments are complete the time that it has. r.mu is held.
func (r *run) setTimeout() {
	r.setDeadline(r.host.timeout(&r.call, &r.tool.Spec))
	if r.tool.Spec.ProgressExtendsTimeout {
		most := r.host.cfg.MaxTimeout
		if r.call.Timeout > 0 {
			most = min(most, r.call.Timeout)
		}
		r.last = time.Now().Add(most)
	}
}

// timeout returns how long a call may take: what its caller wants, bounded by the tool's timeout and the host's cap.
func (h *Host) timeout(call *tool.Call, spec *tool.Spec) time.Duration {
	d := call.Timeout
	if spec.Timeout > 0 && (d == 0 || d > spec.Timeout) {
		d = spec.Timeout
	}
	if d == 0 {
		d = h.cfg.DefaultTimeout
	}
	return min(d, h.cfg.MaxTimeout)
}

// extend gives a run whose tool says that progress extends its timeout that timeout anew, up to what its caller and the
// host allow.
func (r *run) extend() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last.IsZero() || r.finished {
		return
	}
	next := time.Now().Add(r.host.timeout(&r.call, &r.tool.Spec))
	if next.After(r.last) {
		next = r.last
	}
	if next.After(r.deadline) && r.host.deadlines.postpone(r, next) {
		r.limit += next.Sub(r.deadline)
		r.deadline = next
	}
}

// granted returns how long the plugin may take from now, as far as it should know: to the end of what progress may put the
// deadline off to. r.mu is held.
func (r *run) granted() time.Duration {
	if r.last.After(r.deadline) {
		return time.Until(r.last)
	}
	return time.Until(r.deadline)
}

// clockSlack is how much earlier than the host a plugin may say that a call's time is up: it counts from another moment, and
// some count in whole milliseconds or coarser.
const clockSlack = 100 * time.Millisecond

// timeIsUp reports whether the run is at its deadline, or about to be.
func (r *run) timeIsUp() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.deadline.IsZero() && time.Until(r.deadline) <= clockSlack
}

// allowed returns how long the run may take.
func (r *run) allowed() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.limit
}
