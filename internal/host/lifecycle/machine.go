package lifecycle

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// Machine is the state machine of one plugin and its instances for one tenant: each tenant that uses
// the plugin has a Machine, so that it has its own queue, crashes and quarantine. A Machine is not
// safe for concurrent use.
// Its driver passes events with its methods, in the order in which they happened, and executes the
// actions that they return, in order. Times must not go back.
//
// A method of Machine handles one event. Transitions that several events share are methods of
// state, and each part of the state has a type: the pool of instances, the demand of calls, the
// health of the plugin, and the outbox of actions.
type Machine struct{ state }

// state is the state of a Machine.
type state struct {
	name string
	cfg  Config

	revision string // the digest that takes calls
	previous string // the digest before it, for a rollback; empty: none

	paused   bool
	closed   bool
	disabled string // why the plugin takes no calls; empty: it does

	launches   uint64 // instances that have become ready
	calls      map[CallRef]*Instance
	stuck      map[CallRef]struct{} // the calls that have not stopped after a cancel
	replacing  *replacement         // nil: none
	renewing   bool                 // outdated instances may still take calls; see renew
	notRenewed string               // why the last renewal failed; empty: it did not
	refused    refusals

	pool
	demand
	health
	outbox
}

// New returns a machine without instances. random makes the jitter of backoffs. number returns the
// number of the next instance. Machines of one plugin share it, because they must not give the same
// id to two instances. nil: the machine counts its own instances.
func New(name, revision string, cfg Config, random *rand.Rand, number func() int) *Machine {
	m := &Machine{state{
		name: name, revision: revision, cfg: cfg.withDefaults(),
		calls: map[CallRef]*Instance{}, stuck: map[CallRef]struct{}{}, refused: refusals{},
	}}
	m.pool = newPool(&m.cfg, number)
	m.demand.cfg = &m.cfg
	m.health = health{cfg: &m.cfg, rand: random}
	return m
}

// String names the machine in messages.
func (m *Machine) String() string { return fmt.Sprintf("plugin %q", m.name) }

// State returns the state of the plugin. If the plugin refuses calls or makes them wait, it also
// returns the reason.
func (m *Machine) State(now time.Time) (plugin tool.PluginState, reason string) {
	return m.current(now)
}

// Revision returns the digest that takes calls, and the one before it; empty: none.
func (m *Machine) Revision() (current, previous string) { return m.revision, m.previous }

// Launched reports whether an instance was ever launched, ready or not.
func (m *Machine) Launched() bool { return m.launched }

// Calm reports whether the machine has nothing that a new one would not have: no instance, no call,
// and no crash that still counts for a backoff or a quarantine.
func (m *Machine) Calm(now time.Time) bool {
	old := len(m.crashes) == 0 || now.Sub(m.crashes[len(m.crashes)-1]) > m.cfg.CrashWindow
	return len(m.order)+len(m.queue)+len(m.calls) == 0 && m.replacing == nil && m.quarantine == "" && old && !now.Before(m.backoff)
}

// Launches returns how many instances have become ready.
func (m *Machine) Launches() uint64 { return m.launches }

// Queued returns how many calls wait for an instance.
func (m *Machine) Queued() int { return len(m.queue) }

// Replacing returns the instance that starts in order to replace the others, by an upgrade, a
// rollback or a restart; empty: there is none.
func (m *Machine) Replacing() string {
	if m.replacing == nil {
		return ""
	}
	return m.replacing.instance
}

// RetryTime returns when a backoff ends or a quarantined plugin is probed; zero: neither happens.
func (m *Machine) RetryTime(now time.Time) time.Time {
	switch plugin, _ := m.current(now); plugin {
	case tool.PluginQuarantined:
		return m.probeDue()
	case tool.PluginBackingOff:
		return m.backoff
	default:
		return time.Time{}
	}
}

// Wake returns when the driver has to call Tick next; zero: not at all. Every event can change it.
func (m *Machine) Wake() time.Time {
	var next time.Time
	if m.quarantine != "" {
		next = m.probeDue()
	}
	if !m.refuses() {
		next = earlier(earlier(earlier(next, m.backoff), m.refill), m.refused.wake())
	}
	ready, _ := m.counts()
	for _, in := range m.order {
		next = earlier(next, m.due(in, ready))
	}
	return next
}

