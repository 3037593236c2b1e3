package lifecycle

import (
	"time"

	"github.com/toolhost/toolhost/tool"
)

// reconfigured is the reason of events when the driver starts processes in another way.
const reconfigured = "its processes start in another way now"

// Reconfigure puts another Config in force. processes says that the driver now starts the plugin's
// processes in another way, for example with fewer permissions. The present instances are outdated
// then, and also if the isolation changes.
//
// A new instance replaces outdated ones as in a restart: they take calls until it is ready, and
// then finish the calls that they have. If the new instance does not start, they finish their calls
// and stop as well, because the configuration may have withdrawn what their processes have. No call
// fails because of a Reconfigure.
func (m *Machine) Reconfigure(now time.Time, cfg Config, processes bool) []Action {
	if m.state.closed {
		return m.state.outbox.take()
	}
	before := m.state.cfg
	m.state.cfg = cfg.withDefaults() // the parts of the state have pointers to it
	if m.state.health.quarantine != "" && m.state.cfg.ProbeAfter != before.ProbeAfter {
		m.state.health.scheduleProbe(now)
	}
	if processes || m.state.cfg.Isolation != before.Isolation {
		for _, in := range m.state.pool.order {
			in.outdated = true
			if m.state.cfg.Isolation != before.Isolation {
				in.session = "" // it may get other calls now, and so must not get those of a session later
			}
		}
		m.state.renewing, m.state.notRenewed = true, ""
	}
	m.state.shrink(now)
	m.state.settle(now)
	return m.state.outbox.take()
}

// Retire stops all instances after their calls, however long these take. Unlike Drain, it ends no
// call. New calls start new instances. An instance that is starting in order to replace the others
// continues.
func (m *Machine) Retire(now time.Time, reason string) []Action {
	m.state.demand.inUse = false
	for _, in := range m.state.pool.order {
		if !in.replaces {
			m.state.recycle(now, in, reason)
		}
	}
	m.state.settle(now)
	return m.state.outbox.take()
}

// renew replaces outdated instances that could still take calls. Another replacement that runs goes
// first: its instance may be outdated too, and its end settles the machine, which calls renew
// again.
func (s *state) renew(now time.Time) {
	if !s.renewing || s.replacing != nil {
		return
	}
	if !s.pool.hasOutdated() {
		s.renewing = false
		return
	}
	if s.refuses() || s.closed {
		s.retireOutdated(now)
		return
	}
	s.event(now, EventRestarting, nil, reconfigured)
	in := s.launch(now, s.revision, s.pool.newestSession())
	in.replaces = true
	s.replacing = &replacement{revision: s.revision, why: renewal, instance: in.ID}
}

// shrink stops instances that a lower limit no longer allows: those that have had their number of
// calls, and the newest ones that are too many.
func (s *state) shrink(now time.Time) {
	active := 0
	for _, in := range s.pool.order {
		switch {
		case in.replaces, !in.active():
		case s.pool.exhausted(in):
			s.recycle(now, in, "it has made its number of calls")
		case active >= s.cfg.MaxInstances:
			s.recycle(now, in, "the configuration allows fewer instances")
		default:
			active++
		}
	}
}

// hasOutdated reports whether an outdated instance could still take calls.
func (p *pool) hasOutdated() bool {
	for _, in := range p.order {
		if in.outdated && (in.active() || in.stalled()) {
			return true
		}
	}
	return false
}

// retireOutdated lets the outdated instances finish their calls and stop.
func (s *state) retireOutdated(now time.Time) {
	s.renewing = false
	for _, in := range s.pool.order {
		if in.outdated && in.State != tool.InstanceStopping {
			s.recycle(now, in, reconfigured)
		}
	}
}
