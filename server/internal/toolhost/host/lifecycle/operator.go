package lifecycle

import (
	"time"

	"github.com/toolhost/toolhost/tool"
)

// ByOperator begins the reason of each event that an operator's command causes. The driver knows
// which operator it is, and why, and adds that to the events. The machine does not know it, because
// it also gives its reasons to callers, whom that does not concern.
const ByOperator = "an operator "

// Pause makes the plugin take no new calls. Calls that wait are rejected, and calls in progress
// finish.
func (m *Machine) Pause(now time.Time) []Action {
	if !m.state.paused {
		m.state.paused = true
		m.state.event(now, EventPaused, nil, ByOperator+"paused it")
		m.state.rejectAll(m.state.refusal(now))
	}
	return m.state.outbox.take()
}

// Resume ends a pause.
func (m *Machine) Resume(now time.Time) []Action {
	if m.state.paused {
		m.state.paused = false
		m.state.event(now, EventEnabled, nil, ByOperator+"resumed it")
		m.state.settle(now)
	}
	return m.state.outbox.take()
}

// Clear ends a quarantine and a backoff.
func (m *Machine) Clear(now time.Time) []Action {
	m.state.enable(now, ByOperator+"cleared it")
	m.state.settle(now)
	return m.state.outbox.take()
}

// Drain stops all instances after their calls. New calls start new instances, unless the plugin is
// paused. An instance that is starting in order to replace the others continues.
func (m *Machine) Drain(now time.Time, reason string) []Action {
	m.state.demand.inUse = false // the pool stays cold until the next call
	for _, in := range m.state.pool.order {
		if !in.replaces {
			m.state.drain(now, in, tool.InstanceDraining, reason)
		}
	}
	m.state.settle(now)
	return m.state.outbox.take()
}

// Disable takes the plugin out of service for a reason, or back into service if the reason is
// empty. A replacement that runs fails. Disable does nothing after Close.
func (m *Machine) Disable(now time.Time, reason string) []Action {
	if m.state.closed || reason == m.state.disabled {
		return m.state.outbox.take()
	}
	m.state.disabled = reason
	if reason == "" {
		m.state.event(now, EventEnabled, nil, "it can be used again")
		m.state.settle(now)
		return m.state.outbox.take()
	}
	m.state.demand.inUse = false
	m.state.event(now, EventDisabled, nil, reason)
	m.state.rejectAll(m.state.refusal(now))
	for _, in := range m.state.pool.order {
		m.state.drain(now, in, tool.InstanceDraining, reason)
	}
	return m.state.outbox.take()
}

// Close reports that toolhost stops. No instance is launched any more, and all instances stop with
// their calls.
func (m *Machine) Close(now time.Time) []Action {
	m.state.closed, m.state.disabled = true, "toolhost is stopping"
	m.state.rejectAll(m.state.refusal(now))
	for _, in := range m.state.pool.order {
		m.state.stop(now, in, m.state.disabled, false)
	}
	return m.state.outbox.take()
}
