package lifecycle

import (
	"fmt"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// Ready says that a process that was to be launched takes calls.
func (m *Machine) Ready(now time.Time, instance string) []Action {
	in := m.instances[instance]
	if in == nil || in.State != tool.InstanceStarting {
		return m.take() // it is being stopped already
	}
	m.launches++
	in.State, in.ReadyAt, in.idleFrom = tool.InstanceReady, now, now
	m.event(now, EventReady, in, "")
	if r := m.replacing; r != nil && r.instance == instance {
		m.flip(now)
	}
	if in.Revision != m.revision {
		m.drain(now, in, tool.InstanceDraining, "its revision was replaced while it started")
	}
	m.settle(now)
	return m.take()
}

// LaunchFailed says that a process could not be brought to take calls, and is gone.
func (m *Machine) LaunchFailed(now time.Time, instance string, err *tool.Error) []Action {
	in := m.instances[instance]
	if in == nil {
		return m.take()
	}
	delete(m.instances, instance)
	m.event(now, EventLaunchFailed, in, err.Message)
	switch {
	case in.State == tool.InstanceStopping: // nobody wanted it any more
	case in.replaces:
		m.replacementFailed(now, err.Message)
	default:
		m.crashed(now, in, err.Message)
		m.rejectAll(err)
	}
	m.settle(now)
	return m.take()
}

// rejectAll ends the calls that wait: they learn why there is no instance for them.
func (m *Machine) rejectAll(err *tool.Error) {
	for _, w := range m.queue {
		m.do(Action{Reject: &Reject{Call: w.call, Err: err}})
	}
	m.queue = nil
}

// Exited says that a process that had been ready is gone. Its calls end by themselves: each is still to be released.
// exit describes the end in words.
func (m *Machine) Exited(now time.Time, instance, exit string) []Action {
	in := m.instances[instance]
	if in == nil {
		return m.take()
	}
	delete(m.instances, instance)
	expected := in.Reason != ""
	in.State = tool.InstanceExited
	if expected {
		m.event(now, EventExited, in, in.Reason)
	} else {
		m.event(now, EventCrashed, in, exit)
		m.crashed(now, in, exit)
	}
	m.settle(now)
	return m.take()
}

// crashed counts a crash and decides what follows: nothing after the first in a row, then longer and longer pauses,
// then quarantine.
func (m *Machine) crashed(now time.Time, in *Instance, reason string) {
	if in.probe {
		m.isolate(now, "a probe crashed: "+reason)
		return
	}
	if !in.ReadyAt.IsZero() && now.Sub(in.ReadyAt) >= m.cfg.StableAfter {
		m.row = 0
	}
	m.row++
	m.crashes = append(m.crashes, now)
	for len(m.crashes) > 0 && now.Sub(m.crashes[0]) > m.cfg.CrashWindow {
		m.crashes = m.crashes[1:]
	}
	if len(m.crashes) >= m.cfg.MaxCrashes {
		m.isolate(now, fmt.Sprintf("it crashed %d times in %v, the last time: %s", len(m.crashes), m.cfg.CrashWindow, reason))
		return
	}
	if m.row < 2 {
		return // the first restart is immediate
	}
	bound := m.cfg.MaxBackoff
	if shift := m.row - 2; shift < 16 {
		bound = min(bound, m.cfg.InitialBackoff<<shift)
	}
	m.backoff = now.Add(time.Duration(m.rand.Int64N(int64(bound)) + 1))
	m.do(Action{Event: &Event{Time: now, Type: EventBackingOff, Revision: m.revision, Reason: reason, Until: m.backoff}})
}

// isolate quarantines the plugin: it takes no calls until an operator clears it, or a probe lives.
func (m *Machine) isolate(now time.Time, reason string) {
	m.quarantine = reason
	m.probeAt = time.Time{}
	if m.cfg.ProbeAfter > 0 {
		m.probeAt = now.Add(m.cfg.ProbeAfter << min(m.probes, 6))
	}
	m.do(Action{Event: &Event{Time: now, Type: EventQuarantined, Revision: m.revision, Reason: reason, Until: m.probeAt}})
	for _, in := range m.Instances() {
		m.drain(now, in, tool.InstanceDraining, "its plugin is quarantined")
	}
	m.rejectAll(m.refusal(now))
}

// Tick says that time has passed. It is to be called at the time that Wake returns, or later.
func (m *Machine) Tick(now time.Time) []Action {
	m.probe(now)
	for _, in := range m.Instances() {
		m.age(now, in)
	}
	if !m.backoff.IsZero() && !now.Before(m.backoff) {
		m.backoff = time.Time{}
	}
	m.settle(now)
	return m.take()
}

// age does what is due for one instance.
func (m *Machine) age(now time.Time, in *Instance) {
	switch in.State {
	case tool.InstanceDraining, tool.InstanceUnhealthy:
		if !now.Before(in.drainBy) {
			m.stop(now, in, in.Reason, false)
		}
	case tool.InstanceReady:
		switch {
		case in.probe && now.Sub(in.ReadyAt) >= m.cfg.StableAfter:
			in.probe = false
			m.enable(now, "a probe lived")
		case m.cfg.RecycleAfterAge > 0 && now.Sub(in.Created) >= m.cfg.RecycleAfterAge:
			m.drain(now, in, tool.InstanceDraining, "it has reached its age")
		case m.idle(now, in):
			m.drain(now, in, tool.InstanceDraining, "it was idle")
		}
	}
}

// idle reports whether the instance is to be reaped.
func (m *Machine) idle(now time.Time, in *Instance) bool {
	if m.cfg.IdleTimeout < 0 || in.probe || in.replaces || in.Calls > 0 || now.Sub(in.idleFrom) < m.cfg.IdleTimeout {
		return false
	}
	if m.cfg.Isolation == PerCall {
		m.inUse = false // nobody called for so long: the pool need not be warm
		return true
	}
	ready, _ := m.standing()
	return ready > m.cfg.MinInstances
}

// probe tries a quarantined plugin once its time has come.
func (m *Machine) probe(now time.Time) {
	if m.quarantine == "" || m.paused || m.disabled != "" || m.probeAt.IsZero() || now.Before(m.probeAt) {
		return
	}
	m.probes++
	m.probeAt = time.Time{}
	m.event(now, EventProbing, nil, "")
	in := m.launch(now, m.revision, "")
	in.probe = true
}

// enable ends a quarantine or pause.
func (m *Machine) enable(now time.Time, reason string) {
	m.quarantine, m.probeAt, m.probes = "", time.Time{}, 0
	m.crashes, m.row, m.backoff = nil, 0, time.Time{}
	m.event(now, EventEnabled, nil, reason)
}

// Wake returns when Tick is to be called next; zero if there is nothing to wait for.
func (m *Machine) Wake() time.Time {
	var next time.Time
	earlier := func(t time.Time) {
		if !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	if m.quarantine != "" && !m.paused && m.disabled == "" {
		earlier(m.probeAt)
	}
	if len(m.queue) > 0 || m.inUse && m.cfg.MinInstances > 0 {
		earlier(m.backoff)
	}
	for _, in := range m.instances {
		switch in.State {
		case tool.InstanceDraining, tool.InstanceUnhealthy:
			earlier(in.drainBy)
		case tool.InstanceReady:
			if in.probe {
				earlier(in.ReadyAt.Add(m.cfg.StableAfter))
			}
			if m.cfg.RecycleAfterAge > 0 {
				earlier(in.Created.Add(m.cfg.RecycleAfterAge))
			}
			if ready, _ := m.standing(); m.cfg.IdleTimeout > 0 && in.Calls == 0 && !in.replaces && (m.cfg.Isolation != Shared || ready > m.cfg.MinInstances) {
				earlier(in.idleFrom.Add(m.cfg.IdleTimeout))
			}
		}
	}
	return next
}
