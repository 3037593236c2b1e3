package lifecycle

import (
	"time"

	"github.com/toolhost/toolhost/tool"
)

// replacement is an upgrade, a rollback or a restart that runs: a new instance starts before the
// old ones drain.
type replacement struct {
	revision string
	why      change
	instance string // that has to be ready before calls go to it
}

// change is why a replacement happens.
type change int

const (
	upgrade change = iota // to a revision that is new, or that an operator wants again
	rollback
	restart
	renewal // to processes that the present configuration starts
)

// events returns the events of the beginning, the success and the failure of a change.
func (c change) events() (started, finished, failed EventType) {
	switch c {
	case rollback:
		return EventRollingBack, EventRolledBack, EventRollbackFailed
	case restart, renewal:
		return EventRestarting, EventRestarted, EventRestartFailed
	default:
		return EventUpgrading, EventUpgraded, EventUpgradeFailed
	}
}

// Restart replaces the instances: a new one starts before the present ones drain. If the new one
// fails, the present ones stay. With force, the present ones stop at once and their calls are
// canceled. Restart ends a backoff and, once the new instance is ready, a quarantine. It returns
// the new instance. The name is empty if Restart did nothing, because a replacement is in progress
// already or the plugin is disabled. An event says how the restart ended.
func (m *Machine) Restart(now time.Time, force bool) (instance string, actions []Action) {
	if m.state.replacing != nil || m.state.disabled != "" {
		return "", m.state.outbox.take()
	}
	m.state.event(now, EventRestarting, nil, ByOperator+"restarts it")
	m.state.health.backoff, m.state.health.streak = time.Time{}, 0
	session := m.state.pool.newestSession()
	if force {
		for _, in := range m.state.pool.order {
			m.state.stop(now, in, ByOperator+"restarted the plugin by force", true)
		}
	}
	ready, starting := m.state.pool.counts()
	in := m.state.launch(now, m.state.revision, session)
	in.replaces = ready+starting+m.state.pool.stalledCount() > 0
	m.state.replacing = &replacement{revision: m.state.revision, why: restart, instance: in.ID}
	m.state.settle(now)
	return in.ID, m.state.outbox.take()
}

// Replace brings another revision into service. An instance of the new revision starts before calls
// go to it and the old instances drain. That is so even if no old instance runs. If the new
// instance fails, the old revision stays. Replace returns an error and does nothing if a
// replacement is in progress, the plugin is disabled or the machine is closed. It does nothing if
// the revision is in service.
func (m *Machine) Replace(now time.Time, revision string) (actions []Action, err error) {
	return m.state.beginReplacement(now, revision, upgrade)
}

// Rollback is Replace for a revision that was in service before. Only its events differ.
func (m *Machine) Rollback(now time.Time, revision string) (actions []Action, err error) {
	return m.state.beginReplacement(now, revision, rollback)
}

// Adopt reports that another revision is in service already, whether it starts or not. Calls go to
// it at once and launch it, and the present instances drain. A replacement in progress fails. Adopt
// does nothing if the revision is in service, or after Close.
func (m *Machine) Adopt(now time.Time, revision string) []Action {
	if m.state.closed || revision == m.state.revision {
		return m.state.outbox.take()
	}
	if m.state.replacing != nil {
		m.state.failReplacement(now, "another revision is in service")
	}
	m.state.outbox.add(Action{Event: &Event{Time: now, Type: EventUpgrading, Revision: revision}})
	m.state.replacing = &replacement{revision: revision}
	m.state.flip(now)
	m.state.settle(now)
	return m.state.outbox.take()
}

func (s *state) beginReplacement(now time.Time, revision string, why change) (actions []Action, err error) {
	switch {
	case s.disabled != "":
		return nil, s.refusal(now)
	case s.replacing != nil:
		return nil, tool.Errorf(tool.KindUnavailable, "plugin %q is being replaced already; wait for it to end", s.name)
	case revision == s.revision:
		return nil, nil
	}
	started, _, _ := why.events()
	s.outbox.add(Action{Event: &Event{Time: now, Type: started, Revision: revision}})
	in := s.launch(now, revision, s.pool.newestSession())
	in.replaces = true
	s.replacing = &replacement{revision: revision, why: why, instance: in.ID}
	return s.outbox.take(), nil
}

// flip ends a replacement with success: calls go to its revision, and the old instances drain.
func (s *state) flip(now time.Time) {
	r := s.replacing
	s.replacing = nil
	_, kind, _ := r.why.events()
	reason := ByOperator + "restarted the plugin"
	switch r.why {
	case restart:
	case renewal:
		reason = reconfigured
	default:
		reason = "it was replaced by another revision"
		s.previous, s.revision = s.revision, r.revision
		s.outbox.add(Action{Flip: &Flip{Revision: s.revision, Previous: s.previous}})
		s.health.forgetCrashes() // they are the fault of the old revision
	}
	if s.health.quarantine != "" {
		s.enable(now, reason)
	}
	// A new instance that joined an empty pool replaces none.
	if in := s.pool.instances[r.instance]; in == nil || in.replaces {
		s.supersede(now, in, reason)
	}
	s.outbox.add(Action{Event: &Event{Time: now, Type: kind, Instance: r.instance, Revision: r.revision}})
}

// supersede makes an instance the only one of the pool. The others get no new calls. Each of them
// ends when its calls have ended, at the latest at the deadlines of these calls.
func (s *state) supersede(now time.Time, successor *Instance, reason string) {
	for _, in := range s.pool.order {
		if in == successor {
			in.replaces = false
		} else {
			s.recycle(now, in, reason)
		}
	}
}

// failReplacement ends a replacement without success: the present instances stay.
func (s *state) failReplacement(now time.Time, reason string) {
	r := s.replacing
	s.replacing = nil
	_, _, kind := r.why.events()
	s.outbox.add(Action{Event: &Event{Time: now, Type: kind, Instance: r.instance, Revision: r.revision, Reason: reason}})
	if r.why == renewal {
		s.notRenewed = reason
		s.retireOutdated(now)
	}
}
