package supervisor

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/tool"
)

// Group has the supervisors of one plugin: one for each tenant whose calls have used the plugin.
// All methods are safe for concurrent use.
//
// An instance has memory, a HOME and a TMPDIR, and it may keep what its calls brought. So it serves
// the calls of one tenant. The tenants also share no queue, no backoff and no quarantine: a tenant
// whose calls crash the plugin does not take it from the others. Each supervisor has all of that
// for one tenant. The group is the plugin for an operator: a command goes to all supervisors, and a
// new revision takes over from all of them.
type Group struct {
	plugins *Plugins
	name    string
	numbers atomic.Int64 // the number of the last instance

	// The mutex of Plugins guards these.
	tenants map[string]*Supervisor
	order   []*Supervisor // the first used first; the first one stays
	paused  bool          // by an operator
	by      By            // of the pause
	// of the supervisors that were forgotten
	launches uint64
	exits    []tool.PluginExit
}

// Name returns the name of the plugin.
func (g *Group) Name() string { return g.name }

// number returns the number of the next instance, for all supervisors of the plugin.
func (g *Group) number() int { return int(g.numbers.Add(1)) }

// all returns the supervisors, the first used first.
func (g *Group) all() []*Supervisor {
	g.plugins.mu.Lock()
	defer g.plugins.mu.Unlock()
	return slices.Clone(g.order)
}

// forgetCalmLocked forgets the supervisors that have nothing that their tenants would miss. A lease
// that is requested from one of them meanwhile comes from its successor.
func (g *Group) forgetCalmLocked() {
	kept := g.order[:1:1]
	for _, s := range g.order[1:] {
		launches, exits, forgotten := s.forget()
		if !forgotten {
			kept = append(kept, s)
			continue
		}
		delete(g.tenants, s.tenant)
		g.launches += launches
		g.exits = append(exits, g.exits...)
		g.exits = g.exits[:min(len(g.exits), g.plugins.cfg.MaxExits)]
	}
	g.order = kept
}

// each calls do for all supervisors at the same time, and returns when all calls have returned.
func (g *Group) each(do func(s *Supervisor) error) error {
	all := g.all()
	if len(all) == 1 {
		return do(all[0])
	}
	errs := make([]error, len(all))
	var running sync.WaitGroup
	for i, s := range all {
		running.Go(func() { errs[i] = do(s) }) // each waits below
	}
	running.Wait()
	return errors.Join(errs...)
}

// Restart replaces the plugin's instances: for each tenant that has instances, a new one starts
// before the present ones finish their calls and stop. If no tenant has one, Restart starts one for
// the tenant that used the plugin first. If a new instance does not start, the present ones of its
// tenant stay. With force, the present ones stop at once and their calls are canceled.
func (g *Group) Restart(ctx context.Context, by By, force bool) (tool.Restarted, error) {
	all := g.all()
	restarted := slices.DeleteFunc(slices.Clone(all), func(s *Supervisor) bool { return len(s.Instances()) == 0 })
	if len(restarted) == 0 {
		restarted = all[:1]
	}
	done := tool.Restarted{Stopped: []string{}, Started: []string{}}
	var mu sync.Mutex
	err := g.each(func(s *Supervisor) error {
		if !slices.Contains(restarted, s) {
			return nil
		}
		one, err := s.Restart(ctx, by, force)
		mu.Lock()
		defer mu.Unlock()
		done.Stopped, done.Started = append(done.Stopped, one.Stopped...), append(done.Started, one.Started...)
		return err
	})
	if err != nil {
		return tool.Restarted{}, tool.AsError(err)
	}
	return done, nil
}

// Drain lets all instances finish their calls, stops them, and returns when they are gone.
func (g *Group) Drain(ctx context.Context, by By) error {
	if err := g.each(func(s *Supervisor) error { return s.Drain(ctx, by) }); err != nil {
		return tool.AsError(err)
	}
	return nil
}

// Pause makes the plugin take no new calls of any tenant until Resume.
func (g *Group) Pause(by By) { g.setPaused(true, by, (*Supervisor).Pause) }

// Resume ends a pause.
func (g *Group) Resume(by By) { g.setPaused(false, by, (*Supervisor).Resume) }

func (g *Group) setPaused(paused bool, by By, do func(*Supervisor, By)) {
	g.plugins.mu.Lock()
	if !g.paused || by.Reason != "" { // a second pause without a reason must not hide the first one's
		g.by = by
	}
	g.paused = paused
	g.plugins.mu.Unlock()
	for _, s := range g.all() {
		do(s, by)
	}
}

// ClearQuarantine ends the quarantines and backoffs of all tenants.
func (g *Group) ClearQuarantine(by By) {
	for _, s := range g.all() {
		s.ClearQuarantine(by)
	}
}

