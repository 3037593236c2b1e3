package lifecycle

import (
	"time"

	"github.com/toolhost/toolhost/tool"
)

// Tick says that time has passed. It is to be called at the time that Wake returns, or later.
func (m *Machine) Tick(now time.Time) []Action {
	m.probe(now)
	if m.cfg.Isolation == PerCall && m.cfg.IdleTimeout > 0 && now.Sub(m.lastCall) >= m.cfg.IdleTimeout {
		m.inUse = false // nobody called for so long: the pool need not be warm
	}
	for _, in := range m.order {
		m.age(now, in)
	}
	if !now.Before(m.backoff) {
		m.backoff = time.Time{}
	}
	if !now.Before(m.refill) {
		m.refill = time.Time{}
	}
	m.settle(now)
	return m.take()
}

// age does what is due for one instance.
func (m *Machine) age(now time.Time, in *Instance) {
	due := m.due(in, m.serving())
	if due.IsZero() || now.Before(due) {
		return
	}
	switch {
	case in.State != tool.InstanceReady:
		m.stop(now, in, in.Reason, false)
	case in.probe:
		m.enable(now, "a probe lived")
		m.age(now, in)
	case !now.Before(m.oldAt(in)) && m.cfg.RecycleAfterAge > 0:
		m.recycle(now, in, "it has reached its age")
	default:
		m.drain(now, in, tool.InstanceDraining, "it was idle")
	}
}

// due returns when time changes something for an instance, if ready are ready; zero if it never does.
func (m *Machine) due(in *Instance, ready int) time.Time {
	switch {
	case in.ending():
		return in.drainBy
	case in.State != tool.InstanceReady:
		return time.Time{}
	case in.probe:
		return in.ReadyAt.Add(m.cfg.StableAfter)
	default:
		return earlier(m.oldAt(in), m.idleAt(in, ready))
	}
}

// oldAt returns when the instance has reached its age; zero if it never does.
func (m *Machine) oldAt(in *Instance) time.Time {
	if m.cfg.RecycleAfterAge <= 0 {
		return time.Time{}
	}
	return in.Created.Add(m.cfg.RecycleAfterAge)
}

// idleAt returns when an instance has been idle for so long that it is reaped, if ready are ready; zero if it is not.
func (m *Machine) idleAt(in *Instance, ready int) time.Time {
	switch {
	case m.cfg.IdleTimeout < 0, in.Calls > 0, m.inUse && ready <= m.cfg.MinInstances:
		return time.Time{}
	case m.cfg.Isolation == PerCall && in.idleFrom.Before(m.lastCall):
		return m.lastCall.Add(m.cfg.IdleTimeout) // the others of the pool were used, and it is kept for what comes next
	default:
		return in.idleFrom.Add(m.cfg.IdleTimeout)
	}
}

// Wake returns when Tick is to be called next; zero if there is nothing to wait for. It may have changed after every
// other method.
func (m *Machine) Wake() time.Time {
	next := m.probeDue()
	if !m.refused() {
		next = earlier(earlier(next, m.backoff), m.refill)
	}
	ready := m.serving()
	for _, in := range m.order {
		next = earlier(next, m.due(in, ready))
	}
	return next
}

// earlier returns the earlier of two times, where zero is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
