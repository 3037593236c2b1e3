package lifecycle

import (
	"slices"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// Acquire reports that a call needs an instance. The machine answers with Assign or Reject, now or
// later, unless the call leaves first.
func (m *Machine) Acquire(now time.Time, call CallRef, session string) []Action {
	if m.state.refuses() {
		m.state.outbox.reject(call, m.state.refusal(now))
		return m.state.outbox.take()
	}
	before := m.state.demand.inUse
	m.state.demand.inUse, m.state.demand.lastCall = true, now
	// This call overtakes none: if the instance could serve a call that waits, that call would have
	// it.
	if in := m.state.pool.pick(session); in != nil {
		m.state.assignTo(in, call)
		m.state.demand.postpone(now)
		m.state.fill(now, in.Calls > 1)
		return m.state.outbox.take()
	}
	if refused := m.state.held(now, session); refused != nil {
		m.state.outbox.reject(call, refused)
		return m.state.outbox.take()
	}
	if before {
		m.state.demand.emptyAt = now
	}
	if len(m.state.demand.queue) >= m.state.cfg.MaxQueue {
		err := tool.Errorf(tool.KindUnavailable,
			"%d calls wait for an instance of plugin %q already; try again later, or let more instances run", len(m.state.demand.queue), m.state.name)
		err.Plugin = m.state.name
		m.state.outbox.reject(call, err)
		return m.state.outbox.take()
	}
	m.state.demand.queue = append(m.state.demand.queue, waiter{call: call, session: session})
	m.state.settle(now)
	return m.state.outbox.take()
}

// Leave reports that a call no longer waits for an instance. It does nothing if the call was
// assigned or rejected.
func (m *Machine) Leave(_ time.Time, call CallRef) []Action {
	m.state.demand.leave(call)
	return m.state.outbox.take()
}

// Release reports that a call no longer uses its instance, which may have exited.
func (m *Machine) Release(now time.Time, call CallRef) []Action {
	in := m.state.calls[call]
	if in == nil {
		return m.state.outbox.take()
	}
	delete(m.state.calls, call)
	if _, stuck := m.state.stuck[call]; stuck {
		delete(m.state.stuck, call)
		in.stuck--
	}
	in.Calls--
	in.idleFrom = now
	if !m.state.demand.refill.IsZero() {
		m.state.demand.refill = now.Add(answerDelay)
	}
	switch {
	case in.stalled() && in.stuck == 0:
		m.state.recover(now, in)
	case in.State == tool.InstanceReady && m.state.pool.exhausted(in):
		m.state.recycle(now, in, "it has made its number of calls")
	case in.ending() && in.Calls == 0:
		m.state.stop(now, in, in.Reason, false)
	}
	m.state.settle(now)
	return m.state.outbox.take()
}

// Stuck reports that a call has not stopped for a while after a cancel. Its instance takes no new
// calls until the driver reports Release or Unyielding. Stuck does nothing if the call was
// released.
func (m *Machine) Stuck(now time.Time, call CallRef, reason string) []Action {
	in := m.state.calls[call]
	if _, known := m.state.stuck[call]; in == nil || known {
		return m.state.outbox.take()
	}
	m.state.stuck[call] = struct{}{}
	in.stuck++
	if in.State == tool.InstanceReady {
		in.State = tool.InstanceUnhealthy
		m.state.event(now, EventUnhealthy, in, reason)
		m.state.settle(now)
	}
	return m.state.outbox.take()
}

// Unyielding reports that a call of the instance did not stop in time after a cancel. The instance
// takes no new calls, and stops after its other calls. The driver releases the call after this.
// Until then, the machine treats it like the other calls.
func (m *Machine) Unyielding(now time.Time, instance, reason string) []Action {
	if in := m.state.pool.instances[instance]; in != nil {
		m.state.drain(now, in, tool.InstanceUnhealthy, reason)
		m.state.settle(now)
	}
	return m.state.outbox.take()
}

// recover makes a stalled instance take calls again. If other instances have replaced it meanwhile,
// it finishes its calls and stops.
func (s *state) recover(now time.Time, in *Instance) {
	in.State = tool.InstanceReady
	switch {
	case s.pool.fullWithout(in):
		s.recycle(now, in, "others took its place while a call of its did not stop")
	case s.pool.exhausted(in):
		s.recycle(now, in, "it has made its number of calls")
	default:
		s.event(now, EventReady, in, "the calls that did not stop have stopped")
	}
}

// settle gives waiting calls to instances and starts missing instances. Every event that changes
// anything calls it.
func (s *state) settle(now time.Time) {
	s.renew(now)
	if s.refuses() {
		return
	}
	if s.cfg.Isolation.keyed() {
		s.settleSessions(now)
		return
	}
	served, crowded := 0, false
	for _, w := range s.demand.queue {
		in := s.pool.pick(w.session)
		if in == nil {
			break // no other call can have one either
		}
		s.assignTo(in, w.call)
		served++
		crowded = crowded || in.Calls > 1
	}
	s.demand.queue = slices.Delete(s.demand.queue, 0, served)
	s.fill(now, crowded)
}

// settleSessions does the work of settle for one process per session. It handles the queue in
// order: an earlier call may replace an idle instance that a later call could have used. Otherwise
// a busy session could starve the others.
func (s *state) settleSessions(now time.Time) {
	s.demand.queue = slices.DeleteFunc(s.demand.queue, func(w waiter) bool {
		if in := s.pool.pick(w.session); in != nil {
			s.assignTo(in, w.call)
			return true
		}
		if room, evict := s.pool.roomFor(w.session); room && !now.Before(s.health.backoff) && !s.refused.holds(now, w.session) {
			if evict != nil {
				s.drain(now, evict, tool.InstanceDraining, "another session needs its place")
			}
			s.launch(now, s.revision, w.session)
		}
		return false
	})
}

// fill starts the instances that are missing in the pool. crowded says that a call was assigned to
// an instance that already had one.
func (s *state) fill(now time.Time, crowded bool) {
	if s.cfg.Isolation.keyed() || now.Before(s.health.backoff) || s.refused.holds(now, "") {
		return
	}
	ready, starting := s.pool.counts()
	target := 0
	if s.cfg.Isolation == PerCall {
		target = s.demand.perCallTarget(now, &s.pool)
	} else {
		target = s.demand.sharedTarget(&s.pool, ready, crowded)
	}
	for range min(target, s.cfg.MaxInstances) - ready - starting {
		s.launch(now, s.revision, "")
	}
}

// assignTo gives a call to an instance.
func (s *state) assignTo(in *Instance, call CallRef) {
	in.Calls++
	in.Total++
	s.calls[call] = in
	s.outbox.assign(call, in)
}

// rejectAll ends the calls that wait.
func (s *state) rejectAll(err *tool.Error) {
	for _, w := range s.demand.queue {
		s.outbox.reject(w.call, err)
	}
	s.demand.queue = nil
}
