package supervisor

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
)

const (
	// placePatience is how long a launch waits for a place while calls wait for the launch. It is
	// enough for an idle process to stop, and for a few turns of other tenants.
	placePatience = 5 * time.Second
	// placeInterval is how often such a launch looks for processes that have become idle, and
	// measures the memory. When a process ends, the launch gets its place without a look.
	placeInterval = 50 * time.Millisecond
	// idleGrace is how long an instance must be idle before its tenant loses it to a tenant that has
	// as many processes. Without it, tenants that call in turn would launch a process for each call.
	idleGrace = 100 * time.Millisecond
)

// awaitPlace waits until the instance may have a process. It stops idle processes to make room. If
// there is none in time, it returns a *refusedLaunch. If ctx ends first, it returns the cause of
// ctx. The caller must give the place back with places.leave.
//
// If no call waits for the instance, awaitPlace neither stops processes nor waits.
func (in *Instance) awaitPlace(ctx context.Context) error {
	places := in.supervisor.plugins.places
	if in.forced {
		places.take(&in.place)
		return nil
	}
	patience, look := time.NewTimer(placePatience), time.NewTicker(placeInterval)
	defer patience.Stop()
	defer look.Stop()
	for places.enter(&in.place, in.bounds()); ; places.retry(&in.place, in.bounds()) {
		needed := in.supervisor.hasWaiting()
		if needed {
			in.makeRoom()
		}
		select {
		case <-in.place.granted:
			return nil
		default:
		}
		if !needed {
			return in.giveUpPlace()
		}
		select {
		case <-in.place.granted:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-patience.C:
			return in.giveUpPlace()
		case <-look.C:
		}
	}
}

// giveUpPlace is giveUp of places as an error of a launch.
func (in *Instance) giveUpPlace() error {
	if err := in.supervisor.plugins.places.giveUp(&in.place); err != nil {
		return &refusedLaunch{err}
	}
	return nil
}

// bounds returns what limits the launch now.
func (in *Instance) bounds() bounds {
	s := in.supervisor
	settings := s.cfg.Settings()
	b := bounds{total: settings.Lifecycle(s.name).MaxTotal}
	if q := settings.Quotas; q != nil {
		b.tenant = q.OfTenant(s.tenant)
		if in.owner.Principal != "" {
			b.principal = q.OfPrincipal(in.owner.Principal)
		}
	}
	if b.tenant.MemoryBytes > 0 || b.principal.MemoryBytes > 0 {
		b.tenantMemory, b.principalMemory = s.plugins.memory(s.tenant, in.owner.Principal)
	}
	return b
}

// memory returns the resident memory of the processes of a tenant, and of those that serve one
// principal only. It asks the system about each process.
func (p *Plugins) memory(tenant, principal string) (ofTenant, ofPrincipal int64) {
	for _, s := range p.of(tenant) {
		for _, in := range s.started() {
			size := int64(in.proc.Memory())
			ofTenant += size
			if principal != "" && in.owner.Principal == principal {
				ofPrincipal += size
			}
		}
	}
	return ofTenant, ofPrincipal
}

// of returns the supervisors of a tenant.
func (p *Plugins) of(tenant string) []*Supervisor {
	return slices.DeleteFunc(p.all(), func(s *Supervisor) bool { return s.tenant != tenant })
}

// started returns the instances that have a process which was ready once.
func (s *Supervisor) started() []*Instance {
	s.mu.Lock()
	defer s.mu.Unlock()
	var started []*Instance
	for _, in := range s.instances {
		select {
		case <-in.ready:
			started = append(started, in)
		default:
		}
	}
	return started
}

// hasWaiting reports whether a call waits for an instance.
func (s *Supervisor) hasWaiting() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queue.waiting) > 0
}

