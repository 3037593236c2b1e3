// Package host executes calls of tools. It launches the instances of plugins when calls need them,
// takes each call through filters, policy and limits to an instance, and remembers the outcomes by
// call id.
//
// The package knows the terms of package tool. It does not know gRPC, protobuf or go-plugin: it
// launches processes with the LaunchFunc of its Config, and server/internal/toolhost/hostserver
// serves it on the network.
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

	"github.com/toolhost/toolhost/internal/wire/flow"
	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/toolhost/artifact"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/held"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/frozen"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/history"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/ledger"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/logbuffer"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/offers"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/operator"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/settle"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/statistics"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/supervisor"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/throttle"
	"github.com/toolhost/toolhost/server/internal/toolhost/standing"
)

// Process is a running plugin process that is ready for calls.
type Process = supervisor.Process

// LaunchFunc starts an instance of a plugin and returns when the instance takes calls.
type LaunchFunc = supervisor.LaunchFunc

// errStopping is the cause of everything that ends because the host closes.
var errStopping = supervisor.ErrStopping

// Config sets the dependencies and the bounds of a host. Catalog and Launch are required.
type Config struct {
	// Settings are the settings in force until Reconfigure replaces them.
	Settings

	Catalog   *catalog.Catalog // not owned: close it after the host
	Launch    LaunchFunc
	Workspace string            // the absolute path of the tools' folder; empty: none
	Logger    *slog.Logger      // nil: nothing is logged
	Logs      *logbuffer.Buffer // gets the log records of calls, for TailLogs; nil: a new one

	// Calls stores calls with side effects, so that they are not executed twice even after a
	// restart. Not owned: close it after the host. Nil: the host remembers calls only until it
	// closes, and cannot settle unknown outcomes.
	Calls callstore.Calls

	// Artifacts stores the content that is too large for results. Not owned: close it after the
	// host. Nil: results stay whole.
	Artifacts *artifact.Store

	// History stores what happened to plugins, so that a later host can show it. The host also
	// shows what History contains from earlier hosts. Not owned: close it after the host. Nil:
	// nothing is stored.
	History *history.Log
	// Audit receives the decisions about calls. The host does not execute a call whose permission
	// it cannot write to Audit. Not owned. Nil: the host does not write decisions.
	Audit *audit.Log

	// Approvals stores standing approvals. Not owned: close it after the host. Nil: the host has none.
	Approvals *standing.Store

	// Starts counts the quotas starts_per_minute for many toolhosts. Not owned. Nil: the host counts
	// its own calls.
	Starts throttle.Leases

	// Homes knows which toolhost has the workspace of a session. Not owned. Nil: the host does not
	// ask, such as if all have the same files.
	Homes Homes

	// Place names this toolhost among several, in the names of the calls that it holds; see
	// held.NewAt.
	Place string

	// Configuration reads and applies the configuration file, for operators. Nil: the host has
	// none.
	Configuration operator.Configuration

	MaxLaunches      int // processes that start at the same time; 0: 4
	MaxExits         int // exits that are kept for each plugin; 0: 10
	MaxEvents        int // events of plugins and instances that are kept; 0: 10,000
	MaxLedgerEntries int // outcomes in memory; 0: 10,000
	MaxLedgerBytes   int // of the outcomes in memory; 0: 64 MiB
}

func (c Config) withDefaults() Config {
	c.MaxLaunches = cmp.Or(c.MaxLaunches, 4)
	c.MaxExits = cmp.Or(c.MaxExits, 10)
	c.MaxEvents = cmp.Or(c.MaxEvents, 10_000)
	c.MaxLedgerEntries = cmp.Or(c.MaxLedgerEntries, 10_000)
	c.MaxLedgerBytes = cmp.Or(c.MaxLedgerBytes, 64<<20)
	if c.Logs == nil {
		c.Logs = logbuffer.New(logbuffer.Config{})
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// offering is embedded in a Host, which has its methods and not its name.
type offering = offers.Offers

// operating is embedded in a Host, like offering.
type operating = operator.Operator

// Host executes calls. All methods are safe for concurrent use, and their errors are *tool.Error.
//
// Its methods come from four parts: Host opens calls and shows them, the embedded toolList lists
// and finds tools, the embedded offering lists and reads resources and prompts, and the embedded
// operating shows plugins and carries out operators' commands.
type Host struct {
	*toolList
	*offering
	*operating

	cfg         *Config // without Settings: see generations
	generations *generations
	ledger      *ledger.Ledger[*call]
	log         loggers
	plugins     *supervisor.Plugins
	upgrades    *supervisor.Upgrades
	stats       *statistics.Statistics
	recent      recentCalls
	rates       *throttle.Rates
	concurrency *throttle.Concurrency
	usage       *throttle.Usage
	homes       *homes
	frozen      *frozen.Cache
	held        *held.Store
	settler     *settle.Settler
	services    *services // of all calls

	ctx    context.Context // ends when the host closes
	cancel context.CancelCauseFunc

	mu     sync.Mutex
	closed bool
	gone   chan struct{} // closed when Close is done

	wg   sync.WaitGroup // the goroutines that follow the catalog
	pool flow.Workers   // all other goroutines
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
	h.plugins.Close()
	h.wg.Wait()
	h.pool.Close()
	h.stats.Flush()
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
