package lifecycle

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/toolhost/toolhost/tool"
)

func (m *Machine) launch(now time.Time, revision, session string) *Instance {
	m.numbered++
	in := &Instance{
		ID: fmt.Sprintf("%s-%d", m.name, m.numbered), Revision: revision, State: tool.InstanceStarting,
		Created: now, session: session,
	}
	m.instances[in.ID] = in
	m.order = append(m.order, in)
	m.event(now, EventLaunching, in, "")
	m.do(Action{Launch: &Launch{Instance: in.ID, Revision: revision}})
	return in
}

// forget notes that an instance has exited, and returns the state that it was in.
func (m *Machine) forget(in *Instance) tool.InstanceState {
	state := in.State
	in.State = tool.InstanceExited
	delete(m.instances, in.ID)
	m.order = slices.DeleteFunc(m.order, func(other *Instance) bool { return other == in })
	return state
}

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
	m.settle(now)
	return m.take()
}

// LaunchFailed says that a process could not be brought to take calls, and is gone.
//
// It counts as a crash. The calls that waited for it are rejected with err and, if it is known, with when to try again:
// a plugin that cannot be started is told to its callers at once instead of holding them to their deadlines. Calls that
// another instance of the pool may serve, be it ready or on its way, go on waiting; so do those that come later and find
// a backoff: they are told by the launch that follows it.
func (m *Machine) LaunchFailed(now time.Time, instance string, err *tool.Error) []Action {
	if in := m.instances[instance]; in != nil {
		m.gone(now, in, err)
		m.settle(now)
	}
	return m.take()
}

// Exited says that a process is gone. Its calls end by themselves: each is still to be released. exit describes the
// end in words. It is a crash if the machine had not decided to stop the process.
func (m *Machine) Exited(now time.Time, instance, exit string) []Action {
	return m.ended(now, instance, exit, false, true)
}

// Crashed is Exited for a process that is known to have ended by itself. It is a crash even if the machine decided
// meanwhile to stop the process, such as when its only call ended before its exit was known.
func (m *Machine) Crashed(now time.Time, instance, exit string) []Action {
	return m.ended(now, instance, exit, true, true)
}

// CrashedAgain is Crashed for a crash that is due to a call which has crashed a process before: it was counted then, and counts
// neither for a backoff nor for quarantine.
func (m *Machine) CrashedAgain(now time.Time, instance, exit string) []Action {
	return m.ended(now, instance, exit, true, false)
}

// Withdrawn is Exited for a process that toolhost ended without the machine's decision, because it could not be left to
// run. The plugin has done nothing that counts against it: the next call gets another process at once.
func (m *Machine) Withdrawn(now time.Time, instance, reason string) []Action {
	in := m.instances[instance]
	if in == nil {
		return m.take()
	}
	m.forget(in)
	m.event(now, EventExited, in, reason)
	if r := m.replacing; r != nil && r.instance == in.ID {
		m.replacementFailed(now, reason)
	}
	if in.probe && m.quarantine != "" {
		m.scheduleProbe(now) // it was ended before it could show anything
	}
	m.settle(now)
	return m.take()
}

func (m *Machine) ended(now time.Time, instance, exit string, byItself, counts bool) []Action {
	in := m.instances[instance]
	if in == nil {
		return m.take() // said by LaunchFailed
	}
	stopped := in.State == tool.InstanceStopping && !byItself
	if in.ReadyAt.IsZero() || stopped {
		m.gone(now, in, tool.Errorf(tool.KindUnavailable, "the plugin %q ended while it started: %s", m.name, exit))
	} else {
		m.forget(in)
		m.event(now, EventCrashed, in, exit)
		if counts {
			m.crashed(now, in, exit)
		}
	}
	m.settle(now)
	return m.take()
}

// gone notes the end of an instance that did not take calls: it was stopped, or was not ready yet.
func (m *Machine) gone(now time.Time, in *Instance, err *tool.Error) {
	if m.forget(in) == tool.InstanceStopping {
		m.event(now, EventExited, in, in.Reason)
		if in.probe && m.quarantine != "" {
			m.scheduleProbe(now) // it was stopped before it could show anything
		}
		return
	}
	m.event(now, EventLaunchFailed, in, err.Message)
	if r := m.replacing; r != nil && r.instance == in.ID {
		m.replacementFailed(now, err.Message)
	}
	if in.replaces {
		return // nobody but its replacement waited for it
	}
	m.crashed(now, in, err.Message)
	m.disappoint(now, in.session, err)
}

// disappoint rejects the calls that waited for an instance whose launch failed, unless another may serve them.
func (m *Machine) disappoint(now time.Time, session string, err *tool.Error) {
	for _, in := range m.order {
		switch {
		case in.replaces, m.cfg.Isolation == PerSession: // a session has no second instance
		case in.State == tool.InstanceStarting, in.State == tool.InstanceReady && m.cfg.Isolation == Shared:
			return
		}
	}
	told := *err
	if told.RetryAfter == 0 && m.backoff.After(now) {
		told.RetryAfter = m.backoff.Sub(now)
	}
	m.queue = slices.DeleteFunc(m.queue, func(w waiter) bool {
		waited := m.cfg.Isolation != PerSession || w.session == session
		if waited {
			m.reject(w.call, &told)
		}
		return waited
	})
}

// drain lets an instance end its calls within DrainTimeout, and stops it.
func (m *Machine) drain(now time.Time, in *Instance, state tool.InstanceState, reason string) {
	m.retire(now, in, state, reason, now.Add(m.cfg.DrainTimeout))
}

// recycle is drain for an instance that is replaced in good order. There is no hurry: its calls have deadlines of their own.
func (m *Machine) recycle(now time.Time, in *Instance, reason string) {
	m.retire(now, in, tool.InstanceDraining, reason, time.Time{})
}

// retire lets an instance end its calls until by, if by is not zero, and stops it.
func (m *Machine) retire(now time.Time, in *Instance, state tool.InstanceState, reason string, by time.Time) {
	kind := EventDraining
	if state == tool.InstanceUnhealthy {
		kind = EventUnhealthy
	}
	switch {
	case in.State == tool.InstanceStopping, in.State == tool.InstanceUnhealthy && in.ending():
	case in.State == tool.InstanceStarting:
		m.stop(now, in, reason, false)
	case in.State == tool.InstanceDraining:
		if in.drainBy.IsZero() {
			in.drainBy = by
		}
		if state == tool.InstanceUnhealthy {
			in.State, in.Reason = state, reason
			m.event(now, kind, in, reason)
		}
	default:
		in.State, in.Reason, in.drainBy = state, reason, by
		m.event(now, kind, in, reason)
		if in.Calls == 0 {
			m.stop(now, in, reason, false)
		}
	}
}

// stop stops an instance now. Calls that it has are ended.
func (m *Machine) stop(now time.Time, in *Instance, reason string, force bool) {
	if in.State == tool.InstanceStopping {
		return
	}
	// What did not heed its calls' end is not asked to end by itself: it would only go on with what it was told to stop.
	force = force || in.State == tool.InstanceUnhealthy && in.Calls == 0
	in.State = tool.InstanceStopping
	in.Reason = cmp.Or(in.Reason, reason)
	m.event(now, EventStopping, in, in.Reason)
	if in.Calls > 0 {
		m.do(Action{Cancel: &Cancel{Instance: in.ID, Reason: in.Reason}})
	}
	m.do(Action{Stop: &Stop{Instance: in.ID, Reason: in.Reason, Force: force}})
	if r := m.replacing; r != nil && r.instance == in.ID {
		m.replacementFailed(now, in.Reason)
	}
}
