// Package host executes calls of tools: it launches the instances of plugins when calls need them,
// takes each call through filters, policy and limits to an instance, and remembers the outcomes by
// call id.
//
// The package knows the terms of package tool. It does not know gRPC, protobuf or go-plugin: it
// launches processes with the LaunchFunc that it is given, and internal/rpc/hostserver serves it on
// the network.
//
// The steps of a call are in open.go, prepare.go, route.go, attempt.go and finish.go, in this
// order. Subpackages own what the steps use: ledger, supervisor with its lifecycle state machine,
// eventlog, deadline, frozen, throttle and result.
package host

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/artifact"
	"github.com/toolhost/toolhost/internal/audit"
	"github.com/toolhost/toolhost/internal/callstore"
	"github.com/toolhost/toolhost/internal/host/deadline"
	"github.com/toolhost/toolhost/internal/host/frozen"
	"github.com/toolhost/toolhost/internal/host/history"
	"github.com/toolhost/toolhost/internal/host/ledger"
	"github.com/toolhost/toolhost/internal/host/lifecycle"
	"github.com/toolhost/toolhost/internal/host/logbuffer"
	"github.com/toolhost/toolhost/internal/host/supervisor"
	"github.com/toolhost/toolhost/internal/host/throttle"
	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/internal/policy"
	"github.com/toolhost/toolhost/internal/rpc/flow"
	"github.com/toolhost/toolhost/internal/secrets"
	"github.com/toolhost/toolhost/tool"
)

// Process is a running plugin process that is ready for calls.
type Process = supervisor.Process

// LaunchFunc starts an instance of a plugin and returns when the instance takes calls.
type LaunchFunc = supervisor.LaunchFunc

// ReportLaunch sets the state that operators see of an instance while a LaunchFunc starts it. ctx
// must come from the context of the LaunchFunc.
func ReportLaunch(ctx context.Context, state tool.InstanceState) {
	supervisor.ReportLaunch(ctx, state)
}

// errStopping is the cause of everything that ends because the host closes.
var errStopping = supervisor.ErrStopping

// Config sets what a host works with and its bounds. Catalog and Launch are required. The functions
// must be safe for concurrent use, and must return the same for the same name.
type Config struct {
	Catalog   *catalog.Catalog // not owned: close it after the host
	Launch    LaunchFunc
	Workspace string            // the absolute path of the tools' folder; empty: none
	Logger    *slog.Logger      // nil: nothing is logged
	Logs      *logbuffer.Buffer // gets the log records of calls, for TailLogs; nil: a new one

	// Calls stores calls with side effects, so that they are not executed twice even after a
	// restart. Not owned: close it after the host. Nil: the host remembers calls only until it
	// closes.
	Calls *callstore.Store

	// Artifacts stores the content that is too large for results. Not owned: close it after the
	// host. Nil: results stay whole.
	Artifacts *artifact.Store
	// MaxShown is how many bytes of text and JSON a result shows if its caller sets nothing; 0: 4
	// KiB.
	MaxShown int

	// Configuration returns for Reload what of the configuration file is not in force. Nil:
	// everything is.
	Configuration func() *tool.ConfigurationChange

	// KeepBadOutput lets results through that do not fit the output schema of their tool, with a
	// warning.
	KeepBadOutput bool
	// Policy decides which calls may be made. Nil: dangerous tools need the approval of a person,
	// all others are allowed.
	Policy *policy.Policy
	// Filters are asked before calls in this order, and after calls in the reverse order.
	Filters []Filter
	// Secrets has the secrets that tools get if they declare them and their plugins were granted
	// them. The host redacts them in what plugins say. Nil: there are none.
	Secrets *secrets.Store
	// History keeps what happened to plugins for after a restart, and has what happened before. Not
	// owned: close it after the host. Nil: nothing is kept.
	History *history.Log
	// Audit gets the decisions about calls. A call whose permission cannot be written is not
	// executed. Not owned. Nil: decisions are not written.
	Audit *audit.Log

	// Lifecycle configures the instances of a plugin. Nil: the defaults.
	Lifecycle func(plugin string) lifecycle.Config

	// MaxConcurrent limits how many calls of a tool are executed at the same time; others wait. 0:
	// no limit. Nil: no limit for any tool.
	MaxConcurrent func(tool string) int

	// Sandbox returns what the operator grants to a plugin. Nil: plugins run without a sandbox.
	Sandbox func(plugin string) tool.Sandbox

	// Variables returns the names of the environment variables that the operator passes to a plugin
	// or sets for it. Nil: none.
	Variables func(plugin string) []string

	// Disabled reports whether the operator disabled a plugin: it is listed, and its tools cannot
	// be called. Nil: no plugin is disabled.
	Disabled func(plugin string) bool

	DefaultTimeout   time.Duration // for a call if its tool and its caller set none; 0: 30 s
	MaxTimeout       time.Duration // bounds every call; 0: 10 min
	LaunchTimeout    time.Duration // from the launch of a process until it takes calls; 0: 30 s
	MaxLaunches      int           // processes that start at the same time; 0: 4
	MaxExits         int           // exits that are kept for each plugin; 0: 10
	MaxEvents        int           // events of plugins and instances that are kept; 0: 10,000
	YieldTimeout     time.Duration // until an instance ends whose tool ignores a cancel; 0: 5 s
	MaxArgumentBytes int           // of one call; 0: 16 MiB
	RefuseMisspelled bool          // refuses misspelled arguments instead of reporting them
	ArgumentsTimeout time.Duration // between two pieces of a call's arguments; 0: 2 min
	MaxLedgerEntries int           // outcomes in memory; 0: 10,000
	MaxLedgerBytes   int           // of the outcomes in memory; 0: 64 MiB
}

