package host

import (
	"log/slog"
	"sync/atomic"

	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/server/internal/toolhost/artifact"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/held"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/frozen"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/history"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/logbuffer"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/settle"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/statistics"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/supervisor"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/throttle"
	"github.com/toolhost/toolhost/server/internal/toolhost/standing"
	"github.com/toolhost/toolhost/tool"
)

// services is what the steps of a call use beside the call's own parts. A step reaches nothing else
// of the host, and reads its settings from the call, which keeps those with which it began. The
// fields do not change, and everything in them is safe for concurrent use.
type services struct {
	plugins   pluginServices
	limits    limits
	approvals approvals
	records   callRecords
	calls     callstore.Calls // nil: calls are not stored
	artifacts *artifact.Store // nil: large results are not kept
	log       loggers

	awaiting atomic.Int64        // calls that await
	spawn    func(f func()) bool // runs f in a goroutine of the host; false: the host is closing
	newCall  func(request *tool.Call, in toolView, kind CallKind, id string, generated bool) (*call, error)
}

// pluginServices finds tools and filters, and what executes them.
type pluginServices struct {
	catalog     *catalog.Catalog
	supervisors *supervisor.Plugins
	tools       *toolList // how a session sees dynamic tools
	settler     *settle.Settler
	workspace   string // of instances that have none of their own; empty: none
}

// limits refuses calls, or makes them wait.
type limits struct {
	rates       *throttle.Rates
	concurrency *throttle.Concurrency
	usage       *throttle.Usage
}

// approvals is what persons have approved.
type approvals struct {
	frozen   *frozen.Cache
	standing *standing.Store // nil: there are none
	off      func() bool     // the operator has switched standing approvals off
	audited  bool            // there is an audit log
	held     *held.Store
}

// callRecords is what operators read about calls.
type callRecords struct {
	recent  *recentCalls
	stats   *statistics.Statistics
	history *history.Log // nil: none
	logs    *logbuffer.Buffer
}

// loggers are the loggers of a host, one for each subsystem.
type loggers struct {
	calls, policy, lifecycle, storage, plugins *slog.Logger
}

func newLoggers(logger *slog.Logger) loggers {
	of := func(subsystem string) *slog.Logger { return logger.With(loglevel.Key, subsystem) }
	return loggers{
		calls: of(loglevel.Calls), policy: of(loglevel.Policy), lifecycle: of(loglevel.Lifecycle), storage: of(loglevel.Storage),
		plugins: of(loglevel.Plugins),
	}
}
