// Package hosttelemetry translates the reports of the host to metrics and spans.
//
// Every label is a value of an enumeration, or a name from the catalog or the configuration. So the
// number of series is bounded, whatever callers and plugins do. TestLabelsAreBounded lists the
// labels.
package hosttelemetry

import (
	"context"
	"os"
	"strconv"
	"sync"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/telemetry"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/question"
	"github.com/toolhost/toolhost/tool"
)

// Observer is the observer of a host and of its plugins. It is safe for concurrent use.
type Observer struct {
	tracer *telemetry.Tracer // nil: no traces
	user   string            // the principal of this user over the unix socket
	meters *instruments      // nil: no metrics

	mu    sync.Mutex
	ended map[string]time.Duration // processor time of instances that have ended, by plugin
	total map[string]time.Duration // the processor time that was last measured, by plugin
}

var (
	_ host.Observer       = (*Observer)(nil)
	_ host.PluginObserver = (*Observer)(nil)
)

// New returns the observer for a host; nil if nothing is exported.
func New(t *telemetry.Telemetry) (*Observer, error) {
	o := &Observer{
		tracer: t.Tracer(), user: "uid:" + strconv.Itoa(os.Getuid()),
		ended: map[string]time.Duration{}, total: map[string]time.Duration{},
	}
	if meter := t.Meter(); meter != nil {
		var err error
		if o.meters, err = newInstruments(meter); err != nil {
			return nil, err
		}
	}
	if o.tracer == nil && o.meters == nil {
		return nil, nil
	}
	return o, nil
}

// CallEnded implements host.Observer.
func (o *Observer) CallEnded(end *host.CallEnd) {
	if s, ok := end.Span.(*span); ok {
		s.end(end)
	}
	if o.meters == nil {
		return
	}
	if end.Kind == host.FilterCall {
		o.meters.filterDuration.Record(context.Background(), end.Total.Seconds(), o.meters.option(labels{tool: end.Call.Tool, outcome: outcomeOf(end.Outcome)}))
		return
	}
	o.meters.call(end)
}

// CallRefused implements host.Observer. It drops the name, because a label must not be any text
// that a caller chooses.
func (o *Observer) CallRefused(_ string, kind tool.Kind) {
	if o.meters != nil {
		o.meters.refused.Add(context.Background(), 1, o.meters.option(labels{outcome: string(kind)}))
	}
}

// CallDecided implements host.Observer.
func (o *Observer) CallDecided(outcome audit.Outcome, rule string) {
	if o.meters != nil {
		o.meters.decided.of(decision{outcome, rule}).Add(1)
	}
}

// CallAsked implements host.Observer.
func (o *Observer) CallAsked(plugin string, kind tool.QuestionKind, outcome question.Outcome) {
	if o.meters != nil {
		o.meters.questions.Add(context.Background(), 1, o.meters.option(labels{plugin: plugin, kind: string(kind), outcome: string(outcome)}))
	}
}

// Expect prepares the metrics of a plugin that is in service at the start. PluginEvent prepares
// those of later plugins.
func (o *Observer) Expect(plugin string) {
	if o != nil && o.meters != nil {
		o.meters.expect(plugin)
	}
}

// PluginEvent implements supervisor.Observer.
func (o *Observer) PluginEvent(e tool.PluginEvent) {
	if o.meters != nil {
		if e.Type == string(lifecycle.EventAdded) {
			o.meters.expect(e.Plugin)
		}
		o.meters.events.Add(context.Background(), 1, o.meters.option(labels{plugin: e.Plugin, kind: e.Type}))
	}
}

// InstanceReady implements supervisor.Observer.
func (o *Observer) InstanceReady(plugin string, took time.Duration) {
	if o.meters != nil {
		o.meters.launches.Record(context.Background(), took.Seconds(), o.meters.option(labels{plugin: plugin}))
	}
}

// LaunchFailed implements supervisor.Observer.
func (o *Observer) LaunchFailed(plugin string, _ *tool.Error) {
	if o.meters != nil {
		o.meters.failedLaunches.Add(context.Background(), 1, o.meters.option(labels{plugin: plugin}))
	}
}

