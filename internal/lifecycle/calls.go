package lifecycle

import (
	"slices"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// Acquire says that a call wants an instance. It is answered by Assign or Reject, now or later.
func (m *Machine) Acquire(now time.Time, call CallRef, session string) []Action {
	m.inUse = true
	if err := m.refusal(now); err != nil {
		m.do(Action{Reject: &Reject{Call: call, Err: err}})
		return m.take()
	}
	if len(m.queue) >= m.cfg.MaxQueue {
		m.do(Action{Reject: &Reject{Call: call, Err: tool.Errorf(tool.KindUnavailable,
			"%d calls wait for an instance of plugin %q already; try again later, or let more instances run", len(m.queue), m.name)}})
		return m.take()
	}
	m.queue = append(m.queue, waiter{call: call, session: session})
	m.settle(now)
	return m.take()
}

// refusal says why the plugin takes no calls, or nil.
func (m *Machine) refusal(now time.Time) *tool.Error {
	switch state, reason := m.State(now); state {
	case tool.PluginDisabled, tool.PluginPaused, tool.PluginQuarantined:
		err := tool.Errorf(tool.KindUnavailable, "the plugin %q is %s: %s", m.name, state, reason)
		if state == tool.PluginQuarantined && m.probeAt.After(now) {
			err.RetryAfter = m.probeAt.Sub(now)
		}
		return err
	default:
		return nil
	}
}

// Leave says that a call that waits for an instance does so no longer. It does nothing if the call was assigned.
func (m *Machine) Leave(now time.Time, call CallRef) []Action {
	m.queue = slices.DeleteFunc(m.queue, func(w waiter) bool { return w.call == call })
	return m.take()
}

// Release says that a call that was assigned has let go of its instance.
func (m *Machine) Release(now time.Time, call CallRef) []Action {
	in := m.calls[call]
	delete(m.calls, call)
	if in == nil {
		return m.take()
	}
	in.Calls--
	in.idleFrom = now
	switch in.State {
	case tool.InstanceReady:
		if m.cfg.RecycleAfterCalls > 0 && in.Total >= m.cfg.RecycleAfterCalls {
			m.drain(now, in, tool.InstanceDraining, "it has made its number of calls")
		}
	case tool.InstanceDraining, tool.InstanceUnhealthy:
		if in.Calls == 0 {
			m.stop(now, in, in.Reason, false)
		}
	}
	m.settle(now)
	return m.take()
}

// Unyielding says that a call of the instance did not stop when it was told to: the instance takes no new calls, lets
// its others end, and goes.
func (m *Machine) Unyielding(now time.Time, instance, reason string) []Action {
	if in := m.instances[instance]; in != nil {
		m.drain(now, in, tool.InstanceUnhealthy, reason)
		m.settle(now)
	}
	return m.take()
}

// settle gives waiting calls to instances and starts what is missing. It is called whenever anything changed.
func (m *Machine) settle(now time.Time) {
	if m.refusal(now) != nil {
		return
	}
	waiting := m.queue[:0]
	wanted := 0 // instances that the calls that go on waiting could use
	for i, w := range m.queue {
		if in := m.pick(w.session); in != nil {
			m.assign(now, in, w.call)
			continue
		}
		waiting = append(waiting, m.queue[i])
		if m.cfg.Isolation == PerSession {
			m.provide(now, w.session)
		}
		wanted++
	}
	m.queue = waiting
	m.fill(now, wanted)
}

func (m *Machine) assign(now time.Time, in *Instance, call CallRef) {
	in.Calls++
	in.Total++
	m.calls[call] = in
	m.do(Action{Assign: &Assign{Call: call, Instance: in.ID}})
}

// pick returns the instance with the fewest calls that may take one more, the oldest of several; nil if there is none.
func (m *Machine) pick(session string) *Instance {
	var best *Instance
	for _, in := range m.Instances() {
		switch {
		case in.State != tool.InstanceReady, in.replaces, in.probe && in.Calls > 0:
		case m.cfg.Isolation == PerSession && in.session != session:
		case m.cfg.MaxCallsPerInstance > 0 && in.Calls >= m.cfg.MaxCallsPerInstance:
		case m.cfg.RecycleAfterCalls > 0 && in.Total >= m.cfg.RecycleAfterCalls:
		case best == nil || in.Calls < best.Calls:
			best = in
		}
	}
	return best
}

// fill starts the instances that are missing for the calls that wait and for the pool.
func (m *Machine) fill(now time.Time, waiting int) {
	if now.Before(m.backoff) || m.cfg.Isolation == PerSession {
		return
	}
	ready, starting := m.standing()
	target := ready
	switch {
	case m.cfg.Isolation == PerCall:
		busy := 0
		for _, in := range m.instances {
			if in.State == tool.InstanceReady && in.Total > 0 {
				busy++
			}
		}
		target = busy + waiting
		if m.inUse {
			target += m.cfg.Prewarmed
		}
	case m.inUse:
		perInstance := max(m.cfg.MaxCallsPerInstance, 1)
		if m.cfg.MaxCallsPerInstance == 0 {
			perInstance = max(waiting, 1) // one takes them all
		}
		target = max(ready+(waiting+perInstance-1)/perInstance, m.cfg.MinInstances)
		target = max(target, m.spread(ready))
	}
	for range min(target, m.cfg.MaxInstances) - ready - starting {
		m.launch(now, m.revision, "")
	}
}

// spread returns how many instances the calls under way could use if there is no bound on calls per instance: one for
// each call, up to the pool's size.
func (m *Machine) spread(ready int) int {
	if m.cfg.MaxCallsPerInstance > 0 || m.cfg.MaxInstances <= 1 || ready == 0 {
		return 0
	}
	busy := 0
	for _, in := range m.instances {
		if in.State == tool.InstanceReady && !in.replaces {
			busy += in.Calls
		}
	}
	return busy
}

// provide starts an instance for a session that has none. If there are too many, the one that has been idle longest
// makes room.
func (m *Machine) provide(now time.Time, session string) {
	if now.Before(m.backoff) {
		return
	}
	var idle *Instance
	count := 0
	for _, in := range m.Instances() {
		if in.State != tool.InstanceStarting && in.State != tool.InstanceReady {
			continue
		}
		if in.session == session && !in.replaces {
			if in.State == tool.InstanceStarting || m.cfg.MaxCallsPerInstance > 0 {
				return // it comes, or it is the one that is busy
			}
		}
		count++
		if in.State == tool.InstanceReady && in.Calls == 0 && (idle == nil || in.idleFrom.Before(idle.idleFrom)) {
			idle = in
		}
	}
	if count >= m.cfg.MaxInstances {
		if idle == nil {
			return // the next that becomes idle makes room
		}
		m.drain(now, idle, tool.InstanceDraining, "another session needs its place")
	}
	m.launch(now, m.revision, session)
}
