package lifecycle

import (
	"slices"
	"time"
)

const (
	// emptyMemory is how long a pool is refilled at once after a call found it empty. Calls that
	// arrive so fast, or at the same time, will probably continue to do so.
	emptyMemory = time.Minute
	// answerDelay is the time that the answer of an ended call may need to reach its caller.
	answerDelay = 5 * time.Millisecond
)

// demand is what calls need of the pool: the calls that wait, and how warm the pool has to be.
type demand struct {
	cfg      *Config
	queue    []waiter
	inUse    bool      // a call came since the plugin was last drained: keep the pool warm
	lastCall time.Time // when a call last came that was not refused
	refill   time.Time // PerCall: see postpone; zero: no refill is postponed
	emptyAt  time.Time // PerCall: when a call last found the pool of a plugin in use empty
}

// waiter is a call that waits for an instance.
type waiter struct {
	call    CallRef
	session string
}

// leave removes a call from the queue.
func (d *demand) leave(call CallRef) {
	d.queue = slices.DeleteFunc(d.queue, func(w waiter) bool { return w.call == call })
}

// postpone delays the refill of a pool after a call took an instance. A launch needs more processor
// time than most calls, so a single call is faster without a launch at the same time. The refill
// waits for the end of the call and the delivery of its answer, but at most for RefillAfter. If the
// pool was recently too small, the refill does not wait.
func (d *demand) postpone(now time.Time) {
	if d.cfg.Isolation == PerCall && d.cfg.RefillAfter > 0 && (d.emptyAt.IsZero() || now.Sub(d.emptyAt) >= emptyMemory) {
		d.refill = now.Add(d.cfg.RefillAfter)
	}
}

// perCallTarget returns how many instances there should be if each makes one call.
func (d *demand) perCallTarget(now time.Time, p *pool) int {
	busy := p.usedInstances()
	target := len(d.queue) + busy
	if d.inUse {
		target += d.cfg.Prewarmed
	}
	if busy > 1 || len(d.queue) > 0 || !now.Before(d.refill) {
		d.refill = time.Time{}
	} else if d.cfg.Prewarmed > 0 {
		target--
	}
	return target
}

// sharedTarget returns how many instances there should be if calls share them. crowded says that a
// call was assigned to an instance that already had one.
func (d *demand) sharedTarget(p *pool, ready int, crowded bool) int {
	target := ready
	if waiting := len(d.queue); waiting > 0 {
		perInstance := d.cfg.MaxCallsPerInstance
		if perInstance == 0 {
			perInstance = waiting // one instance takes them all
		}
		target += (waiting + perInstance - 1) / perInstance
	}
	if d.inUse {
		target = max(target, d.cfg.MinInstances-p.stalledCount()) // stalled instances may recover
	}
	if crowded && d.cfg.MaxCallsPerInstance == 0 {
		// Without a bound no call ever waits, so that the queue cannot make the pool grow. Only a
		// new call may: otherwise an instance that was idle for long would stop and start again and
		// again while others are busy.
		target = max(target, p.busyCalls())
	}
	return target
}

// idleAt returns when an instance has been idle for IdleTimeout; zero: never. ready is the number
// of ready instances.
func (d *demand) idleAt(in *Instance, ready int) time.Time {
	switch {
	case d.cfg.IdleTimeout < 0, in.Calls > 0, d.inUse && ready <= d.cfg.MinInstances:
		return time.Time{}
	case d.cfg.Isolation == PerCall && in.idleFrom.Before(d.lastCall):
		return d.lastCall.Add(d.cfg.IdleTimeout) // this instance is for the next call
	default:
		return in.idleFrom.Add(d.cfg.IdleTimeout)
	}
}
