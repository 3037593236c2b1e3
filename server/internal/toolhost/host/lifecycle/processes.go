package lifecycle

import (
	"cmp"
	"slices"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// Ready reports that a launched process takes calls.
func (m *Machine) Ready(now time.Time, instance string) []Action {
	in := m.state.pool.instances[instance]
	if in == nil || in.State != tool.InstanceStarting {
		return m.state.outbox.take() // it is stopping already
	}
	m.state.launches++
	in.State, in.ReadyAt, in.idleFrom = tool.InstanceReady, now, now
	m.state.event(now, EventReady, in, "")
	if r := m.state.replacing; r != nil && r.instance == instance {
		m.state.flip(now)
	}
	m.state.settle(now)
	return m.state.outbox.take()
}

// LaunchFailed reports that a process ended before it took calls. The machine treats that as a
// crash.
//
// It rejects the calls that waited for the process. The rejection contains err and, if it is known,
// the time of the next launch. Telling a caller at once that a plugin does not start is better than
// making it wait for its deadline. Calls that another instance of the pool may serve, ready or
// starting, continue to wait. Calls that arrive during the backoff wait as well; the next launch
// decides about them.
func (m *Machine) LaunchFailed(now time.Time, instance string, err *tool.Error) []Action {
	if in := m.state.pool.instances[instance]; in != nil {
		m.state.removeUnready(now, in, err)
		m.state.settle(now)
	}
	return m.state.outbox.take()
}

// Exited reports that a process is gone. The driver ends its calls and releases each of them. The
// parameter exit describes the end. The machine treats the end as a crash if it had not decided to
// stop the process.
func (m *Machine) Exited(now time.Time, instance, exit string) []Action {
	return m.state.ended(now, instance, exit, false, true)
}

// Crashed is Exited for a process that is known to have ended by itself. That is a crash even if
// the machine has decided meanwhile to stop the process. An example is a process whose only call
// ended before its exit was known.
func (m *Machine) Crashed(now time.Time, instance, exit string) []Action {
	return m.state.ended(now, instance, exit, true, true)
}

// CrashedAgain is Crashed for a call that caused an earlier crash as well. The earlier crash was
// counted. This one does not count for the backoff or the quarantine.
func (m *Machine) CrashedAgain(now time.Time, instance, exit string) []Action {
	return m.state.ended(now, instance, exit, true, false)
}

// Withdrawn is Exited for a process that toolhost ended without a decision of the machine, because
// the process must not go on. The plugin is not at fault: the next call gets another process at
// once.
func (m *Machine) Withdrawn(now time.Time, instance, reason string) []Action {
	in := m.state.pool.instances[instance]
	if in == nil {
		return m.state.outbox.take()
	}
	m.state.pool.remove(in)
	m.state.event(now, EventExited, in, reason)
	if r := m.state.replacing; r != nil && r.instance == in.ID {
		m.state.failReplacement(now, reason)
	}
	if in.probe && m.state.health.quarantine != "" {
		m.state.health.scheduleProbe(now) // the probe ended before it could show anything
	}
	m.state.settle(now)
	return m.state.outbox.take()
}

// ended handles the end of a process. byItself says that the process ended by itself. counts says
// that a crash counts for the backoff and the quarantine.
func (s *state) ended(now time.Time, instance, exit string, byItself, counts bool) []Action {
	in := s.pool.instances[instance]
	if in == nil {
		return s.outbox.take() // LaunchFailed has removed it
	}
	stopped := in.State == tool.InstanceStopping && !byItself
	if in.ReadyAt.IsZero() || stopped {
		s.removeUnready(now, in, tool.Errorf(tool.KindUnavailable, "the plugin %q ended while it started: %s", s.name, exit))
	} else {
		s.pool.remove(in)
		s.event(now, EventCrashed, in, exit)
		if counts {
			s.crashed(now, in, exit)
		}
	}
	s.settle(now)
	return s.outbox.take()
}

// launch starts an instance.
func (s *state) launch(now time.Time, revision, session string) *Instance {
	in := s.pool.add(now, s.name, revision, session)
	s.event(now, EventLaunching, in, "")
	s.outbox.add(Action{Launch: &Launch{Instance: in.ID, Revision: revision, Session: session}})
	return in
}

// removeUnready removes an instance that took no calls at its end: it was stopping, or starting.
func (s *state) removeUnready(now time.Time, in *Instance, err *tool.Error) {
	if s.pool.remove(in) == tool.InstanceStopping {
		s.event(now, EventExited, in, in.Reason)
		if in.probe && s.health.quarantine != "" {
			s.health.scheduleProbe(now) // the probe stopped before it could show anything
		}
		return
	}
	s.event(now, EventLaunchFailed, in, err.Message)
	if r := s.replacing; r != nil && r.instance == in.ID {
		s.failReplacement(now, err.Message)
	}
	if in.replaces {
		return // no call waited for it
	}
	s.crashed(now, in, err.Message)
	s.rejectWaiting(now, in.session, err)
}

// rejectWaiting rejects the calls that waited for an instance whose launch failed, unless another
// instance may serve them.
func (s *state) rejectWaiting(now time.Time, session string, err *tool.Error) {
	if s.pool.mayServe(session) {
		return
	}
	failure := *err
	if failure.RetryAfter == 0 && s.health.backoff.After(now) {
		failure.RetryAfter = s.health.backoff.Sub(now)
	}
	s.demand.queue = slices.DeleteFunc(s.demand.queue, func(w waiter) bool {
		waited := !s.cfg.Isolation.keyed() || w.session == session
		if waited {
			s.outbox.reject(w.call, &failure)
		}
		return waited
	})
}

// drain stops an instance after its calls, at the latest after DrainTimeout.
func (s *state) drain(now time.Time, in *Instance, to tool.InstanceState, reason string) {
	s.retire(now, in, to, reason, now.Add(s.cfg.DrainTimeout))
}

// recycle stops an instance after its calls, however long they take. They have deadlines, and a
// replacement in normal operation must not end any of them.
func (s *state) recycle(now time.Time, in *Instance, reason string) {
	s.retire(now, in, tool.InstanceDraining, reason, time.Time{})
}

// retire stops an instance after its calls, or at the time by if that is not zero. to is the state
// that it gets meanwhile.
func (s *state) retire(now time.Time, in *Instance, to tool.InstanceState, reason string, by time.Time) {
	kind := EventDraining
	if to == tool.InstanceUnhealthy {
		kind = EventUnhealthy
	}
	switch {
	case in.State == tool.InstanceStopping, in.State == tool.InstanceUnhealthy && in.ending():
	case in.State == tool.InstanceStarting:
		s.stop(now, in, reason, false)
	case in.State == tool.InstanceDraining:
		if in.drainBy.IsZero() {
			in.drainBy = by
		}
		if to == tool.InstanceUnhealthy {
			in.State, in.Reason = to, reason
			s.event(now, kind, in, reason)
		}
	default:
		in.State, in.Reason, in.drainBy = to, reason, by
		s.event(now, kind, in, reason)
		if in.Calls == 0 {
			s.stop(now, in, reason, false)
		}
	}
}

// stop stops an instance now, and cancels its calls.
func (s *state) stop(now time.Time, in *Instance, reason string, force bool) {
	if in.State == tool.InstanceStopping {
		return
	}
	// A process that has ignored the cancel of its calls would only go on if it were asked to stop.
	force = force || in.State == tool.InstanceUnhealthy && in.Calls == 0
	unhealthy := in.State == tool.InstanceUnhealthy && in.ending()
	in.State = tool.InstanceStopping
	in.Reason = cmp.Or(in.Reason, reason)
	s.event(now, EventStopping, in, in.Reason)
	if in.Calls > 0 {
		s.outbox.add(Action{Cancel: &Cancel{Instance: in.ID, Reason: in.Reason}})
	}
	s.outbox.add(Action{Stop: &Stop{Instance: in.ID, Reason: in.Reason, Force: force, Unhealthy: unhealthy}})
	if r := s.replacing; r != nil && r.instance == in.ID {
		s.failReplacement(now, in.Reason)
	}
}
