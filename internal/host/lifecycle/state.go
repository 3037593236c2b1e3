package lifecycle

import (
	"fmt"
	"slices"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// State returns what is done with the plugin, and why if it takes no calls or lets them wait.
func (m *Machine) State(now time.Time) (state tool.PluginState, reason string) {
	switch {
	case m.disabled != "":
		return tool.PluginDisabled, m.disabled
	case m.quarantine != "":
		return tool.PluginQuarantined, m.quarantine
	case m.paused:
		return tool.PluginPaused, "an operator paused it"
	case now.Before(m.backoff) && m.serving() == 0:
		return tool.PluginBackingOff, fmt.Sprintf("it crashed %d times in a row", m.row) // when it is started again, RetryTime says
	default:
		return tool.PluginEnabled, ""
	}
}

// Instances returns the instances that have not exited, in the order of their making.
func (m *Machine) Instances() []*Instance { return slices.Clone(m.order) }

// Revision returns the digest that takes calls, and the one before it, if any.
func (m *Machine) Revision() (current, previous string) { return m.revision, m.previous }

// Launched reports whether an instance was ever launched, ready or not.
func (m *Machine) Launched() bool { return m.numbered > 0 }

// Replacing returns the instance that is on its way to replace the others, by an upgrade, a rollback or a restart; empty
// if there is none.
func (m *Machine) Replacing() string {
	if m.replacing == nil {
		return ""
	}
	return m.replacing.instance
}

// Launches returns how many instances have become ready so far.
func (m *Machine) Launches() uint64 { return m.launches }

// Queued returns how many calls wait for an instance.
func (m *Machine) Queued() int { return len(m.queue) }

// String names the machine in messages.
func (m *Machine) String() string { return fmt.Sprintf("plugin %q", m.name) }

// refusal says why the plugin takes no calls, or nil.
func (m *Machine) refusal(now time.Time) *tool.Error {
	if !m.refused() {
		return nil
	}
	state, reason := m.State(now)
	err := tool.Errorf(tool.KindUnavailable, "the plugin %q is %s: %s", m.name, state, reason)
	err.Plugin = m.name
	if state == tool.PluginQuarantined {
		err.RetryAfter = m.untilProven(now)
	}
	return err
}

// untilProven returns in how long a quarantined plugin can be known to live; 0 if nothing is going to try.
func (m *Machine) untilProven(now time.Time) time.Duration {
	if m.probeAt.After(now) {
		return m.probeAt.Sub(now) + m.cfg.StableAfter
	}
	for _, in := range m.order {
		if in.probe && in.State == tool.InstanceReady {
			return max(m.cfg.StableAfter-now.Sub(in.ReadyAt), 0)
		}
	}
	if m.cfg.ProbeAfter < 0 {
		return 0
	}
	return m.cfg.StableAfter
}

// standing reports whether the instance takes calls, or is on its way to that.
func (in *Instance) standing() bool {
	return in.State == tool.InstanceStarting || in.State == tool.InstanceReady
}

// suspect reports whether the instance takes no calls only as long as one does not stop.
func (in *Instance) suspect() bool { return in.State == tool.InstanceUnhealthy && in.Reason == "" }

// ending reports whether the instance takes no calls any more, and is to be stopped with its last one.
func (in *Instance) ending() bool {
	return in.State == tool.InstanceDraining || in.State == tool.InstanceUnhealthy && in.Reason != ""
}

// suspects counts the instances of the pool that may take calls again.
func (m *Machine) suspects() int {
	n := 0
	for _, in := range m.order {
		if in.suspect() {
			n++
		}
	}
	return n
}

// serving counts the instances that take calls.
func (m *Machine) serving() int {
	ready, _ := m.standing()
	return ready
}

// standing counts the instances of the pool that are ready or on their way.
func (m *Machine) standing() (ready, starting int) {
	for _, in := range m.order {
		switch {
		case in.replaces:
		case in.State == tool.InstanceReady:
			ready++
		case in.State == tool.InstanceStarting:
			starting++
		}
	}
	return ready, starting
}

// RetryTime returns when a backoff ends or a quarantined plugin is probed; zero if neither.
func (m *Machine) RetryTime(now time.Time) time.Time {
	switch state, _ := m.State(now); state {
	case tool.PluginQuarantined:
		return m.probeDue()
	case tool.PluginBackingOff:
		return m.backoff
	default:
		return time.Time{}
	}
}
