package host

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/offers"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/operator"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/supervisor"
	"github.com/toolhost/toolhost/tool"
)

// generation is one Settings in force, with what the host derives from it. It does not change.
type generation struct {
	Settings
	number     uint64 // of the catalog's snapshots with the overrides of these settings
	authorizer authorizer
	offers     offers.Settings
	operator   operator.Settings
}

// generations has the generation in force, and the one before it.
//
// A call depends on two values that a reload replaces: the settings, and the catalog's snapshot,
// which contains the operator's settings of tools. A call must never combine the old value of one
// with the new value of the other. For example, new overrides could make a tool not dangerous
// because a new rule denies its calls. So each snapshot has the number of the generation that it
// belongs to, and a call takes a snapshot first and the settings of the same number after that.
//
// Reconfigure stores the new pair before the catalog publishes a snapshot with the new number.
// Every number that a snapshot can have is therefore in the pair, except for a reader that is
// delayed between the two reads while two reloads happen. Such a reader takes a new snapshot.
type generations struct {
	pair atomic.Pointer[generationPair]
	mu   sync.Mutex // held by Reconfigure
}

type generationPair struct{ current, previous *generation }

// latest returns the settings in force, for work that does not belong to a call.
func (g *generations) latest() *generation { return g.pair.Load().current }

// view returns the catalog's snapshot, and the generation that it belongs to. It does not block.
func (g *generations) view(known *catalog.Catalog) (*generation, *catalog.Snapshot) {
	for {
		snapshot := known.Snapshot()
		pair := g.pair.Load()
		switch snapshot.Generation() {
		case pair.current.number:
			return pair.current, snapshot
		case pair.previous.number:
			return pair.previous, snapshot
		}
	}
}

// Reconfigure replaces the settings for all calls that begin from now on. A call that has begun
// keeps the settings that it began with. The limits of simultaneous calls are an exception: they
// bound the load of a tool, and hold at once for the calls that wait. Reconfigure does not block.
//
// replaced reports whether the running instances of a plugin have to be replaced, because Launch
// would now start their processes in another way. The host then starts a new instance of the
// plugin, and the old ones finish their calls. The function that Reconfigure returns waits until
// that has happened or failed, or until ctx ends. Its result has the plugins whose new instance did
// not start. Such a plugin gets no calls in its old instances either, because the operator may have
// withdrawn a permission.
//
// Concurrent calls of Reconfigure take effect one after the other.
func (h *Host) Reconfigure(s Settings, replaced func(p *catalog.Plugin) bool) (await func(ctx context.Context) []tool.ReloadFailure) {
	h.generations.mu.Lock()
	defer h.generations.mu.Unlock()
	previous := h.generations.latest()
	next := h.newGeneration(s, previous.number+1)
	h.generations.pair.Store(&generationPair{current: next, previous: previous})
	h.cfg.Catalog.Configure(s.Overrides, next.number)
	h.concurrency.Refresh()
	if h.cfg.Approvals != nil {
		h.shortenApprovals(next.Approvals.Longest)
	}
	return h.plugins.Reconfigure(replaced)
}

// Renew replaces the running instances of plugins as Reconfigure does, with the settings in force.
// It does not block.
func (h *Host) Renew(replaced func(p *catalog.Plugin) bool) {
	h.generations.mu.Lock()
	defer h.generations.mu.Unlock()
	h.plugins.Reconfigure(replaced)
}

// newGeneration returns a generation of settings, for this host's records.
func (h *Host) newGeneration(s Settings, number uint64) *generation {
	g := &generation{Settings: s.withDefaults(), number: number}
	g.authorizer = authorizer{policy: g.Policy, audit: h.cfg.Audit, homes: h.homes, sandbox: g.Sandbox, logger: h.log.policy}
	if !g.Approvals.Off {
		g.authorizer.standing = h.cfg.Approvals
	}
	g.offers = offers.Settings{
		Policy: g.Policy, Secrets: g.Secrets, Quotas: g.Quotas, Disabled: g.Disabled, Asks: g.Asks, Questions: g.Questions,
		MaxShown: g.MaxShown, DefaultTimeout: g.DefaultTimeout, Record: g.authorizer.record,
	}
	g.operator = operator.Settings{Lifecycle: g.Lifecycle, Sandbox: g.Sandbox, Variables: g.Variables, Disabled: g.Disabled}
	return g
}

// concurrencyOf returns a function with the limit of simultaneous calls of each tool.
func concurrencyOf(known *catalog.Catalog) func(name string) (most int, found bool) {
	return func(name string) (int, bool) {
		if t := known.Snapshot().Tool(name); t != nil {
			return t.MaxConcurrent, true
		}
		return 0, false // the tool has just been removed or renamed, or is a filter
	}
}

// offersView returns the settings in force for resources and prompts, and the snapshot that belongs
// to them.
func (h *Host) offersView() (*offers.Settings, *catalog.Snapshot) {
	g, snapshot := h.generations.view(h.cfg.Catalog)
	return &g.offers, snapshot
}

// supervisorSettings returns the settings in force that concern instances.
func (h *Host) supervisorSettings() supervisor.Settings {
	g := h.generations.latest()
	s := supervisor.Settings{Lifecycle: g.Lifecycle, Disabled: g.Disabled, Observer: g.PluginObserver, LaunchTimeout: g.LaunchTimeout}
	if g.Quotas != nil {
		s.Quotas = g.Quotas
		s.MayLaunch = func(tenant string) *tool.Error { return h.usage.Launch(g.Quotas, tenant) }
	}
	return s
}
