package lifecycle

import (
	"slices"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// Acquire says that a call wants an instance. It is answered by Assign or Reject, now or later, unless the call leaves
// before.
func (m *Machine) Acquire(now time.Time, call CallRef, session string) []Action {
	if m.refused() {
		m.reject(call, m.refusal(now))
		return m.take()
	}
	before := m.inUse
	m.inUse, m.lastCall = true, now
	// Nobody is overtaken: had the instance been of use to a call that waits, that call would have it.
	if in := m.pick(session); in != nil {
		m.assign(in, call)
		m.postpone(now)
		m.fill(now, in.Calls > 1)
		return m.take()
	}
	if before {
		m.dry = now
	}
	if len(m.queue) >= m.cfg.MaxQueue {
		err := tool.Errorf(tool.KindUnavailable,
			"%d calls wait for an instance of plugin %q already; try again later, or let more instances run", len(m.queue), m.name)
		err.Plugin = m.name
		m.reject(call, err)
		return m.take()
	}
	m.queue = append(m.queue, waiter{call: call, session: session})
	m.settle(now)
	return m.take()
}

// Leave says that a call that waits for an instance does so no longer. It does nothing if the call was assigned or
// rejected.
func (m *Machine) Leave(now time.Time, call CallRef) []Action {
	m.queue = slices.DeleteFunc(m.queue, func(w waiter) bool { return w.call == call })
	return m.take()
}

// Release says that a call that was assigned has let go of its instance, also if that has exited.
func (m *Machine) Release(now time.Time, call CallRef) []Action {
	in := m.calls[call]
	if in == nil {
		return m.take()
	}
	delete(m.calls, call)
	if _, stuck := m.stuck[call]; stuck {
		delete(m.stuck, call)
		in.stuck--
	}
	in.Calls--
	in.idleFrom = now
	if !m.refill.IsZero() {
		m.refill = now.Add(answering)
	}
	switch {
	case in.suspect() && in.stuck == 0:
		m.recover(now, in)
	case in.State == tool.InstanceReady && m.exhausted(in):
		m.recycle(now, in, "it has made its number of calls")
	case in.ending() && in.Calls == 0:
		m.stop(now, in, in.Reason, false)
	}
	m.settle(now)
	return m.take()
}

// Stuck says that a call was told to stop and has not within a short while: its instance takes no new calls until the call
// is released, or Unyielding is said. It does nothing if the call was released.
func (m *Machine) Stuck(now time.Time, call CallRef, reason string) []Action {
	in := m.calls[call]
	if _, known := m.stuck[call]; in == nil || known {
		return m.take()
	}
	m.stuck[call] = struct{}{}
	in.stuck++
	if in.State == tool.InstanceReady {
		in.State = tool.InstanceUnhealthy
		m.event(now, EventUnhealthy, in, reason)
		m.settle(now)
	}
	return m.take()
}

// recover lets an instance take calls again, whose calls have stopped after all. If others have taken its place meanwhile,
// it ends what calls it has, and goes.
func (m *Machine) recover(now time.Time, in *Instance) {
	in.State = tool.InstanceReady
	switch {
	case m.replaced(in):
		m.recycle(now, in, "others took its place while a call of its did not stop")
	case m.exhausted(in):
		m.recycle(now, in, "it has made its number of calls")
	default:
		m.event(now, EventReady, in, "the calls that did not stop have stopped")
	}
}

// replaced reports whether the pool is full without the instance, which is one of it.
func (m *Machine) replaced(in *Instance) bool {
	others := 0
	for _, other := range m.order {
		if other == in || other.replaces || !other.standing() {
			continue
		}
		if m.cfg.Isolation == PerSession && other.session == in.session {
			return true
		}
		others++
	}
	return others >= m.cfg.MaxInstances
}

// Unyielding says that a call of the instance did not stop when it was told to: the instance takes no new calls, lets
// its others end, and goes. The call itself is released once this is said; while it is not, it counts as one of the
// others.
func (m *Machine) Unyielding(now time.Time, instance, reason string) []Action {
	if in := m.instances[instance]; in != nil {
		m.drain(now, in, tool.InstanceUnhealthy, reason)
		m.settle(now)
	}
	return m.take()
}

// settle gives waiting calls to instances and starts what is missing. It is called whenever anything changed.
func (m *Machine) settle(now time.Time) {
	if m.refused() {
		return
	}
	if m.cfg.Isolation == PerSession {
		m.serveSessions(now)
		return
	}
	served, crowded := 0, false
	for _, w := range m.queue {
		in := m.pick(w.session)
		if in == nil {
			break // what is of no use to one is of no use to the next
		}
		m.assign(in, w.call)
		served++
		crowded = crowded || in.Calls > 1
	}
	m.queue = slices.Delete(m.queue, 0, served)
	m.fill(now, crowded)
}

// serveSessions is settle for a process per session. It goes through the queue once, in order: a call that came first
// may take the place of an idle instance that a later one could have used, so that a busy session starves nobody.
func (m *Machine) serveSessions(now time.Time) {
	m.queue = slices.DeleteFunc(m.queue, func(w waiter) bool {
		in := m.pick(w.session)
		if in == nil {
			m.provide(now, w.session)
			return false
		}
		m.assign(in, w.call)
		return true
	})
}

func (m *Machine) assign(in *Instance, call CallRef) {
	in.Calls++
	in.Total++
	m.calls[call] = in
	if m.actions != nil {
		m.do(Action{Assign: &Assign{Call: call, Instance: in.ID}})
		return
	}
	usual := &struct { // what nearly every call comes to, as one piece of memory
		actions [1]Action
		assign  Assign
	}{assign: Assign{Call: call, Instance: in.ID}}
	usual.actions[0].Assign = &usual.assign
	m.actions = usual.actions[:]
}

// reject gives the call an error of its own, which the driver may add to.
func (m *Machine) reject(call CallRef, err *tool.Error) {
	own := *err
	m.do(Action{Reject: &Reject{Call: call, Err: &own}})
}

// rejectAll ends the calls that wait: they learn why there is no instance for them.
func (m *Machine) rejectAll(err *tool.Error) {
	for _, w := range m.queue {
		m.reject(w.call, err)
	}
	m.queue = nil
}
