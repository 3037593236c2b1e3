package serve

import (
	"context"
	"time"

	"github.com/toolhost/toolhost/internal/version"
	"github.com/toolhost/toolhost/server/internal/fairness/budget"
	"github.com/toolhost/toolhost/server/internal/logging"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/server/internal/secrets"
	"github.com/toolhost/toolhost/server/internal/telemetry"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttelemetry"
)

// exports contains toolhost's exporters of metrics and traces. It is empty if the configuration
// names none.
type exports struct {
	*telemetry.Telemetry
	observer *hosttelemetry.Observer // nil: nothing
}

// openExports opens the exporters that the configuration or the environment names.
func openExports(ctx context.Context, options Options, log *logging.Log, redactor *secrets.Redactor) (e exports, err error) {
	e.Telemetry, err = telemetry.Open(ctx, telemetry.Config{
		Settings: options.Telemetry, Service: cli.Toolhost, Version: version.Number, Getenv: options.getenv, Logger: log.Logger(loglevel.Telemetry),
		Learn: redactor.Learn,
	})
	if err != nil {
		return exports{}, err
	}
	e.observer, err = hosttelemetry.New(e.Telemetry)
	return e, err
}

// observe sets the observer of the host if there is one. Without the check for nil, the interface
// would hold a nil pointer and not be nil itself.
func (e exports) observe(settings *host.Settings) {
	if e.observer != nil {
		settings.Observer, settings.PluginObserver = e.observer, e.observer
	}
}

// measure registers the gauges, and prepares the metrics of the plugins in a snapshot.
func (e exports) measure(h *host.Host, ledger ledgerOfCalls, known *catalog.Snapshot, memory *budget.Budget, stateDir string) error {
	for _, p := range known.Plugins() {
		if !p.Pending() { // it does not have its name yet
			e.observer.Expect(p.Info.Name)
		}
	}
	return e.observer.Observe(func() hosttelemetry.State {
		s := hosttelemetry.State{Measurements: h.Measure(), InFlightBytes: memory.Used(), BeatAge: -1}
		if shared, ok := ledger.(*postgres.Store); ok {
			s.BeatAge = time.Since(shared.Beaten())
			if c, known := shared.Census(); known {
				s.Nodes = map[string]int{postgres.Up: c.Up, postgres.Silent: c.Silent, postgres.Gone: c.Gone}
			}
		}
		s.DiskFree, s.DiskSize = cli.DiskSpace(stateDir)
		return s
	})
}

// follow is the follower that applies changed settings of traces.
func (e exports) follow(_, next *Options) (apply, cancel func(), err error) {
	apply, err = e.Prepare(next.Telemetry)
	return apply, nil, err
}
