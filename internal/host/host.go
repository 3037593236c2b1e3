// Package host is the service itself: it finds the instance for each call, launches instances when they are first
// needed, executes calls, remembers their outcomes by call id, and keeps plugins apart.
//
// It speaks the vocabulary of package tool. It does not know gRPC, protobuf or go-plugin: processes are started by the
// Launch function that it is given, and internal/rpc/hostserver puts it on the network.
package host

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/artifact"
	"github.com/toolhost/toolhost/internal/audit"
	"github.com/toolhost/toolhost/internal/callstore"
	"github.com/toolhost/toolhost/internal/host/history"
	"github.com/toolhost/toolhost/internal/host/lifecycle"
	"github.com/toolhost/toolhost/internal/host/logbuffer"
	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/internal/policy"
	"github.com/toolhost/toolhost/internal/rpc/flow"
	"github.com/toolhost/toolhost/internal/rpc/pluginwire"
	"github.com/toolhost/toolhost/internal/secrets"
	"github.com/toolhost/toolhost/tool"
)

// Process is a running plugin process that is ready for calls, as *process.Process is one. Its methods are what an
// operator and a call need of it; all are safe for concurrent use.
type Process interface {
	Conn() *pluginwire.Conn
	PID() int
	// Alive reports whether the process runs at this moment, more promptly than Done.
	Alive() bool
	// Done is closed when the process is gone and all that it held is released; Exit then says how it ended.
	Done() <-chan struct{}
	Exit() tool.Exit
	// Withdrawn says why toolhost ended the process by itself, which is no crash; empty if it did not. It may be called once
	// Done is closed.
	Withdrawn() string
	// Limits says what bounds the process, and by what means.
	Limits() []tool.EffectiveLimit
	// Sandbox says what the process may touch, and what keeps it from the rest.
	Sandbox() tool.Sandbox
	// RSS returns the resident memory in bytes, 0 if unknown.
	RSS() uint64
	// Stop ends the process, by force if it must, and waits until it is gone. Every step is bounded.
	Stop(ctx context.Context) error
}

// LaunchFunc starts an instance of a plugin and returns once it can take calls. It must end with ctx and leave nothing
// behind if it fails. It may say how far it is with ReportLaunch.
type LaunchFunc func(ctx context.Context, p *catalog.Plugin, instance string) (Process, error)