// makeRoom stops a process so that a launch can have its place, unless as many processes are about
// to end as launches wait.
func (in *Instance) makeRoom() {
	s := in.supervisor
	w, together := s.plugins.places.wants(&in.place)
	switch w {
	case tenantRoom:
		s.plugins.evictIdle(s.plugins.of(s.tenant), together, func(*Instance) bool { return true }, "the quota of its tenant is full and another process needs its place")
	case principalRoom:
		own := func(other *Instance) bool { return other.owner.Principal == in.owner.Principal }
		s.plugins.evictIdle(s.plugins.of(s.tenant), together, own, "the quota of its principal is full and another process needs its place")
	case pluginRoom:
		s.group.divide(s.tenant, together)
	}
}

// evictIdle stops the process that has been idle longest, unless as many as needed are about to
// end.
func (p *Plugins) evictIdle(of []*Supervisor, needed int, selected func(*Instance) bool, reason string) {
	var longest idleInstance
	for _, s := range of {
		idle, ending := s.idle(selected)
		needed -= ending
		if idle.instance != nil && (longest.instance == nil || idle.since.Before(longest.since)) {
			longest = idle
		}
	}
	if needed > 0 && longest.instance != nil {
		longest.evict(reason)
	}
}

// idleInstance is an instance without calls, since a time.
type idleInstance struct {
	instance *Instance
	since    time.Time
}

func (i idleInstance) evict(reason string) {
	i.instance.supervisor.apply(func(m *lifecycle.Machine, now time.Time) []lifecycle.Action {
		return m.Evict(now, i.instance.id, reason)
	})
}

// idle returns the instance that has been idle longest, and how many of the selected ones are about
// to end.
func (s *Supervisor) idle(selected func(*Instance) bool) (longest idleInstance, ending int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, state := range s.machine.Instances() {
		if in := s.instances[state.ID]; in != nil && selected(in) && state.Ending() {
			ending++
		}
	}
	for _, state := range s.machine.Idle() {
		in := s.instances[state.ID]
		if in != nil && selected(in) && (longest.instance == nil || state.IdleFrom().Before(longest.since)) {
			longest = idleInstance{in, state.IdleFrom()}
		}
	}
	return longest, ending
}

// divide makes the tenant with the most processes of the plugin give one up to a tenant that waits,
// as places describes, unless as many as needed are about to end. An idle process is preferred. A
// process with calls takes no more of them and finishes those that it has.
func (g *Group) divide(tenant string, needed int) {
	holds := g.plugins.places.holds(g.name)
	all := g.all()
	slices.SortStableFunc(all, func(a, b *Supervisor) int { return cmp.Compare(holds[b.tenant], holds[a.tenant]) })
	idle := map[*Supervisor]idleInstance{}
	for _, s := range all {
		longest, ending := s.idle(func(*Instance) bool { return true })
		needed -= ending
		idle[s] = longest
	}
	if needed <= 0 {
		return
	}
	const reason = "another tenant needs its place"
	for _, s := range all {
		longest, more := idle[s], holds[s.tenant]-holds[tenant]
		if s.tenant != tenant && longest.instance != nil && (more >= 2 || time.Since(longest.since) >= idleGrace || s.hadTurn()) {
			longest.evict(reason)
			return
		}
	}
	for s, longest := range idle {
		if s.tenant == tenant && longest.instance != nil { // of another principal or session
			longest.evict("another call of its tenant needs its place")
			return
		}
	}
	for _, s := range all {
		if more := holds[s.tenant] - holds[tenant]; s.tenant != tenant && (more >= 2 || more >= 1 && holds[tenant] == 0 && s.hadTurn()) {
			s.apply(func(m *lifecycle.Machine, now time.Time) []lifecycle.Action { return m.Yield(now, reason) })
			return
		}
	}
}

// hadTurn reports whether an instance has taken calls for a turn.
func (s *Supervisor) hadTurn() bool {
	return slices.ContainsFunc(s.started(), func(in *Instance) bool { return time.Since(in.readyAt) >= placeTurn })
}
