package lifecycle

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// Machine is the state machine of one plugin and its instances for one tenant: each tenant that
// uses the plugin has a Machine, so that it has its own queue, crashes and quarantine. A Machine is
// not safe for concurrent use. Its driver passes events with its methods, in the order in which
// they happened, and executes the actions that they return, in order. Times must not go back.
//
// A method of Machine handles one event. Transitions that several events share are methods of
// state, and each part of the state has a type: the pool of instances, the demand of calls, the
// health of the plugin, and the outbox of actions.
type Machine struct{ state state }

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

	pool   pool
	demand demand
	health health
	outbox outbox
}

// New returns a machine without instances. random makes the jitter of backoffs. number returns the
// number of the next instance. Machines of one plugin share it, because they must not give the same
// id to two instances. nil: the machine counts its own instances.
func New(name, revision string, cfg Config, random *rand.Rand, number func() int) *Machine {
	m := &Machine{state{
		name: name, revision: revision, cfg: cfg.withDefaults(),
		calls: map[CallRef]*Instance{}, stuck: map[CallRef]struct{}{}, refused: refusals{},
	}}
	m.state.pool = newPool(&m.state.cfg, number)
	m.state.demand.cfg = &m.state.cfg
	m.state.health = health{cfg: &m.state.cfg, rand: random}
	return m
}

// String names the machine in messages.
func (m *Machine) String() string { return fmt.Sprintf("plugin %q", m.state.name) }

// Report is what operators want to know of a machine.
type Report struct {
	State    tool.PluginState
	Reason   string    // why the plugin refuses calls or makes them wait; empty: it does neither
	Retry    time.Time // when a backoff ends or a quarantined plugin is probed; zero: neither happens
	Launched bool      // an instance was ever launched, ready or not
	Launches uint64    // instances that have become ready
	Queued   int       // calls that wait for an instance
	MaxQueue int       // how many calls may wait; the machine rejects further ones
	// Renewing says that instances with an earlier configuration may still take calls. If they may
	// not, NotRenewed says why no new instance replaced them; empty: one did, or there were none.
	Renewing   bool
	NotRenewed string
}

// Report describes the machine at a time.
func (m *Machine) Report(now time.Time) Report {
	s := &m.state
	r := Report{
		Launched: s.pool.launched, Launches: s.launches, Queued: len(s.demand.queue), MaxQueue: s.cfg.MaxQueue,
		Renewing: s.renewing, NotRenewed: s.notRenewed,
	}
	r.State, r.Reason = s.current(now)
	switch r.State {
	case tool.PluginQuarantined:
		r.Retry = s.probeDue()
	case tool.PluginBackingOff:
		r.Retry = s.health.backoff
	}
	return r
}

// Revision returns the digest that takes calls, and the one before it; empty: none.
func (m *Machine) Revision() (current, previous string) { return m.state.revision, m.state.previous }

// Calm reports whether the machine has nothing that a new one would not have: no instance, no call,
// and no crash that still counts for a backoff or a quarantine.
func (m *Machine) Calm(now time.Time) bool {
	old := len(m.state.health.crashes) == 0 || now.Sub(m.state.health.crashes[len(m.state.health.crashes)-1]) > m.state.cfg.CrashWindow
	return len(m.state.pool.order)+len(m.state.demand.queue)+len(m.state.calls) == 0 && m.state.replacing == nil && m.state.health.quarantine == "" && old && !now.Before(m.state.health.backoff)
}

// Replacing returns the instance that starts in order to replace the others, by an upgrade, a
// rollback or a restart; empty: there is none.
func (m *Machine) Replacing() string {
	if m.state.replacing == nil {
		return ""
	}
	return m.state.replacing.instance
}

// Wake returns when the driver has to call Tick next; zero: not at all. Every event can change it.
func (m *Machine) Wake() time.Time {
	var next time.Time
	if m.state.health.quarantine != "" {
		next = m.state.probeDue()
	}
	if !m.state.refuses() {
		next = earlier(earlier(earlier(next, m.state.health.backoff), m.state.demand.refill), m.state.refused.wake())
	}
	ready, _ := m.state.pool.counts()
	for _, in := range m.state.pool.order {
		next = earlier(next, m.state.due(in, ready))
	}
	return next
}

// Tick tells the machine the current time. The driver calls it at the time that Wake returned, or
// later.
func (m *Machine) Tick(now time.Time) []Action {
	m.state.startProbe(now)
	if m.state.cfg.Isolation == PerCall && m.state.cfg.IdleTimeout > 0 && now.Sub(m.state.demand.lastCall) >= m.state.cfg.IdleTimeout {
		m.state.demand.inUse = false // no call came for a while, so that the pool need not be warm
	}
	for _, in := range m.state.pool.order {
		m.state.age(now, in)
	}
	if !now.Before(m.state.health.backoff) {
		m.state.health.backoff = time.Time{}
	}
	if !now.Before(m.state.demand.refill) {
		m.state.demand.refill = time.Time{}
	}
	m.state.refused.expire(now)
	m.state.settle(now)
	return m.state.outbox.take()
}

// current is Machine.State.
func (s *state) current(now time.Time) (plugin tool.PluginState, reason string) {
	switch {
	case s.disabled != "":
		return tool.PluginDisabled, s.disabled
	case s.health.quarantine != "":
		return tool.PluginQuarantined, s.health.quarantine
	case s.paused:
		return tool.PluginPaused, ByOperator + "paused it"
	}
	if ready, _ := s.pool.counts(); now.Before(s.health.backoff) && ready == 0 {
		// see RetryTime
		return tool.PluginBackingOff, fmt.Sprintf("it crashed %d times in a row", s.health.streak)
	}
	return tool.PluginEnabled, ""
}

// refuses reports whether the plugin takes no calls.
func (s *state) refuses() bool { return s.disabled != "" || s.health.quarantine != "" || s.paused }

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
	s.outbox.addEvent(now, t, in, s.revision, reason)
}

// age stops, recycles or enables an instance if its time has come.
func (s *state) age(now time.Time, in *Instance) {
	ready, _ := s.pool.counts()
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
	case !now.Before(s.pool.oldAt(in)) && s.cfg.RecycleAfterAge > 0:
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
		return earlier(s.pool.oldAt(in), s.demand.idleAt(in, ready))
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
