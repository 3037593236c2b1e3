package lifecycle

import (
	"math/rand/v2"
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
	closed     bool
	disabled   string // why the plugin takes no calls at all; empty if it does
	quarantine string // why the plugin is quarantined; empty if it is not
	probeAt    time.Time
	probes     int       // in this quarantine
	backoff    time.Time // no launch before
	row        int       // crashes in a row
	crashes    []time.Time

	instances map[string]*Instance // that have not exited
	order     []*Instance          // the same, in the order of their making
	numbered  int
	launches  uint64
	inUse     bool      // a call came, and the plugin was not drained since: keep its pool warm
	lastCall  time.Time // when the last call came that was not refused
	refill    time.Time // PerCall: until when what a call took is not replaced, as long as it is alone; zero: it is
	dry       time.Time // PerCall: when a call last found a pool that was in use with nothing in it

	queue []waiter
	calls map[CallRef]*Instance
	stuck map[CallRef]struct{} // of those, the ones that were told to stop and have not yet

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
	drainBy  time.Time // when draining ends; zero: when its last call does
	stuck    int       // calls that were told to stop and have not yet
	probe    bool      // launched to find out whether a quarantined plugin lives
	replaces bool      // beside the pool, by a replacement that has not flipped
}

// waiter is a call that waits for an instance.
type waiter struct {
	call    CallRef
	session string
}

// replacement is an upgrade, a rollback or a restart under way: a new instance is warmed before the old ones drain.
type replacement struct {
	revision string
	why      change
	instance string // that has to be ready before routing flips
}

// change is why a replacement happens.
type change int

const (
	upgrade change = iota // to a revision that is new, or that an operator wants again
	rollback
	restart
)

// events returns what is said when a change begins, ends well and ends badly.
func (c change) events() (started, finished, failed EventType) {
	switch c {
	case rollback:
		return EventRollingBack, EventRolledBack, EventRollbackFailed
	case restart:
		return EventRestarting, EventRestarted, EventRestartFailed
	default:
		return EventUpgrading, EventUpgraded, EventUpgradeFailed
	}
}

// New returns the machine of a plugin that has no instances. random decides the jitter of backoffs.
func New(name, revision string, cfg Config, random *rand.Rand) *Machine {
	return &Machine{
		name: name, revision: revision, cfg: cfg.withDefaults(), rand: random,
		instances: map[string]*Instance{}, calls: map[CallRef]*Instance{}, stuck: map[CallRef]struct{}{},
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

// refused reports whether the plugin takes no calls.
func (m *Machine) refused() bool { return m.disabled != "" || m.quarantine != "" || m.paused }