// Config says what a host works with and its bounds. Catalog and Launch are required.
type Config struct {
	Catalog   *catalog.Catalog // not owned: close it after the host
	Launch    LaunchFunc
	Workspace string          // the folder that tools may work in, an absolute path; empty: none
	Logger    *slog.Logger    // nil: none
	Logs      *logbuffer.Book // gets the log records of calls, and is read by TailLogs; nil: a new one

	// Calls remembers calls with side effects longer than toolhost lives. Not owned: close it after the host. Nil: a call id
	// is not executed twice while toolhost lives, and no longer.
	Calls *callstore.Store

	// Artifacts keeps what results have too much of. Not owned: close it after the host. Nil: results are shown whole.
	Artifacts *artifact.Store
	// MaxShown is how many bytes of text and JSON a result shows where its caller says nothing; 0: 4 KiB.
	MaxShown int

	// Configuration says what of the configuration file is not in force, for Reload; nil: nothing is. It may be called from
	// any goroutine.
	Configuration func() *tool.ConfigurationChange

	// KeepBadOutput lets results through that do not fit the output schema of their tool, with a warning.
	KeepBadOutput bool
	// Policy decides which calls may be made. Nil: dangerous tools need a person's approval, all others are allowed.
	Policy *policy.Policy
	// Filters are asked around calls, in this order; after calls in the reverse one.
	Filters []Filter
	// Secrets are what tools get that declare them, if their plugins were granted them; what plugins say is shown without them.
	// Nil: there are none.
	Secrets *secrets.Store
	// History keeps what happened to plugins for after a restart, and has what happened before. Not owned: close it after the
	// host. Nil: nothing is kept.
	History *history.Log
	// Audit keeps what was decided; a call that it should keep and cannot is not made. Not owned. Nil: nothing is kept.
	Audit *audit.Log

	// Lifecycle returns how the instances of a plugin are kept. It must return the same for the same name. Nil: all
	// defaults.
	Lifecycle func(plugin string) lifecycle.Config

	// MaxConcurrent returns how many calls of a tool may be executed at the same time; others wait for their turn. 0 is any
	// number. It must return the same for the same name. Nil: any number of each.
	MaxConcurrent func(tool string) int

	// Sandbox returns what the operator grants to a plugin, without walls. It must return the same for the same name. Nil: all
	// that toolhost may do.
	Sandbox func(plugin string) tool.Sandbox

	// Variables returns the names of the variables that the operator passes to a plugin or sets for it. Nil: none.
	Variables func(plugin string) []string

	// Disabled reports whether the operator switched a plugin off: it is listed, and its tools cannot be called. Nil: none.
	Disabled func(plugin string) bool

	DefaultTimeout   time.Duration // for a call whose tool and caller set none; 0: 30 s
	MaxTimeout       time.Duration // caps every call; 0: 10 min
	LaunchTimeout    time.Duration // for a process until it can take calls; 0: 30 s
	MaxLaunches      int           // processes that start at the same time; 0: 4
	MaxExits         int           // exits of each plugin's instances that are kept; 0: 10
	MaxEvents        int           // events of plugins and instances that are kept; 0: 10,000
	YieldTimeout     time.Duration // for a tool to stop after cancel or deadline, before its instance goes; 0: 5 s
	MaxArgumentBytes int           // of one call; 0: 16 MiB
	RefuseMisspelled bool          // calls with arguments that seem to be misspelled are refused, not reported
	ArgumentsTimeout time.Duration // between two pieces of a call's arguments; 0: 2 min
	MaxLedgerEntries int           // outcomes kept for replay; 0: 10,000
	MaxLedgerBytes   int           // of outcomes kept for replay; 0: 64 MiB
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

// Host executes calls. All methods are safe for concurrent use; the errors that they return are *tool.Error.
type Host struct {
	cfg       Config
	began     time.Time
	ownID     string // of the ledger, where there is no Config.Calls
	ledger    *ledger
	journal   *journal
	stats     *statistics
	rates     *rates
	gates     *gates
	search    search
	described *descriptions
	frozen    *freezer
	deadlines deadlines                    // of the calls under way
	exits     map[string][]tool.PluginExit // of plugins before this host, the newest first; not changed
	launching chan struct{}                // holds one token for each process that starts

	mu          sync.Mutex
	supervisors map[string]*supervisor // by plugin name
	takeovers   map[takeoverKey]*takeover
	turns       turns                   // of plugin files
	reloads     map[*reloading]struct{} // those under way
	closed      bool
	gone        chan struct{} // closed when Close is done

	ctx    context.Context // ends when the host closes; calls and launches run on it
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup // the goroutine that follows the catalogue
	aboard sync.WaitGroup // calls that go by express
	pool   flow.Workers   // all others
}

var errStopping = errors.New("toolhost is stopping")

// New returns a host that follows its catalogue. It starts no process until a call comes. Close it in the end.
func New(cfg Config) *Host {
	cfg = cfg.withDefaults()
	h := &Host{
		cfg:         cfg,
		began:       time.Now(),
		ownID:       rand.Text(),
		ledger:      newLedger(cfg.MaxLedgerEntries, cfg.MaxLedgerBytes),
		supervisors: map[string]*supervisor{},
		takeovers:   map[takeoverKey]*takeover{},
		reloads:     map[*reloading]struct{}{},
		journal:     newJournal(cfg.MaxEvents),
		stats:       newStatistics(),
		rates:       newRates(),
		gates:       newGates(cfg.MaxConcurrent),
		described:   newDescriptions(),
		frozen:      newFreezer(),
		launching:   make(chan struct{}, cfg.MaxLaunches),
		gone:        make(chan struct{}),
	}
	h.ctx, h.cancel = context.WithCancelCause(context.Background())
	h.recall()
	seen := cfg.Catalog.Snapshot()
	h.wg.Go(func() { h.followCatalog(seen) }) // ends with h.ctx; Close waits
	h.wg.Go(h.indexCatalog)                   // likewise
	return h
}

// Close refuses new calls, cancels those under way, stops all instances side by side and waits for everything that the
// host started. Every step is bounded, so that it takes seconds, not minutes.
func (h *Host) Close() error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		<-h.gone
		return nil
	}
	h.closed = true
	supervisors := make([]*supervisor, 0, len(h.supervisors))
	for _, s := range h.supervisors {
		supervisors = append(supervisors, s)
	}
	h.mu.Unlock()
	h.cancel(errStopping)
	h.deadlines.close(errStopping)
	for _, s := range supervisors {
		s.close()
	}
	h.wg.Wait()
	h.aboard.Wait() // while they can still have goroutines
	h.pool.Close()
	close(h.gone)
	return nil
}

// spawn runs f in a goroutine that Close waits for. It returns false, and runs nothing, if the host is closed.
func (h *Host) spawn(f func()) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.pool.Go(f)
	return true
}

// supervisor returns the one that looks after the plugin's instances, made if there is none.
func (h *Host) supervisor(p *catalog.Plugin) *supervisor {
	h.mu.Lock()
	s := h.supervisors[p.Info.Name]
	if s == nil {
		current := h.cfg.Catalog.Snapshot().Plugin(p.Info.Name)
		s = newSupervisor(h, cmp.Or(current, p)) // p may be from before an upgrade
		h.supervisors[p.Info.Name] = s
	}
	h.mu.Unlock()
	s.reconcile() // the catalogue may have changed before followCatalog has seen it
	return s
}
