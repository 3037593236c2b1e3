package lifecycle

import (
	"time"

	"github.com/toolhost/toolhost/tool"
)

// ByOperator begins the reason of each event that an operator's command causes. The driver knows which
// operator it is, and why, and adds that to the events. The machine does not know it, because it also
// gives its reasons to callers, whom that does not concern.
const ByOperator = "an operator "

// Pause makes the plugin take no new calls. Calls that wait are rejected, and calls in progress
// finish.
func (m *Machine) Pause(now time.Time) []Action {
	if !m.paused {
		m.paused = true
		m.event(now, EventPaused, nil, ByOperator+"paused it")
		m.rejectAll(m.refusal(now))
	}
	return m.take()
}

// Resume ends a pause.
func (m *Machine) Resume(now time.Time) []Action {
	if m.paused {
		m.paused = false
		m.event(now, EventEnabled, nil, ByOperator+"resumed it")
		m.settle(now)
	}
	return m.take()
}

// Clear ends a quarantine and a backoff.
func (m *Machine) Clear(now time.Time) []Action {
	m.enable(now, ByOperator+"cleared it")
	m.settle(now)
	return m.take()
}

// Drain stops all instances after their calls. New calls start new instances, unless the plugin is
// paused. An instance that is starting in order to replace the others continues.
func (m *Machine) Drain(now time.Time, reason string) []Action {
	m.inUse = false // the pool stays cold until the next call
	for _, in := range m.order {
		if !in.replaces {
			m.drain(now, in, tool.InstanceDraining, reason)
		}
	}
	m.settle(now)
	return m.take()
}

// Disable takes the plugin out of service for a reason, or back into service if the reason is
// empty. A replacement that runs fails. Disable does nothing after Close.
func (m *Machine) Disable(now time.Time, reason string) []Action {
	if m.closed || reason == m.disabled {
		return m.take()
	}
	m.disabled = reason
	if reason == "" {
		m.event(now, EventEnabled, nil, "it can be used again")
		m.settle(now)
		return m.take()
	}
	m.inUse = false
	m.event(now, EventDisabled, nil, reason)
	m.rejectAll(m.refusal(now))
	for _, in := range m.order {
		m.drain(now, in, tool.InstanceDraining, reason)
	}
	return m.take()
}

// Close reports that toolhost stops. No instance is launched any more, and all instances stop with
// their calls.
func (m *Machine) Close(now time.Time) []Action {
	m.closed, m.disabled = true, "toolhost is stopping"
	m.rejectAll(m.refusal(now))
	for _, in := range m.order {
		m.stop(now, in, m.disabled, false)
	}
	return m.take()
}
