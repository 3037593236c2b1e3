package lifecycle

import (
	"fmt"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// Pause says that an operator wants no new calls: those that wait are rejected, those under way end.
func (m *Machine) Pause(now time.Time) []Action {
	if !m.paused {
		m.paused = true
		m.event(now, EventPaused, nil, "an operator paused it")
		m.rejectAll(m.refusal(now))
	}
	return m.take()
}

// Resume ends a pause.
func (m *Machine) Resume(now time.Time) []Action {
	if m.paused {
		m.paused = false
		m.event(now, EventEnabled, nil, "an operator resumed it")
		m.settle(now)
	}
	return m.take()
}

// Clear ends a quarantine and a backoff.
func (m *Machine) Clear(now time.Time) []Action {
	for _, in := range m.instances {
		in.probe = false
	}
	m.enable(now, "an operator cleared it")
	m.settle(now)
	return m.take()
}

// Drain lets all instances end their calls, and stops them. New calls start new ones, unless the plugin is paused.
func (m *Machine) Drain(now time.Time, reason string) []Action {
	m.inUse = false // the pool is not warmed again before the next call
	for _, in := range m.Instances() {
		m.drain(now, in, tool.InstanceDraining, reason)
	}
	m.settle(now)
	return m.take()
}

// Disable takes the plugin out of use, for the reason given, or in again if reason is empty.
func (m *Machine) Disable(now time.Time, reason string) []Action {
	m.disabled = reason
	if reason == "" {
		m.event(now, EventEnabled, nil, "it can be used again")
		m.settle(now)
		return m.take()
	}
	m.rejectAll(m.refusal(now))
	return m.Drain(now, reason)
}

// Restart replaces the instances: a new one is warmed before those that run drain. If force is set they are stopped at
// once, whatever they do. The returned instance is the new one; it is empty if a replacement is under way already.
func (m *Machine) Restart(now time.Time, force bool) (instance string, actions []Action) {
	if m.replacing != nil {
		return "", m.take()
	}
	m.event(now, EventRestarting, nil, "")
	m.backoff, m.row = time.Time{}, 0
	if force {
		for _, in := range m.Instances() {
			m.stop(now, in, "an operator restarted the plugin by force", true)
		}
	}
	in := m.launch(now, m.revision, m.newestSession())
	in.replaces = true
	m.replacing = &replacement{revision: m.revision, restart: true, instance: in.ID}
	return in.ID, m.take()
}

// Replace brings in another revision: it is launched and warmed before routing flips and the old one drains. A plugin
// without instances flips at once. It returns an error if a replacement is under way, and does nothing if the revision
// is the current one.
func (m *Machine) Replace(now time.Time, revision string) (actions []Action, err error) {
	if m.replacing != nil {
		return nil, tool.Errorf(tool.KindUnavailable, "plugin %q is being replaced already; wait for it to end", m.name)
	}
	if revision == m.revision {
		return nil, nil
	}
	m.do(Action{Event: &Event{Time: now, Type: EventUpgrading, Revision: revision}})
	m.replacing = &replacement{revision: revision}
	if ready, starting := m.standing(); ready+starting == 0 {
		m.flip(now)
		m.settle(now)
		return m.take(), nil
	}
	in := m.launch(now, revision, m.newestSession())
	in.replaces = true
	m.replacing.instance = in.ID
	return m.take(), nil
}

// newestSession returns the session for which a replacement's first instance is launched, so that it is of use.
func (m *Machine) newestSession() string {
	session := ""
	for _, in := range m.Instances() {
		session = in.session
	}
	return session
}

// flip ends a replacement well: its revision takes the calls, what ran before drains.
func (m *Machine) flip(now time.Time) {
	r := m.replacing
	m.replacing = nil
	if !r.restart {
		m.previous, m.revision = m.revision, r.revision
		m.do(Action{Flip: &Flip{Revision: m.revision, Previous: m.previous}})
		m.crashes, m.row, m.backoff = nil, 0, time.Time{} // what the old one did is not the new one's fault
		if m.quarantine != "" {
			m.enable(now, "it was replaced")
		}
	}
	for _, in := range m.Instances() {
		if in.ID == r.instance {
			in.replaces = false
			continue
		}
		if r.restart {
			m.drain(now, in, tool.InstanceDraining, "an operator restarted the plugin")
		} else {
			m.drain(now, in, tool.InstanceDraining, "it was replaced by another revision")
		}
	}
	kind := EventUpgraded
	if r.restart {
		kind = EventRestarted
	}
	m.event(now, kind, nil, "")
}

// replacementFailed ends a replacement badly: what runs stays.
func (m *Machine) replacementFailed(now time.Time, reason string) {
	r := m.replacing
	m.replacing = nil
	kind := EventUpgradeFailed
	if r.restart {
		kind = EventRestartFailed
	}
	m.do(Action{Event: &Event{Time: now, Type: kind, Revision: r.revision, Reason: reason}})
}

// Close says that toolhost stops: nothing is launched any more, all instances are stopped.
func (m *Machine) Close(now time.Time) []Action {
	m.disabled = "toolhost is stopping"
	m.rejectAll(m.refusal(now))
	for _, in := range m.Instances() {
		m.stop(now, in, m.disabled, false)
	}
	return m.take()
}

// String names the machine in messages.
func (m *Machine) String() string { return fmt.Sprintf("plugin %q", m.name) }
