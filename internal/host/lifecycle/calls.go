package lifecycle

import (
	"slices"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// Acquire reports that a call needs an instance. The machine answers with Assign or Reject, now or
// later, unless the call leaves first.
func (m *Machine) Acquire(now time.Time, call CallRef, session string) []Action {
	if m.refuses() {
		m.reject(call, m.refusal(now))
		return m.take()
	}
	before := m.inUse
	m.inUse, m.lastCall = true, now
	// This call overtakes none: if the instance could serve a call that waits, that call would have
	// it.
	if in := m.pick(session); in != nil {
		m.assignTo(in, call)
		m.postpone(now)
		m.fill(now, in.Calls > 1)
		return m.take()
	}
	if refused := m.held(now, session); refused != nil {
		m.reject(call, refused)
		return m.take()
	}
	if before {
		m.emptyAt = now
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

// MaxQueue returns how many calls may wait for an instance. The machine rejects further ones.
func (m *Machine) MaxQueue() int { return m.cfg.MaxQueue }

// Leave reports that a call no longer waits for an instance. It does nothing if the call was
// assigned or rejected.
func (m *Machine) Leave(_ time.Time, call CallRef) []Action {
	m.leave(call)
	return m.take()
}

// Release reports that a call no longer uses its instance, which may have exited.
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
		m.refill = now.Add(answerDelay)
	}
	switch {
	case in.stalled() && in.stuck == 0:
		m.recover(now, in)
	case in.State == tool.InstanceReady && m.exhausted(in):
		m.recycle(now, in, "it has made its number of calls")
	case in.ending() && in.Calls == 0:
		m.stop(now, in, in.Reason, false)
	}
	m.settle(now)
	return m.take()
}

// Stuck reports that a call has not stopped for a while after a cancel. Its instance takes no new
// calls until the driver reports Release or Unyielding. Stuck does nothing if the call was
// released.
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

// Unyielding reports that a call of the instance did not stop in time after a cancel. The instance
// takes no new calls, and stops after its other calls. The driver releases the call after this.
// Until then, the machine treats it like the other calls.
func (m *Machine) Unyielding(now time.Time, instance, reason string) []Action {
	if in := m.instances[instance]; in != nil {
		m.drain(now, in, tool.InstanceUnhealthy, reason)
		m.settle(now)
	}
	return m.take()
}

// recover makes a stalled instance take calls again. If other instances have replaced it meanwhile,
// it finishes its calls and stops.
func (s *state) recover(now time.Time, in *Instance) {
	in.State = tool.InstanceReady
	switch {
	case s.fullWithout(in):
		s.recycle(now, in, "others took its place while a call of its did not stop")
	case s.exhausted(in):
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
	for _, w := range s.queue {
		in := s.pick(w.session)
		if in == nil {
			break // no other call can have one either
		}
		s.assignTo(in, w.call)
		served++
		crowded = crowded || in.Calls > 1
	}
	s.queue = slices.Delete(s.queue, 0, served)
	s.fill(now, crowded)
}

// settleSessions does the work of settle for one process per session. It handles the queue in
// order: an earlier call may replace an idle instance that a later call could have used. Otherwise
// a busy session could starve the others.
func (s *state) settleSessions(now time.Time) {
	s.queue = slices.DeleteFunc(s.queue, func(w waiter) bool {
		if in := s.pick(w.session); in != nil {
			s.assignTo(in, w.call)
			return true
		}
		if room, evict := s.roomFor(w.session); room && !now.Before(s.backoff) && !s.refused.holds(now, w.session) {
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
	if s.cfg.Isolation.keyed() || now.Before(s.backoff) || s.refused.holds(now, "") {
		return
	}
	ready, starting := s.counts()
	target := 0
	if s.cfg.Isolation == PerCall {
		target = s.perCallTarget(now, &s.pool)
	} else {
		target = s.sharedTarget(&s.pool, ready, crowded)
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
	s.assign(call, in)
}

// rejectAll ends the calls that wait.
func (s *state) rejectAll(err *tool.Error) {
	for _, w := range s.queue {
		s.reject(w.call, err)
	}
	s.queue = nil
}
