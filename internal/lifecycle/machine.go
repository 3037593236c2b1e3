package lifecycle

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// Machine is the state of one plugin and its instances. It is not safe for concurrent use: its driver orders what it
// is told. Each method that tells it something returns what is to be done about it, in order; times must not go back.
type Machine struct {
	name string
	cfg  Config
	rand *rand.Rand

	revision string // the digest that takes calls
	previous string // the one before, to go back to; empty if there was none

	paused     bool
	disabled   string // why the plugin takes no calls at all; empty if it does
	quarantine string // why the plugin is quarantined; empty if it is not
	probeAt    time.Time
	probes     int       // in this quarantine
	backoff    time.Time // no launch before
	row        int       // crashes in a row
	crashes    []time.Time

	instances map[string]*Instance
	numbered  int
	launches  uint64
	inUse     bool // a call came since the plugin was enabled: keep its pool warm

	queue []waiter
	calls map[CallRef]*Instance

	replacing *replacement

	actions []Action // of the method that runs
}

// Instance is what a Machine knows of one process. Its driver may read it between calls of the machine's methods.
type Instance struct {
	ID       string
	Revision string
	State    tool.InstanceState
	Reason   string // why it is ending; empty if it is not
	Created  time.Time
	ReadyAt  time.Time
	Calls    int // now
	Total    uint64

	session  string    // PerSession: whose it is
	idleFrom time.Time // since it has had no call
	drainBy  time.Time // when draining ends
	probe    bool
	replaces bool // launched by a replacement that has not flipped
}

// waiter is a call that waits for an instance.
type waiter struct {
	call    CallRef
	session string
}

// replacement is an upgrade, a rollback or a restart under way: new instances are warmed before the old ones drain.
type replacement struct {
	revision string
	restart  bool
	instance string // that has to be ready before routing flips
}

// New returns the machine of a plugin that has no instances. random decides the jitter of backoffs.
func New(name, revision string, cfg Config, random *rand.Rand) *Machine {
	return &Machine{
		name: name, revision: revision, cfg: cfg.withDefaults(), rand: random,
		instances: map[string]*Instance{}, calls: map[CallRef]*Instance{},
	}
}

// take returns the actions that were gathered.
func (m *Machine) take() []Action {
	actions := m.actions
	m.actions = nil
	return actions
}

func (m *Machine) do(a Action) { m.actions = append(m.actions, a) }

func (m *Machine) event(now time.Time, t EventType, in *Instance, reason string) {
	e := Event{Time: now, Type: t, Reason: reason, Revision: m.revision}
	if in != nil {
		e.Instance, e.Revision = in.ID, in.Revision
	}
	m.do(Action{Event: &e})
}

// State returns what is done with the plugin, and why if it takes no calls.
func (m *Machine) State(now time.Time) (state tool.PluginState, reason string) {
	switch {
	case m.disabled != "":
		return tool.PluginDisabled, m.disabled
	case m.quarantine != "":
		return tool.PluginQuarantined, m.quarantine
	case m.paused:
		return tool.PluginPaused, "an operator paused it"
	case now.Before(m.backoff) && m.serving() == 0:
		return tool.PluginBackingOff, fmt.Sprintf("it crashed %d times in a row; the next start is tried at %s", m.row, m.backoff.Format(time.RFC3339))
	default:
		return tool.PluginEnabled, ""
	}
}

// Instances returns the instances that have not exited, in the order of their making.
func (m *Machine) Instances() []*Instance {
	all := make([]*Instance, 0, len(m.instances))
	for _, in := range m.instances {
		all = append(all, in)
	}
	slices.SortFunc(all, func(a, b *Instance) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// Revision returns the digest that takes calls, and the one before it, if any.
func (m *Machine) Revision() (current, previous string) { return m.revision, m.previous }

// Launches returns how many instances have become ready so far.
func (m *Machine) Launches() uint64 { return m.launches }

// Queued returns how many calls wait for an instance.
func (m *Machine) Queued() int { return len(m.queue) }

// serving counts the instances that take calls.
func (m *Machine) serving() int {
	n := 0
	for _, in := range m.instances {
		if in.State == tool.InstanceReady {
			n++
		}
	}
	return n
}

// standing counts the instances of the current revision that are ready or on their way.
func (m *Machine) standing() (ready, starting int) {
	for _, in := range m.instances {
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

func (m *Machine) launch(now time.Time, revision, session string) *Instance {
	m.numbered++
	in := &Instance{
		ID: fmt.Sprintf("%s-%d", m.name, m.numbered), Revision: revision, State: tool.InstanceStarting,
		Created: now, session: session,
	}
	m.instances[in.ID] = in
	m.event(now, EventLaunching, in, "")
	m.do(Action{Launch: &Launch{Instance: in.ID, Revision: revision}})
	return in
}

// drain lets an instance end its calls, and stops it.
func (m *Machine) drain(now time.Time, in *Instance, state tool.InstanceState, reason string) {
	if in.State == tool.InstanceDraining || in.State == tool.InstanceUnhealthy || in.State == tool.InstanceStopping {
		return
	}
	if in.State == tool.InstanceStarting {
		m.stop(now, in, reason, false)
		return
	}
	in.State, in.Reason, in.drainBy = state, reason, now.Add(m.cfg.DrainTimeout)
	kind := EventDraining
	if state == tool.InstanceUnhealthy {
		kind = EventUnhealthy
	}
	m.event(now, kind, in, reason)
	if in.Calls == 0 {
		m.stop(now, in, reason, false)
	}
}

// stop stops an instance now. Calls that it has are ended.
func (m *Machine) stop(now time.Time, in *Instance, reason string, force bool) {
	if in.State == tool.InstanceStopping {
		return
	}
	in.State = tool.InstanceStopping
	in.Reason = cmp.Or(in.Reason, reason)
	m.event(now, EventStopping, in, in.Reason)
	if in.Calls > 0 {
		m.do(Action{Cancel: &Cancel{Instance: in.ID, Reason: in.Reason}})
	}
	m.do(Action{Stop: &Stop{Instance: in.ID, Reason: in.Reason, Force: force}})
}
