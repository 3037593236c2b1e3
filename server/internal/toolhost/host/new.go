package host

import (
	"context"

	"github.com/toolhost/toolhost/server/internal/toolhost/held"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/frozen"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/ledger"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/offers"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/operator"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/settle"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/statistics"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/supervisor"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/throttle"
)

// New returns a host that follows its catalog. It starts no process before a call needs one, or
// before it asks a tool what became of a call of an earlier host. The caller must close it.
func New(config Config) *Host {
	cfg := config.withDefaults()
	h := &Host{
		cfg:         &cfg,
		generations: &generations{},
		log:         newLoggers(cfg.Logger),
		stats:       statistics.New(cfg.History),
		rates:       throttle.NewRates(),
		concurrency: throttle.NewConcurrency(concurrencyOf(cfg.Catalog)),
		frozen:      frozen.NewCache(),
		held:        held.NewAt(cfg.Place),
		homes:       newHomes(cfg.Homes),
		gone:        make(chan struct{}),
	}
	first := h.newGeneration(cfg.Settings, cfg.Catalog.Snapshot().Generation())
	h.generations.pair.Store(&generationPair{current: first, previous: first})
	cfg.Settings = Settings{} // code that reads settings from here would miss Reconfigure
	h.ctx, h.cancel = context.WithCancelCause(context.Background())
	var shares *throttle.Shares
	if cfg.Starts != nil {
		shares = throttle.NewShares(h.ctx, cfg.Starts, h.spawn, h.log.storage)
	}
	h.usage = throttle.NewUsage(shares)
	h.ledger = ledger.New[*call](ledger.Config{
		Store: cfg.Calls, MaxEntries: cfg.MaxLedgerEntries, MaxBytes: cfg.MaxLedgerBytes, Quota: h.resultQuota, Logger: h.log.storage,
	})
	h.offering = offers.New(offers.Config{
		Context: h.ctx, Spawn: h.spawn, Catalog: cfg.Catalog, View: h.offersView, Plugins: func() *supervisor.Plugins { return h.plugins },
		Usage: h.usage, Artifacts: cfg.Artifacts, Logger: h.log.calls,
	})
	h.plugins = supervisor.New(supervisor.Config{
		Context: h.ctx, Spawn: h.spawn,
		Catalog: cfg.Catalog, Launch: offers.Following(h.offering, cfg.Launch), Settings: h.supervisorSettings,
		Logger: h.log.lifecycle, History: cfg.History, Redactor: first.Secrets.Redactor(),
		MaxLaunches: cfg.MaxLaunches, MaxExits: cfg.MaxExits, MaxEvents: cfg.MaxEvents,
	})
	if cfg.Artifacts != nil {
		cfg.Artifacts.Limit(h.artifactQuota)
	}
	h.toolList = &toolList{cfg: h.cfg, generations: h.generations, ctx: h.ctx, spawn: h.spawn, plugins: h.plugins, described: newDescriptions()}
	h.upgrades = supervisor.NewUpgrades(h.plugins)
	h.operating = operator.New(operator.Config{
		Context: h.ctx, Settings: func() *operator.Settings { return &h.generations.latest().operator },
		Catalog: cfg.Catalog, Plugins: h.plugins, Upgrades: h.upgrades, Statistics: h.stats, History: cfg.History, Logs: cfg.Logs,
		Configuration: cfg.Configuration,
	})
	h.settler = settle.New(settle.Config{
		Context: h.ctx, Spawn: h.spawn, Catalog: cfg.Catalog, Plugins: h.plugins, Calls: cfg.Calls, Ledger: settled{h.ledger},
		Logs: cfg.Logs, Audit: cfg.Audit, Log: settle.Loggers{Calls: h.log.calls, Policy: h.log.policy, Storage: h.log.storage},
		Workspace: cfg.Workspace, Tool: h.settlingTool, Values: contextFor,
	})
	h.services = h.newServices()
	seen := cfg.Catalog.Snapshot()
	h.wg.Go(func() { h.upgrades.Follow(seen) }) // ends with h.ctx; Close waits
	h.wg.Go(h.indexCatalog)                     // likewise
	if cfg.Calls != nil {
		h.wg.Go(h.settler.SettleFound) // likewise
	}
	if cfg.History != nil {
		h.wg.Go(func() { h.stats.FlushRegularly(h.ctx) }) // likewise
	}
	if cfg.Approvals != nil {
		h.reportEnds()
		h.shortenApprovals(h.generations.latest().Approvals.Longest)
		h.wg.Go(h.endExpiredApprovals) // likewise
		h.wg.Go(h.endChangedApprovals) // likewise
	}
	return h
}

// newServices returns what calls use. The parts of the host must exist.
func (h *Host) newServices() *services {
	return &services{
		plugins:   pluginServices{h.cfg.Catalog, h.plugins, h.toolList, h.settler, h.cfg.Workspace},
		limits:    limits{h.rates, h.concurrency, h.usage},
		approvals: approvals{h.frozen, h.cfg.Approvals, func() bool { return h.generations.latest().Approvals.Off }, h.cfg.Audit != nil, h.held},
		records:   callRecords{&h.recent, h.stats, h.cfg.History, h.cfg.Logs},
		calls:     h.cfg.Calls, artifacts: h.cfg.Artifacts, log: h.log, spawn: h.spawn, newCall: h.newCall,
	}
}
