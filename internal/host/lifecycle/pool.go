package lifecycle

import (
	"time"

	"github.com/toolhost/toolhost/tool"
)

// pick returns the instance with the fewest calls that may take one more, the oldest of several; nil if there is none.
func (m *Machine) pick(session string) *Instance {
	var best *Instance
	for _, in := range m.order {
		switch {
		case in.State != tool.InstanceReady:
		case m.cfg.Isolation == PerSession && in.session != session:
		case m.cfg.MaxCallsPerInstance > 0 && in.Calls >= m.cfg.MaxCallsPerInstance:
		case m.exhausted(in):
		case best == nil || in.Calls < best.Calls:
			best = in
		}
	}
	return best
}

// exhausted reports whether the instance has made its number of calls.
func (m *Machine) exhausted(in *Instance) bool {
	return m.cfg.RecycleAfterCalls > 0 && in.Total >= m.cfg.RecycleAfterCalls
}

// fill starts the instances that the pool is missing. crowded says that a call came to an instance that has others.
func (m *Machine) fill(now time.Time, crowded bool) {
	if m.cfg.Isolation == PerSession || now.Before(m.backoff) {
		return
	}
	ready, starting := m.standing()
	target := 0
	if m.cfg.Isolation == PerCall {
		target = m.callTarget(now)
	} else {
		target = m.sharedTarget(ready, crowded)
	}
	for range min(target, m.cfg.MaxInstances) - ready - starting {
		m.launch(now, m.revision, "")
	}
}

// dryFor is how long a pool that a call found empty is filled at once: who calls at that pace, or beside others, goes on so.
const dryFor = time.Minute

// answering is how long the answer of a call that has ended may be on its way to the caller.
const answering = 5 * time.Millisecond

// postpone lets a call that is alone have the machine for itself: the launch that fills the pool again would run beside it,
// and take more of the processors than most calls do. It waits for the call's end and the answer's way, but not for longer than RefillAfter, nor
// for anything in a pool that has been too small.
func (m *Machine) postpone(now time.Time) {
	if m.cfg.Isolation == PerCall && m.cfg.RefillAfter > 0 && (m.dry.IsZero() || now.Sub(m.dry) >= dryFor) {
		m.refill = now.Add(m.cfg.RefillAfter)
	}
}

// callTarget returns how many instances there should be if each makes one call.
func (m *Machine) callTarget(now time.Time) int {
	busy := 0
	for _, in := range m.order {
		if in.State == tool.InstanceReady && in.Total > 0 {
			busy++
		}
	}
	target := len(m.queue) + busy
	if m.inUse {
		target += m.cfg.Prewarmed
	}
	if busy > 1 || len(m.queue) > 0 || !now.Before(m.refill) {
		m.refill = time.Time{}
	} else if m.cfg.Prewarmed > 0 {
		target--
	}
	return target
}

// sharedTarget returns how many instances there should be if calls share them.
func (m *Machine) sharedTarget(ready int, crowded bool) int {
	target := ready
	if waiting := len(m.queue); waiting > 0 {
		perInstance := m.cfg.MaxCallsPerInstance
		if perInstance == 0 {
			perInstance = waiting // one takes them all
		}
		target += (waiting + perInstance - 1) / perInstance
	}
	if m.inUse {
		target = max(target, m.cfg.MinInstances-m.suspects()) // they may come back
	}
	if crowded && m.cfg.MaxCallsPerInstance == 0 {
		// Without a bound no call ever waits that could make the pool grow. Only a call that comes may: else an
		// instance that was idle for long would be stopped and started again and again while others are busy.
		target = max(target, m.busy())
	}
	return target
}

// busy counts the calls that the pool has.
func (m *Machine) busy() int {
	busy := 0
	for _, in := range m.order {
		if in.State == tool.InstanceReady {
			busy += in.Calls
		}
	}
	return busy
}

// provide starts an instance for a session that has none. If there are too many, the one that has been idle longest
// makes room.
func (m *Machine) provide(now time.Time, session string) {
	if now.Before(m.backoff) {
		return
	}
	var idle *Instance
	standing := 0
	for _, in := range m.order {
		if in.replaces || !in.standing() {
			continue
		}
		if in.session == session {
			return // it comes, or it is busy
		}
		standing++
		if in.State == tool.InstanceReady && in.Calls == 0 && (idle == nil || in.idleFrom.Before(idle.idleFrom)) {
			idle = in
		}
	}
	if standing >= m.cfg.MaxInstances {
		if idle == nil {
			return // the next that becomes idle makes room
		}
		m.drain(now, idle, tool.InstanceDraining, "another session needs its place")
	}
	m.launch(now, m.revision, session)
}
