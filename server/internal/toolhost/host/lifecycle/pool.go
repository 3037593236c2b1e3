package lifecycle

import (
	"fmt"
	"slices"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// Instance is what a Machine knows of one process. The driver may read it between events.
type Instance struct {
	ID       string
	Revision string
	State    tool.InstanceState
	Reason   string // why the instance is ending; empty: it is not
	Created  time.Time
	ReadyAt  time.Time
	Calls    int    // that it has now
	Total    uint64 // that it has had, the present ones included

	session  string    // the session that it belongs to, if Isolation.keyed
	idleFrom time.Time // since when it has had no call
	drainBy  time.Time // when draining ends; zero: with its last call
	stuck    int       // calls that have not stopped after a cancel
	probe    bool      // launched to find out whether a quarantined plugin works
	replaces bool      // started by a replacement that has not flipped; not part of the pool yet
	outdated bool      // its process was started with an earlier configuration
}

// active reports whether the instance takes calls or is starting.
func (in *Instance) active() bool {
	return in.State == tool.InstanceStarting || in.State == tool.InstanceReady
}

// stalled reports whether the instance takes no calls as long as one has not stopped after a
// cancel.
func (in *Instance) stalled() bool { return in.State == tool.InstanceUnhealthy && in.Reason == "" }

// ending reports whether the instance takes no more calls and stops with its last one.
func (in *Instance) ending() bool {
	return in.State == tool.InstanceDraining || in.State == tool.InstanceUnhealthy && in.Reason != ""
}

// pool contains the instances of a plugin that have not exited.
type pool struct {
	cfg       *Config
	instances map[string]*Instance
	order     []*Instance // the oldest first
	number    func() int  // returns the number of the next instance
	launched  bool        // an instance was ever made
}

func newPool(cfg *Config, number func() int) pool {
	if number == nil {
		last := 0
		number = func() int { last++; return last }
	}
	return pool{cfg: cfg, instances: map[string]*Instance{}, number: number}
}

// Instances returns the instances that have not exited, the oldest first.
func (m *Machine) Instances() []*Instance { return slices.Clone(m.state.pool.order) }

// add makes an instance that starts.
func (p *pool) add(now time.Time, plugin, revision, session string) *Instance {
	p.launched = true
	in := &Instance{
		ID: fmt.Sprintf("%s-%d", plugin, p.number()), Revision: revision, State: tool.InstanceStarting,
		Created: now, session: session,
	}
	p.instances[in.ID] = in
	p.order = append(p.order, in)
	return in
}

// remove removes an instance that has exited, and returns the state that it had.
func (p *pool) remove(in *Instance) tool.InstanceState {
	last := in.State
	in.State = tool.InstanceExited
	delete(p.instances, in.ID)
	p.order = slices.DeleteFunc(p.order, func(other *Instance) bool { return other == in })
	return last
}

// pick returns the instance with the fewest calls among those that may take one more, the oldest of
// several; nil if there is none.
func (p *pool) pick(session string) *Instance {
	var best *Instance
	for _, in := range p.order {
		switch {
		case in.State != tool.InstanceReady:
		case p.cfg.Isolation.keyed() && in.session != session:
		case p.cfg.MaxCallsPerInstance > 0 && in.Calls >= p.cfg.MaxCallsPerInstance:
		case p.exhausted(in):
		case best == nil || in.Calls < best.Calls:
			best = in
		}
	}
	return best
}

// exhausted reports whether the instance has had as many calls as it may.
func (p *pool) exhausted(in *Instance) bool {
	return p.cfg.RecycleAfterCalls > 0 && in.Total >= p.cfg.RecycleAfterCalls
}

// counts returns how many instances are ready and how many are starting.
func (p *pool) counts() (ready, starting int) {
	for _, in := range p.order {
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

// stalledCount returns how many instances may take calls again once their cancelled calls have
// stopped.
func (p *pool) stalledCount() int {
	n := 0
	for _, in := range p.order {
		if in.stalled() {
			n++
		}
	}
	return n
}

// busyCalls returns how many calls the ready instances have.
func (p *pool) busyCalls() int {
	busy := 0
	for _, in := range p.order {
		if in.State == tool.InstanceReady {
			busy += in.Calls
		}
	}
	return busy
}

// usedInstances returns how many ready instances have had a call.
func (p *pool) usedInstances() int {
	used := 0
	for _, in := range p.order {
		if in.State == tool.InstanceReady && in.Total > 0 {
			used++
		}
	}
	return used
}

// fullWithout reports whether the pool is full without an instance.
func (p *pool) fullWithout(in *Instance) bool {
	others := 0
	for _, other := range p.order {
		if other == in || other.replaces || !other.active() {
			continue
		}
		if p.cfg.Isolation.keyed() && other.session == in.session {
			return true
		}
		others++
	}
	return others >= p.cfg.MaxInstances
}

// roomFor returns whether a session needs an instance and there is room for one. If the pool is
// full, it returns the instance that has been idle longest, which has to stop first.
func (p *pool) roomFor(session string) (room bool, evict *Instance) {
	active := 0
	for _, in := range p.order {
		if in.replaces || !in.active() {
			continue
		}
		if in.session == session {
			return false, nil // it starts, or it is busy
		}
		active++
		if in.State == tool.InstanceReady && in.Calls == 0 && (evict == nil || in.idleFrom.Before(evict.idleFrom)) {
			evict = in
		}
	}
	if active < p.cfg.MaxInstances {
		return true, nil
	}
	return evict != nil, evict // without one, the next instance that becomes idle makes room
}

// newestSession returns the session of the newest instance. It becomes the session of the first
// instance of a replacement, because it is probably still in use.
func (p *pool) newestSession() string {
	if len(p.order) == 0 {
		return ""
	}
	return p.order[len(p.order)-1].session
}

// oldAt returns when an instance reaches RecycleAfterAge; zero: never.
func (p *pool) oldAt(in *Instance) time.Time {
	if p.cfg.RecycleAfterAge <= 0 {
		return time.Time{}
	}
	return in.Created.Add(p.cfg.RecycleAfterAge)
}