// InstanceEnded implements supervisor.Observer.
func (o *Observer) InstanceEnded(plugin string, exit tool.PluginExit, cpu time.Duration) {
	if o.meters == nil {
		return
	}
	o.mu.Lock()
	o.ended[plugin] += cpu
	o.mu.Unlock()
	o.meters.exits.Add(context.Background(), 1, o.meters.option(labels{plugin: plugin, kind: exitReason(&exit)}))
}

// LedgerTook reports how long statements to the database of the ledger took. kind is a constant.
func (o *Observer) LedgerTook(kind string, took time.Duration) {
	if o != nil && o.meters != nil {
		o.meters.statements.Record(context.Background(), took.Seconds(), o.meters.option(labels{kind: kind}))
	}
}

// ExpectPassed makes the counter of the failures of a method exist before the first one, as
// instruments.expect does.
func (o *Observer) ExpectPassed(method string) {
	if o != nil && o.meters != nil {
		o.meters.passed.Add(context.Background(), 0, o.meters.option(labels{method: method, outcome: "unreachable"}))
	}
}

// RequestPassed reports that a request was passed on to another toolhost. method is the name of an
// RPC, and outcome a constant.
func (o *Observer) RequestPassed(method, outcome string) {
	if o != nil && o.meters != nil {
		o.meters.passed.Add(context.Background(), 1, o.meters.option(labels{method: method, outcome: outcome}))
	}
}

// unhealthyExit is the reason of the exit of an instance with a call that did not stop.
const unhealthyExit = "unhealthy"

// exitReason returns the reason why an instance ended, as one of a fixed set of words.
func exitReason(exit *tool.PluginExit) string {
	switch {
	case exit.Exit.OutOfMemory:
		return "out_of_memory"
	case exit.Unhealthy:
		return unhealthyExit
	case exit.Expected:
		return "stopped"
	case exit.Exit.Signal != "":
		return "signal"
	default:
		return "exit_code"
	}
}

// Observe registers the gauges. measure returns their values whenever a reader asks for the
// metrics.
func (o *Observer) Observe(measure func() State) error {
	if o == nil || o.meters == nil {
		return nil
	}
	return o.meters.observe(func() State {
		state := measure()
		o.addEnded(&state)
		return state
	})
}

// addEnded adds the processor time of ended instances to that of the running ones. The result never
// decreases. Without that rule, the time of an instance would be missing between its end and the
// report of its end.
func (o *Observer) addEnded(state *State) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range state.Plugins {
		p := &state.Plugins[i]
		p.CPU = max(p.CPU+o.ended[p.Plugin], o.total[p.Plugin])
		o.total[p.Plugin] = p.CPU
	}
}

// State is what the gauges show.
type State struct {
	host.Measurements
	InFlightBytes int64 // memory of calls in flight
	DiskFree      int64 // of the file system of the state folder; negative: unknown
	DiskSize      int64
	// BeatAge is the time since this toolhost wrote to the database of the ledger that it lives;
	// negative: the ledger is in a file.
	BeatAge time.Duration
	Nodes   map[string]int // the toolhosts of the ledger by state; nil: not known
}

// labels are the labels of a measurement. Empty ones are left out.
type labels struct{ tool, plugin, outcome, kind, method string }

// optionCache stores labels in OpenTelemetry's form. Converting them costs more than a measurement.
// The catalog bounds the number of labels at any time, but a process that runs for years may see
// many catalogs. So the cache is bounded as well.
type optionCache struct {
	mu   sync.RWMutex
	made map[labels]metric.MeasurementOption
}

func (c *optionCache) option(l labels) metric.MeasurementOption {
	c.mu.RLock()
	made := c.made[l]
	c.mu.RUnlock()
	if made != nil {
		return made
	}
	made = setOf(texts("tool", l.tool, "plugin", l.plugin, "outcome", l.outcome, "type", l.kind, "method", l.method)...)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.made) < telemetry.MaxSeries {
		c.made[l] = made
	}
	return made
}

// outcomeOf returns how a call ended, as one word: ok, tool_error, or the kind of an error.
func outcomeOf(outcome *tool.Outcome) string {
	switch {
	case outcome.Err != nil:
		return string(outcome.Err.Kind)
	case outcome.Result.IsError:
		return "tool_error"
	default:
		return "ok"
	}
}
