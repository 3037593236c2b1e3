// Package supervisor runs the instances of plugins: it launches processes, gives them to calls,
// watches them, stops them, and replaces them when an executable changes.
//
// Plugins has one Supervisor for each plugin that was used. A Supervisor drives a
// lifecycle.Machine, which decides; each Instance has a goroutine that carries out what the machine
// decides about one process. A call gets an instance as a Lease. Upgrades brings changed
// executables into service.
//
// The package knows calls only as Requests for leases. It does not execute them.
package supervisor

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/eventlog"
	"github.com/toolhost/toolhost/tool"
)

// Plugins has the supervisors of all plugins and tenants. All methods are safe for concurrent use.
type Plugins struct {
	cfg       Config
	events    *eventlog.Plugins
	pastExits map[string][]tool.PluginExit // of earlier hosts, the newest first; not changed
	// the largest number of an instance of a plugin in the history of earlier hosts; not changed
	pastNumbers map[string]int64
	launching   chan struct{} // holds a token for each process that starts
	places      *places

	mu     sync.Mutex
	groups map[string]*Group // by plugin
}

// New returns a Plugins that runs no instance yet.
func New(cfg Config) *Plugins {
	p := &Plugins{
		cfg:       cfg,
		events:    eventlog.NewPlugins(cfg.MaxEvents),
		pastExits: map[string][]tool.PluginExit{}, pastNumbers: map[string]int64{},
		launching: make(chan struct{}, cfg.MaxLaunches),
		places:    newPlaces(),
		groups:    map[string]*Group{},
	}
	p.recall()
	return p
}

// Of returns the supervisor of a plugin for a tenant, and makes it if there is none. plugin may be
// a revision from before an upgrade.
func (p *Plugins) Of(plugin *catalog.Plugin, tenant string) *Supervisor {
	p.mu.Lock()
	g := p.groups[plugin.Info.Name]
	if g == nil {
		g = &Group{plugins: p, name: plugin.Info.Name, tenants: map[string]*Supervisor{}}
		g.numbers.Store(p.pastNumbers[g.name])
		p.groups[g.name] = g
	}
	s := g.tenants[tenant]
	if s == nil {
		s = p.addLocked(g, plugin, tenant)
	}
	p.mu.Unlock()
	s.succession.reconcile() // the catalog may have changed before Upgrades has noticed
	return s
}

// keptTenants is how many supervisors a plugin keeps for tenants that do not use it at the moment.
const keptTenants = 64

// addLocked makes the supervisor of a plugin for a tenant. If there are many, it first forgets
// those of tenants that do not use the plugin, because a tenant is only a name in a credential.
func (p *Plugins) addLocked(g *Group, plugin *catalog.Plugin, tenant string) *Supervisor {
	if len(g.order) > keptTenants {
		g.forgetCalmLocked()
	}
	current := p.cfg.Catalog.Snapshot().Plugin(g.name)
	s := newSupervisor(g, cmp.Or(current, plugin), tenant)
	s.reporter.first = len(g.order) == 0
	g.tenants[tenant], g.order = s, append(g.order, s)
	return s
}

// GroupOf returns the supervisors of a plugin. If the plugin was not used, it makes one for the
// default tenant.
func (p *Plugins) GroupOf(plugin *catalog.Plugin) *Group {
	if g := p.Find(plugin.Info.Name); g != nil {
		g.reconcile()
		return g
	}
	return p.Of(plugin, identity.DefaultTenant).group
}

// Find returns the supervisors of a plugin, or nil if the plugin was not used.
func (p *Plugins) Find(name string) *Group {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.groups[name]
}

// Groups returns the supervisors of all plugins, ordered by plugin. Some may be of plugins whose
// files are gone.
func (p *Plugins) Groups() []*Group {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.SortedFunc(maps.Values(p.groups), func(a, b *Group) int { return cmp.Compare(a.name, b.name) })
}

// all returns the supervisors of all plugins.
func (p *Plugins) all() (all []*Supervisor) {
	for _, g := range p.Groups() {
		all = append(all, g.all()...)
	}
	return all
}

// Describe sets the plugin's state, counts and exits in info, which operators see.
func (p *Plugins) Describe(info *tool.PluginInfo) {
	if g := p.Find(info.Name); g != nil {
		g.Describe(info)
		return
	}
	if past := p.pastExits[info.Name]; len(past) > 0 {
		info.RecentExits, info.LastExit = slices.Clone(past), &past[0].Exit
	}
}

// Events returns the event log of all plugins.
func (p *Plugins) Events() *eventlog.Plugins { return p.events }

// Close stops all instances, without waiting for them.
func (p *Plugins) Close() {
	for _, s := range p.all() {
		s.close()
	}
}

// reconcile makes every plugin that was used send its calls to the revision that the catalog has in
// service.
func (p *Plugins) reconcile() {
	for _, s := range p.all() {
		s.succession.reconcile()
	}
}