func (c Config) withDefaults() Config {
	c.DefaultTimeout = cmp.Or(c.DefaultTimeout, 30*time.Second)
	c.MaxTimeout = cmp.Or(c.MaxTimeout, 10*time.Minute)
	c.LaunchTimeout = cmp.Or(c.LaunchTimeout, 30*time.Second)
	c.MaxLaunches = cmp.Or(c.MaxLaunches, 4)
	c.MaxExits = cmp.Or(c.MaxExits, 10)
	c.MaxEvents = cmp.Or(c.MaxEvents, 10_000)
	if c.MaxConcurrent == nil {
		c.MaxConcurrent = func(string) int { return 0 }
	}
	if c.Sandbox == nil {
		c.Sandbox = func(string) tool.Sandbox { return tool.Sandbox{Mode: "off"} }
	}
	if c.Disabled == nil {
		c.Disabled = func(string) bool { return false }
	}
	c.YieldTimeout = cmp.Or(c.YieldTimeout, 5*time.Second)
	c.MaxArgumentBytes = cmp.Or(c.MaxArgumentBytes, 16<<20)
	c.ArgumentsTimeout = cmp.Or(c.ArgumentsTimeout, 2*time.Minute)
	c.MaxLedgerEntries = cmp.Or(c.MaxLedgerEntries, 10_000)
	c.MaxShown = cmp.Or(c.MaxShown, 4<<10)
	c.MaxLedgerBytes = cmp.Or(c.MaxLedgerBytes, 64<<20)
	if c.Logs == nil {
		c.Logs = logbuffer.New(logbuffer.Config{})
	}
	if c.Lifecycle == nil {
		c.Lifecycle = func(string) lifecycle.Config { return lifecycle.Config{} }
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// switchedOff returns an error if the operator disabled a plugin.
func (c *Config) switchedOff(plugin string) error {
	if c.Disabled(plugin) {
		return tool.Errorf(tool.KindUnavailable, "the plugin %q is %s", plugin, reasonSwitchedOff)
	}
	return nil
}

const reasonSwitchedOff = "switched off in the configuration: disabled is true"

// Host executes calls. All methods are safe for concurrent use, and their errors are *tool.Error.
//
// Its methods come from three parts: Host itself opens and shows calls, toolList lists and finds
// tools, and operator shows and operates plugins.
type Host struct {
	*toolList
	*operator

	cfg         *Config
	ledger      *ledger.Ledger[*call]
	authorizer  authorizer
	plugins     *supervisor.Plugins
	stats       *statistics
	rates       *throttle.Rates
	concurrency *throttle.Concurrency
	frozen      *frozen.Cache
	deadlines   deadline.Queue

	ctx    context.Context // ends when the host closes
	cancel context.CancelCauseFunc

	mu     sync.Mutex
	closed bool
	gone   chan struct{} // closed when Close is done

	wg     sync.WaitGroup // the goroutines that follow the catalog
	inline sync.WaitGroup // calls on the inline path
	pool   flow.Workers   // all other goroutines
}

// New returns a host that follows its catalog. It starts no process before a call needs one. The
// caller must close it.
func New(config Config) *Host {
	cfg := config.withDefaults()
	h := &Host{
		cfg:         &cfg,
		authorizer:  authorizer{policy: cfg.Policy, audit: cfg.Audit, logger: cfg.Logger},
		stats:       newStatistics(),
		rates:       throttle.NewRates(),
		concurrency: throttle.NewConcurrency(cfg.MaxConcurrent),
		frozen:      frozen.NewCache(),
		gone:        make(chan struct{}),
	}
	h.ctx, h.cancel = context.WithCancelCause(context.Background())
	h.ledger = ledger.New[*call](ledger.Config{
		Store: cfg.Calls, MaxEntries: cfg.MaxLedgerEntries, MaxBytes: cfg.MaxLedgerBytes, Logger: cfg.Logger,
	})
	h.plugins = supervisor.New(supervisor.Config{
		Context: h.ctx, Spawn: h.spawn,
		Catalog: cfg.Catalog, Launch: cfg.Launch, Lifecycle: cfg.Lifecycle, Disabled: cfg.Disabled,
		Logger: cfg.Logger, History: cfg.History, Secrets: cfg.Secrets,
		LaunchTimeout: cfg.LaunchTimeout, MaxLaunches: cfg.MaxLaunches, MaxExits: cfg.MaxExits, MaxEvents: cfg.MaxEvents,
	})
	h.toolList = &toolList{cfg: h.cfg, ctx: h.ctx, spawn: h.spawn, plugins: h.plugins, described: newDescriptions()}
	h.operator = &operator{cfg: h.cfg, ctx: h.ctx, plugins: h.plugins, upgrades: supervisor.NewUpgrades(h.plugins), stats: h.stats}
	seen := cfg.Catalog.Snapshot()
	h.wg.Go(func() { h.upgrades.Follow(seen) }) // ends with h.ctx; Close waits
	h.wg.Go(h.indexCatalog)                     // likewise
	return h
}

// Close refuses new calls, cancels those that run, stops all instances at the same time, and waits
// for everything that the host started. Each step has a timeout, so that Close takes seconds.
func (h *Host) Close() error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		<-h.gone
		return nil
	}
	h.closed = true
	h.mu.Unlock()
	h.cancel(errStopping)
	h.deadlines.Close(errStopping)
	h.plugins.Close()
	h.wg.Wait()
	h.inline.Wait() // before the pool closes, since they may still need it
	h.pool.Close()
	close(h.gone)
	return nil
}

// spawn runs f in a goroutine that Close waits for. If the host is closed, spawn returns false and
// does not run f.
func (h *Host) spawn(f func()) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.pool.Go(f)
	return true
}
