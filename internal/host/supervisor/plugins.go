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
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/host/eventlog"
	"github.com/toolhost/toolhost/internal/host/history"
	"github.com/toolhost/toolhost/internal/host/lifecycle"
	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/internal/secrets"
	"github.com/toolhost/toolhost/tool"
)

// ErrStopping is the cause of everything that ends because the host closes.
var ErrStopping = errors.New("toolhost is stopping")

// Config sets what Plugins works with. Every field but History and Secrets is required.
type Config struct {
	Context   context.Context   // ends with the cause ErrStopping when the host closes
	Spawn     func(func()) bool // runs a goroutine of the host; false: the host is closed
	Catalog   *catalog.Catalog  // not owned
	Launch    LaunchFunc        // starts a process
	Lifecycle func(plugin string) lifecycle.Config
	Disabled  func(plugin string) bool // whether the operator disabled a plugin
	Logger    *slog.Logger
	History   *history.Log   // events and exits that outlive the host; nil: none do
	Secrets   *secrets.Store // for the redaction of errors and exits; nil: there are no secrets

	LaunchTimeout time.Duration // from the launch of a process until it takes calls
	MaxLaunches   int           // processes that start at the same time
	MaxExits      int           // exits that are kept for each plugin
	MaxEvents     int           // events that are kept
}

// Plugins has the supervisors of all plugins. All methods are safe for concurrent use.
type Plugins struct {
	cfg       Config
	began     time.Time
	events    *eventlog.Plugins
	pastExits map[string][]tool.PluginExit // of earlier hosts, the newest first; not changed
	launching chan struct{}                // holds a token for each process that starts

	mu          sync.Mutex
	supervisors map[string]*Supervisor // by plugin
}

// New returns a Plugins that runs no instance yet.
func New(cfg Config) *Plugins {
	p := &Plugins{
		cfg:         cfg,
		began:       time.Now(),
		events:      eventlog.NewPlugins(cfg.MaxEvents),
		pastExits:   map[string][]tool.PluginExit{},
		launching:   make(chan struct{}, cfg.MaxLaunches),
		supervisors: map[string]*Supervisor{},
	}
	p.recall()
	return p
}

// Of returns the supervisor of a plugin, and makes it if there is none. plugin may be a revision
// from before an upgrade.
func (p *Plugins) Of(plugin *catalog.Plugin) *Supervisor {
	name := plugin.Info.Name
	p.mu.Lock()
	s := p.supervisors[name]
	if s == nil {
		current := p.cfg.Catalog.Snapshot().Plugin(name)
		s = newSupervisor(p, cmp.Or(current, plugin))
		p.supervisors[name] = s
	}
	p.mu.Unlock()
	s.reconcile() // the catalog may have changed before Upgrades has noticed
	return s
}

// Find returns the supervisor of a plugin, or nil if the plugin was not used.
func (p *Plugins) Find(name string) *Supervisor {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.supervisors[name]
}

// All returns all supervisors, ordered by plugin. Some may be of plugins whose files are gone.
func (p *Plugins) All() []*Supervisor {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.SortedFunc(maps.Values(p.supervisors), func(a, b *Supervisor) int { return cmp.Compare(a.name, b.name) })
}

// Describe sets the state, the counts and the exits in what operators see of a plugin.
func (p *Plugins) Describe(info *tool.PluginInfo) {
	if s := p.Find(info.Name); s != nil {
		s.Describe(info)
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
	for _, s := range p.All() {
		s.close()
	}
}

// reconcile routes calls to what the catalog has in service, for every plugin that was used.
func (p *Plugins) reconcile() {
	for _, s := range p.All() {
		s.reconcile()
	}
}
