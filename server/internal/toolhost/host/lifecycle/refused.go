package lifecycle

import (
	"time"

	"github.com/toolhost/toolhost/tool"
)

const (
	// heldLaunch is how long no instance is launched after a launch that was refused while calls
	// waited. It keeps a full quota from causing one attempt for each call.
	heldLaunch = time.Second
	// heldRefill is how long no instance is launched after a refused launch for which no call waited.
	// The next call ends that time.
	heldRefill = 30 * time.Second
)

// refusals are the launches that the driver refused just now, by session. The session is empty
// unless Isolation.keyed.
type refusals map[string]refusal

type refusal struct {
	until time.Time
	ends  time.Time   // when there may be room again
	err   *tool.Error // for calls that come meanwhile; nil: no call waited for the launch
}

// holds reports whether no instance is to be launched for a session.
func (r refusals) holds(now time.Time, session string) bool { return now.Before(r[session].until) }

// wake returns when the next refusal ends; zero: there is none.
func (r refusals) wake() (next time.Time) {
	for _, one := range r {
		next = earlier(next, one.until)
	}
	return next
}

// expire removes the refusals that have ended.
func (r refusals) expire(now time.Time) {
	for session, one := range r {
		if !now.Before(one.until) {
			delete(r, session)
		}
	}
}

// LaunchRefused reports that the driver starts no process for an instance, because a bound such as
// a quota is full. That is no crash: it causes no backoff and no quarantine.
//
// The calls that waited for the instance are rejected with err, and so are those that come within
// the next second. Calls that another instance of the pool may serve continue to wait.
func (m *Machine) LaunchRefused(now time.Time, instance string, err *tool.Error) []Action {
	in := m.state.pool.instances[instance]
	if in == nil {
		return m.state.outbox.take()
	}
	if m.state.pool.remove(in) == tool.InstanceStopping {
		m.state.event(now, EventExited, in, in.Reason)
	} else {
		m.state.event(now, EventLaunchRefused, in, err.Message)
		if !in.replaces { // otherwise no call waited for it
			m.state.hold(now, in.session, err)
		}
	}
	if r := m.state.replacing; r != nil && r.instance == in.ID {
		m.state.failReplacement(now, err.Message)
	}
	if in.probe && m.state.health.quarantine != "" {
		m.state.health.scheduleProbe(now) // the probe ended before it could show anything
	}
	m.state.settle(now)
	return m.state.outbox.take()
}

// hold rejects the calls that waited for an instance that is not launched, and delays the next
// launch.
func (s *state) hold(now time.Time, session string, err *tool.Error) {
	s.refused.expire(now)
	r := refusal{until: now.Add(heldRefill)}
	if s.demand.needs(session) {
		r = refusal{until: now.Add(heldLaunch), ends: now.Add(err.RetryAfter), err: err}
	}
	s.refused[session] = r
	s.rejectWaiting(now, session, err)
}

// needs reports whether a call waits for an instance of a session.
func (d *demand) needs(session string) bool {
	for _, w := range d.queue {
		if !d.cfg.Isolation.keyed() || w.session == session {
			return true
		}
	}
	return false
}

// held returns why a new call gets no instance, or nil if the call may wait for one. If no call
// waited for the refused launch, the new call ends the hold.
func (s *state) held(now time.Time, session string) *tool.Error {
	key := s.cfg.keyOf(session)
	r, known := s.refused[key]
	if known && r.err == nil {
		delete(s.refused, key)
	}
	if r.err == nil || !now.Before(r.until) || s.pool.mayServe(session) {
		return nil
	}
	err := *r.err
	err.RetryAfter = max(r.ends.Sub(now), 0)
	return &err
}

// keyOf returns the key of a session in refused.
func (c *Config) keyOf(session string) string {
	if c.Isolation.keyed() {
		return session
	}
	return ""
}

// mayServe reports whether an instance that starts or takes calls may serve a call of a session
// later, so that the call need not be rejected if another instance does not start.
func (p *pool) mayServe(session string) bool {
	for _, in := range p.order {
		switch {
		case in.replaces:
		case p.cfg.Isolation.keyed():
			if in.session == session && in.active() {
				return true
			}
		case in.State == tool.InstanceStarting, in.State == tool.InstanceReady && p.cfg.Isolation == Shared:
			return true
		}
	}
	return false
}

// Evict stops an idle instance, because another plugin or tenant needs its place. It does nothing
// if the instance has a call.
func (m *Machine) Evict(now time.Time, instance, reason string) []Action {
	in := m.state.pool.instances[instance]
	if in == nil || !in.idle() {
		return m.state.outbox.take()
	}
	m.state.drain(now, in, tool.InstanceDraining, reason)
	m.state.demand.cool(len(m.state.calls))
	m.state.settle(now)
	return m.state.outbox.take()
}

// Yield makes the instance with the fewest calls take no new ones, because another tenant needs its
// place. The calls that it has finish, however long they take.
func (m *Machine) Yield(now time.Time, reason string) []Action {
	var least *Instance
	for _, in := range m.state.pool.order {
		if in.State == tool.InstanceReady && !in.replaces && !in.probe && (least == nil || in.Calls < least.Calls) {
			least = in
		}
	}
	if least != nil {
		m.state.recycle(now, least, reason)
		m.state.demand.cool(len(m.state.calls))
		m.state.settle(now)
	}
	return m.state.outbox.take()
}

// Idle returns the instances that Evict would stop.
func (m *Machine) Idle() []*Instance {
	var idle []*Instance
	for _, in := range m.state.pool.order {
		if in.idle() {
			idle = append(idle, in)
		}
	}
	return idle
}

// idle reports whether the instance takes calls and has none.
func (in *Instance) idle() bool {
	return in.State == tool.InstanceReady && in.Calls == 0 && !in.replaces && !in.probe
}

// Ending reports whether the instance will exit with its last call, or is about to exit.
func (in *Instance) Ending() bool { return in.ending() || in.State == tool.InstanceStopping }

// IdleFrom returns when the last call of the instance ended, or when it became ready.
func (in *Instance) IdleFrom() time.Time { return in.idleFrom }

// cool keeps a pool without calls from starting an instance in place of one that had to go.
func (d *demand) cool(calls int) {
	if calls == 0 && len(d.queue) == 0 {
		d.inUse = false
	}
}
