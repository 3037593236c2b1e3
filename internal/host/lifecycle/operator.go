package lifecycle

import (
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
	m.enable(now, "an operator cleared it")
	m.settle(now)
	return m.take()
}

// Drain lets all instances end their calls, and stops them. New calls start new ones, unless the plugin is paused. An
// instance that is on its way to replace the others is let alone.
func (m *Machine) Drain(now time.Time, reason string) []Action {
	m.inUse = false // the pool is not warmed again before the next call
	for _, in := range m.order {
		if !in.replaces {
			m.drain(now, in, tool.InstanceDraining, reason)
		}
	}
	m.settle(now)
	return m.take()
}

// Disable takes the plugin out of use, for the reason given, or in again if reason is empty. A replacement that is under
// way fails. It does nothing after Close.
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

// Restart replaces the instances: a new one is warmed before those that run drain; if it fails, they stay. If force is
// set they are stopped at once, whatever they do. It ends a backoff and, once the new instance is ready, a quarantine.
// The returned instance is the new one; it is empty if nothing was done, because a replacement is under way already or
// the plugin is disabled. Events say how it ended.
func (m *Machine) Restart(now time.Time, force bool) (instance string, actions []Action) {
	if m.replacing != nil || m.disabled != "" {
		return "", m.take()
	}
	m.event(now, EventRestarting, nil, "")
	m.backoff, m.row = time.Time{}, 0
	session := m.newestSession()
	if force {
		for _, in := range m.order {
			m.stop(now, in, "an operator restarted the plugin by force", true)
		}
	}
	ready, starting := m.standing()
	in := m.launch(now, m.revision, session)
	in.replaces = ready+starting+m.suspects() > 0
	m.replacing = &replacement{revision: m.revision, why: restart, instance: in.ID}
	m.settle(now)
	return in.ID, m.take()
}

// Replace brings in another revision: it is launched and warmed before routing flips and the old one drains, also if
// nothing runs that it would replace. If that fails the old one stays. It returns an error, and does nothing, if a
// replacement is under way, or if the plugin is disabled or the machine closed; it does nothing if the revision is the
// current one.
func (m *Machine) Replace(now time.Time, revision string) (actions []Action, err error) {
	return m.replace(now, revision, upgrade)
}

// Rollback is Replace by a revision that was there before. Its events say so.
func (m *Machine) Rollback(now time.Time, revision string) (actions []Action, err error) {
	return m.replace(now, revision, rollback)
}

func (m *Machine) replace(now time.Time, revision string, why change) (actions []Action, err error) {
	switch {
	case m.disabled != "":
		return nil, m.refusal(now)
	case m.replacing != nil:
		return nil, tool.Errorf(tool.KindUnavailable, "plugin %q is being replaced already; wait for it to end", m.name)
	case revision == m.revision:
		return nil, nil
	}
	started, _, _ := why.events()
	m.do(Action{Event: &Event{Time: now, Type: started, Revision: revision}})
	in := m.launch(now, revision, m.newestSession())
	in.replaces = true
	m.replacing = &replacement{revision: revision, why: why, instance: in.ID}
	return m.take(), nil
}

// Adopt says that another revision is in service already, whether it starts or not: routing flips at once, what runs
// drains, and the calls to come launch it. A replacement that is under way fails. It does nothing if the revision is the
// current one, or after Close.
func (m *Machine) Adopt(now time.Time, revision string) []Action {
	if m.closed || revision == m.revision {
		return m.take()
	}
	if m.replacing != nil {
		m.replacementFailed(now, "another revision is in service")
	}
	m.do(Action{Event: &Event{Time: now, Type: EventUpgrading, Revision: revision}})
	m.replacing = &replacement{revision: revision}
	m.flip(now)
	m.settle(now)
	return m.take()
}

// newestSession returns the session for which a replacement's first instance is launched, so that it is of use.
func (m *Machine) newestSession() string {
	if len(m.order) == 0 {
		return ""
	}
	return m.order[len(m.order)-1].session
}

// flip ends a replacement well: its revision takes the calls, what ran before drains.
func (m *Machine) flip(now time.Time) {
	r := m.replacing
	m.replacing = nil
	_, kind, _ := r.why.events()
	reason := "an operator restarted the plugin"
	if r.why != restart {
		reason = "it was replaced by another revision"
		m.previous, m.revision = m.revision, r.revision
		m.do(Action{Flip: &Flip{Revision: m.revision, Previous: m.previous}})
		m.forgive() // what the old one did is not the new one's fault
	}
	if m.quarantine != "" {
		m.enable(now, reason)
	}
	// A new instance that joined an empty pool takes nobody's place.
	if in := m.instances[r.instance]; in == nil || in.replaces {
		m.supersede(now, in, reason)
	}
	m.do(Action{Event: &Event{Time: now, Type: kind, Instance: r.instance, Revision: r.revision}})
}

// supersede makes an instance the whole pool. The others' calls have deadlines of their own, and a change for the better
// costs none of them: they may take until then.
func (m *Machine) supersede(now time.Time, successor *Instance, reason string) {
	for _, in := range m.order {
		if in == successor {
			in.replaces = false
		} else {
			m.recycle(now, in, reason)
		}
	}
}

// replacementFailed ends a replacement badly: what runs stays.
func (m *Machine) replacementFailed(now time.Time, reason string) {
	r := m.replacing
	m.replacing = nil
	_, _, kind := r.why.events()
	m.do(Action{Event: &Event{Time: now, Type: kind, Instance: r.instance, Revision: r.revision, Reason: reason}})
}

// Close says that toolhost stops: nothing is launched any more, all instances are stopped with their calls.
func (m *Machine) Close(now time.Time) []Action {
	m.closed, m.disabled = true, "toolhost is stopping"
	m.rejectAll(m.refusal(now))
	for _, in := range m.order {
		m.stop(now, in, m.disabled, false)
	}
	return m.take()
}