// Tick tells the machine the current time. The driver calls it at the time that Wake returned, or
// later.
func (m *Machine) Tick(now time.Time) []Action {
	m.startProbe(now)
	if m.cfg.Isolation == PerCall && m.cfg.IdleTimeout > 0 && now.Sub(m.lastCall) >= m.cfg.IdleTimeout {
		m.inUse = false // no call came for a while, so that the pool need not be warm
	}
	for _, in := range m.order {
		m.age(now, in)
	}
	if !now.Before(m.backoff) {
		m.backoff = time.Time{}
	}
	if !now.Before(m.refill) {
		m.refill = time.Time{}
	}
	m.refused.expire(now)
	m.settle(now)
	return m.take()
}

// current is Machine.State.
func (s *state) current(now time.Time) (plugin tool.PluginState, reason string) {
	switch {
	case s.disabled != "":
		return tool.PluginDisabled, s.disabled
	case s.quarantine != "":
		return tool.PluginQuarantined, s.quarantine
	case s.paused:
		return tool.PluginPaused, ByOperator + "paused it"
	}
	if ready, _ := s.counts(); now.Before(s.backoff) && ready == 0 {
		// see RetryTime
		return tool.PluginBackingOff, fmt.Sprintf("it crashed %d times in a row", s.streak)
	}
	return tool.PluginEnabled, ""
}

// refuses reports whether the plugin takes no calls.
func (s *state) refuses() bool { return s.disabled != "" || s.quarantine != "" || s.paused }

// refusal returns why the plugin takes no calls, or nil.
func (s *state) refusal(now time.Time) *tool.Error {
	if !s.refuses() {
		return nil
	}
	plugin, reason := s.current(now)
	err := tool.Errorf(tool.KindUnavailable, "the plugin %q is %s: %s", s.name, plugin, reason)
	err.Plugin = s.name
	if plugin == tool.PluginQuarantined {
		err.RetryAfter = s.untilProven(now)
	}
	return err
}

// event adds an event of an instance, or of the plugin if in is nil.
func (s *state) event(now time.Time, t EventType, in *Instance, reason string) {
	s.addEvent(now, t, in, s.revision, reason)
}

// age stops, recycles or enables an instance if its time has come.
func (s *state) age(now time.Time, in *Instance) {
	ready, _ := s.counts()
	due := s.due(in, ready)
	if due.IsZero() || now.Before(due) {
		return
	}
	switch {
	case in.State != tool.InstanceReady:
		s.stop(now, in, in.Reason, false)
	case in.probe:
		s.enable(now, "a probe lived")
		s.age(now, in)
	case !now.Before(s.oldAt(in)) && s.cfg.RecycleAfterAge > 0:
		s.recycle(now, in, "it has reached its age")
	default:
		s.drain(now, in, tool.InstanceDraining, "it was idle")
	}
}

// due returns the time at which age has to act on an instance; zero: never. ready is the number of
// ready instances.
func (s *state) due(in *Instance, ready int) time.Time {
	switch {
	case in.ending():
		return in.drainBy
	case in.State != tool.InstanceReady:
		return time.Time{}
	case in.probe:
		return in.ReadyAt.Add(s.cfg.StableAfter)
	default:
		return earlier(s.oldAt(in), s.idleAt(in, ready))
	}
}

// earlier returns the earlier of two times. Zero is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// outbox collects the actions of one event.
type outbox struct{ actions []Action }

// take returns the actions and empties the outbox.
func (o *outbox) take() []Action {
	actions := o.actions
	o.actions = nil
	return actions
}

func (o *outbox) add(a Action) { o.actions = append(o.actions, a) }

// addEvent adds the event that something happened to an instance, or to the plugin if in is nil.
func (o *outbox) addEvent(now time.Time, t EventType, in *Instance, revision, reason string) {
	e := Event{Time: now, Type: t, Reason: reason, Revision: revision}
	if in != nil {
		e.Instance, e.Revision = in.ID, in.Revision
	}
	o.add(Action{Event: &e})
}

// assign gives a call to an instance.
func (o *outbox) assign(call CallRef, in *Instance) {
	if o.actions != nil {
		o.add(Action{Assign: &Assign{Call: call, Instance: in.ID}})
		return
	}
	usual := &struct { // nearly every call needs just this: one allocation instead of two
		actions [1]Action
		assign  Assign
	}{assign: Assign{Call: call, Instance: in.ID}}
	usual.actions[0].Assign = &usual.assign
	o.actions = usual.actions[:]
}

// reject ends a call with a copy of the error, which the driver may change.
func (o *outbox) reject(call CallRef, err *tool.Error) {
	copied := *err
	o.add(Action{Reject: &Reject{Call: call, Err: &copied}})
}