// Describe sets the plugin's state, counts and exits in info, which operators see. If the plugin is
// quarantined or backs off for some tenants, the reason names them.
func (g *Group) Describe(info *tool.PluginInfo) {
	g.plugins.mu.Lock()
	all, launches, exits, by := slices.Clone(g.order), g.launches, g.exits, g.by
	g.plugins.mu.Unlock()
	all[0].Describe(info)
	if info.State == tool.PluginPaused {
		info.Reason += by.text()
	}
	if len(all) == 1 && len(exits) == 0 {
		return
	}
	info.Launches += launches
	info.RecentExits = append(info.RecentExits, exits...)
	info.Reason = all[0].forTenant(info.Reason)
	for _, s := range all[1:] {
		var other tool.PluginInfo
		s.Describe(&other)
		info.Instances += other.Instances
		info.Launches += other.Launches
		info.RecentExits = append(info.RecentExits, other.RecentExits...)
		if info.State == tool.PluginEnabled && other.State != tool.PluginEnabled {
			info.State, info.Reason, info.RetryTime = other.State, s.forTenant(other.Reason), other.RetryTime
		}
	}
	slices.SortStableFunc(info.RecentExits, func(a, b tool.PluginExit) int { return b.Time.Compare(a.Time) })
	info.RecentExits = info.RecentExits[:min(len(info.RecentExits), g.plugins.cfg.MaxExits)]
	if len(info.RecentExits) > 0 {
		info.LastExit = &info.RecentExits[0].Exit
	}
}

// forTenant adds the tenant to the reason of a state.
func (s *Supervisor) forTenant(reason string) string {
	if reason == "" || s.tenant == identity.DefaultTenant {
		return reason
	}
	return "for the tenant " + s.tenant + ": " + reason
}

// Instances returns a description of each instance for operators, the oldest first.
func (g *Group) Instances() []tool.InstanceInfo {
	var infos []tool.InstanceInfo
	for _, s := range g.all() {
		infos = append(infos, s.Instances()...)
	}
	slices.SortStableFunc(infos, func(a, b tool.InstanceInfo) int { return a.StartTime.Compare(b.StartTime) })
	return infos
}

// Measure returns the state of the plugin, for all tenants together.
func (g *Group) Measure() Measurements {
	all := g.all()
	m := all[0].Measure()
	for _, s := range all[1:] {
		other := s.Measure()
		if m.State == tool.PluginEnabled {
			m.State = other.State
		}
		for state, n := range other.Instances {
			m.Instances[state] += n
		}
		m.Calls += other.Calls
		m.Queued += other.Queued
		m.MaxQueue += other.MaxQueue
		m.RSSBytes += other.RSSBytes
		m.CPU += other.CPU
	}
	return m
}

// leader returns the supervisor in which a new revision has to start before it takes over: one that
// has instances, or the first.
func (g *Group) leader() *Supervisor {
	all := g.all()
	for _, s := range all {
		if s.busy() {
			return s
		}
	}
	return all[0]
}

// follow makes the other tenants use a revision that the leader has started. As for the leader, a
// new instance starts before the present ones drain. A tenant whose new instance does not start
// gets one at its next call, because the revision is in service then.
func (g *Group) follow(ctx context.Context, leader *Supervisor, p *catalog.Plugin, why cause) {
	_ = g.each(func(s *Supervisor) error {
		if s == leader || !s.busy() {
			return nil
		}
		if err := s.succession.replace(ctx, p, why); err != nil {
			s.cfg.Logger.Warn("the new revision did not start for a tenant; the next call starts it", "plugin", g.name, "digest", p.Digest, "tenant", s.tenant, "error", err)
		}
		return nil
	})
}

// needsStart reports whether a revision must start before it takes over.
func (g *Group) needsStart(why cause) bool {
	return slices.ContainsFunc(g.all(), func(s *Supervisor) bool { return s.succession.needsStart(why) })
}

// beginTakeover allows the supervisors and the catalog to differ until end.
func (g *Group) beginTakeover() (end func()) {
	all := g.all()
	for _, s := range all {
		s.succession.beginTakeover()
	}
	return func() {
		for _, s := range all {
			s.succession.endTakeover()
		}
	}
}

// reconcile makes all supervisors use the revision that the catalog has in service.
func (g *Group) reconcile() {
	for _, s := range g.all() {
		s.succession.reconcile()
	}
}

// addOrders changes the number of operators that wait for another revision; see
// succession.addOrders.
func (g *Group) addOrders(n int) { g.all()[0].succession.addOrders(n) }

// Tenants returns for how many tenants there is a supervisor. Tests use it to find leaks.
func (g *Group) Tenants() int { return len(g.all()) }
