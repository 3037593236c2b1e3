package hosttelemetry

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
	"github.com/toolhost/toolhost/tool"
)

// instruments are the metrics of toolhost.
type instruments struct {
	optionCache
	meter metric.Meter

	ended   counts[ending]
	decided counts[decision]

	coldStarts, retries, refused, events, exits, failedLaunches, questions, passed metric.Int64Counter
	cost                                                                           metric.Float64Counter
	duration, waited, filterDuration, launches, statements                         metric.Float64Histogram
}

// ending has the labels of a call that has ended.
type ending struct{ tool, plugin, outcome string }

// decision has the labels of a decision about a call.
type decision struct {
	outcome audit.Outcome
	rule    string
}

// The bounds of the buckets of durations in seconds, for collectors without exact histograms. Calls
// take from less than a millisecond to the longest timeout of a call.
var durationBuckets = metric.WithExplicitBucketBoundaries(.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 600)

func newInstruments(meter metric.Meter) (*instruments, error) {
	m := &instruments{optionCache: optionCache{made: map[labels]metric.MeasurementOption{}}, meter: meter}
	var errs []error
	counter := func(name, about string) metric.Int64Counter {
		c, err := meter.Int64Counter(name, metric.WithDescription(about))
		errs = append(errs, err)
		return c
	}
	histogram := func(name, about string) metric.Float64Histogram {
		h, err := meter.Float64Histogram(name, metric.WithDescription(about), metric.WithUnit("s"), durationBuckets)
		errs = append(errs, err)
		return h
	}
	m.coldStarts = counter("toolhost.cold_starts", "Calls that waited for the launch of an instance.")
	m.retries = counter("toolhost.call.retries", "Attempts after the first one of a call.")
	m.refused = counter("toolhost.calls.refused", "Calls that could not begin, such as those of an unknown tool.")
	m.events = counter("toolhost.plugin.events", "Events of plugins and instances, by type.")
	m.exits = counter("toolhost.instance.exits", "Instances that have ended, by reason.")
	m.questions = counter("toolhost.questions", "Questions of tools that have ended, by kind and outcome.")
	m.failedLaunches = counter("toolhost.launches.failed", "Processes that did not get to take calls.")
	m.passed = counter("toolhost.requests.passed", "Requests that were passed on to other toolhosts, by method and outcome.")
	m.statements = histogram("toolhost.ledger.statement.duration", "How long statements to the database of the ledger took, by type.")
	m.duration = histogram("toolhost.call.duration", "From the arrival of a call to its outcome.")
	m.waited = histogram("toolhost.call.wait", "From the arrival of a call until an instance got it.")
	m.filterDuration = histogram("toolhost.filter.duration", "How long filters took.")
	m.launches = histogram("toolhost.launch.duration", "From the decision to launch an instance until it takes calls.")
	var err error
	m.cost, err = meter.Float64Counter("toolhost.call.cost", metric.WithDescription("The cost of calls, in the unit of the tools."))
	return m, errors.Join(append(errs, err, m.observeCounts())...)
}

// observeCounts registers the counters that every call increments.
func (m *instruments) observeCounts() error {
	m.ended.labelsOf = func(e ending) []attribute.KeyValue {
		return texts("tool", e.tool, "plugin", e.plugin, "outcome", e.outcome)
	}
	m.ended.timingOf = func(e ending) []attribute.KeyValue { return texts("tool", e.tool, "plugin", e.plugin) }
	m.decided.labelsOf = func(d decision) []attribute.KeyValue {
		return texts("outcome", string(d.outcome), "rule", d.rule)
	}
	calls, err := m.meter.Int64ObservableCounter("toolhost.calls", metric.WithDescription("Calls that have ended, by outcome."))
	if err != nil {
		return err
	}
	decisions, err := m.meter.Int64ObservableCounter("toolhost.policy.decisions", metric.WithDescription("Decisions about calls, by outcome and rule."))
	if err != nil {
		return err
	}
	_, err = m.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		m.ended.observe(calls, o)
		m.decided.observe(decisions, o)
		return nil
	}, calls, decisions)
	return err
}

// failureEvents are the types of events for which operators have alerts.
var failureEvents = []lifecycle.EventType{lifecycle.EventCrashed, lifecycle.EventLaunchFailed, lifecycle.EventQuarantined}

// expect makes the counters of a plugin's failures exist before its first failure, with the value
// 0. Prometheus computes an increase from two samples: in a counter that appears with the value 1,
// it sees no increase, and an alert would miss the first failure.
func (m *instruments) expect(plugin string) {
	ctx := context.Background()
	for _, kind := range failureEvents {
		m.events.Add(ctx, 0, m.option(labels{plugin: plugin, kind: string(kind)}))
	}
	m.exits.Add(ctx, 0, m.option(labels{plugin: plugin, kind: unhealthyExit}))
	m.failedLaunches.Add(ctx, 0, m.option(labels{plugin: plugin}))
}

// call counts a call that has ended.
func (m *instruments) call(end *host.CallEnd) {
	ctx := context.Background()
	count := m.ended.of(ending{end.Call.Tool, end.Plugin, outcomeOf(end.Outcome)})
	count.Add(1)
	m.duration.Record(ctx, end.Total.Seconds(), count.timing...)
	if end.Waited > 0 {
		m.waited.Record(ctx, end.Waited.Seconds(), count.timing...)
	}
	if !end.Cold && end.Attempts <= 1 && end.Cost <= 0 {
		return
	}
	option := m.option(labels{tool: end.Call.Tool, plugin: end.Plugin})
	if end.Cold {
		m.coldStarts.Add(ctx, 1, option)
	}
	if end.Attempts > 1 {
		m.retries.Add(ctx, int64(end.Attempts-1), option)
	}
	if end.Cost > 0 {
		m.cost.Add(ctx, end.Cost, option)
	}
}

// gauges are the metrics that are measured only when a reader asks for them.
type gauges struct {
	instances, running, queued, maxQueue, memory  metric.Int64ObservableGauge
	state, ledgerIDs, maxLedgerIDs                metric.Int64ObservableGauge
	ledgerCalls, ledgerBytes, approvals, inFlight metric.Int64ObservableGauge
	artifacts, artifactBytes, diskFree, diskSize  metric.Int64ObservableGauge
	nodes, elsewhere                              metric.Int64ObservableGauge
	cpu                                           metric.Float64ObservableCounter
	beatAge                                       metric.Float64ObservableGauge
}

func (m *instruments) observe(measure func() State) error {
	var g gauges
	var errs []error
	var all []metric.Observable
	for _, of := range []struct {
		gauge             *metric.Int64ObservableGauge
		name, unit, about string
	}{
		{&g.instances, "toolhost.instances", "", "Instances, by state."},
		{&g.running, "toolhost.calls.running", "", "Calls that instances execute."},
		{&g.queued, "toolhost.calls.queued", "", "Calls that wait for an instance."},
		{&g.maxQueue, "toolhost.calls.queue_limit", "", "The largest number of calls that may wait for an instance. Further calls are refused."},
		{&g.memory, "toolhost.plugin.memory", "By", "The resident memory of the instances of a plugin."},
		{&g.state, "toolhost.plugin.state", "", "1 for the state that a plugin is in: enabled, paused, backing_off, quarantined or disabled."},
		{&g.ledgerCalls, "toolhost.ledger.calls", "", "Calls that the ledger has in memory."},
		{&g.ledgerBytes, "toolhost.ledger.size", "By", "The size of their outcomes."},
		{&g.ledgerIDs, "toolhost.ledger.ids", "", "Calls with side effects whose ids the ledger has on disk."},
		{&g.maxLedgerIDs, "toolhost.ledger.id_limit", "", "The largest number of such ids. Further calls with side effects are refused."},
		{&g.nodes, "toolhost.nodes", "", "Toolhosts of the ledger in a database, by state: up, silent or gone."},
		{&g.elsewhere, "toolhost.calls.elsewhere", "", "Calls that wait for the end of a call at another toolhost."},
		{&g.approvals, "toolhost.approvals.waiting", "", "Calls whose final arguments are kept for an approval."},
		{&g.inFlight, "toolhost.memory.in_flight", "By", "The memory of calls in flight."},
		{&g.artifacts, "toolhost.artifacts", "", "Artifacts that are stored."},
		{&g.artifactBytes, "toolhost.artifacts.size", "By", "The size of all artifacts."},
		{&g.diskFree, "toolhost.disk.free", "By", "Free space of the file system of the state folder."},
		{&g.diskSize, "toolhost.disk.size", "By", "The size of this file system."},
	} {
		gauge, err := m.meter.Int64ObservableGauge(of.name, metric.WithUnit(of.unit), metric.WithDescription(of.about))
		*of.gauge, errs, all = gauge, append(errs, err), append(all, gauge)
	}
	cpu, err := m.meter.Float64ObservableCounter("toolhost.plugin.cpu", metric.WithUnit("s"), metric.WithDescription("The processor time of the instances of a plugin."))
	g.cpu, errs, all = cpu, append(errs, err), append(all, cpu)
	age, err := m.meter.Float64ObservableGauge("toolhost.ledger.beat_age", metric.WithUnit("s"), metric.WithDescription("The time since this toolhost wrote to the database of the ledger that it lives."))
	g.beatAge, errs, all = age, append(errs, err), append(all, age)
	if err := errors.Join(errs...); err != nil {
		return err
	}
	_, err = m.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		g.report(o, measure())
		return nil
	}, all...)
	return err
}

// states are the states that a plugin can have once a call has used it.
var states = []tool.PluginState{tool.PluginEnabled, tool.PluginPaused, tool.PluginBackingOff, tool.PluginQuarantined, tool.PluginDisabled}

// report observes the values.
func (g *gauges) report(o metric.Observer, s State) {
	for _, p := range s.Plugins {
		plugin := attribute.String("plugin", p.Plugin)
		of := metric.WithAttributes(plugin)
		for state, count := range p.Instances {
			o.ObserveInt64(g.instances, int64(count), metric.WithAttributes(plugin, attribute.String("state", string(state))))
		}
		for _, state := range states {
			in := int64(0)
			if p.State == state {
				in = 1
			}
			o.ObserveInt64(g.state, in, metric.WithAttributes(plugin, attribute.String("state", string(state))))
		}
		o.ObserveInt64(g.running, int64(p.Calls), of)
		o.ObserveInt64(g.queued, int64(p.Queued), of)
		o.ObserveInt64(g.maxQueue, int64(p.MaxQueue), of)
		o.ObserveInt64(g.memory, int64(p.RSSBytes), of)
		o.ObserveFloat64(g.cpu, p.CPU.Seconds(), of)
	}
	for gauge, value := range map[metric.Int64ObservableGauge]int64{
		g.ledgerCalls: int64(s.LedgerCalls), g.ledgerBytes: int64(s.LedgerBytes), g.approvals: int64(s.Approvals), g.inFlight: s.InFlightBytes,
		g.artifacts: int64(s.Artifacts), g.artifactBytes: s.ArtifactBytes,
	} {
		o.ObserveInt64(gauge, value)
	}
	if s.MaxLedgerIDs > 0 {
		o.ObserveInt64(g.ledgerIDs, int64(s.LedgerIDs))
		o.ObserveInt64(g.maxLedgerIDs, int64(s.MaxLedgerIDs))
	}
	g.reportShared(o, s)
	if s.DiskFree >= 0 {
		o.ObserveInt64(g.diskFree, s.DiskFree)
		o.ObserveInt64(g.diskSize, s.DiskSize)
	}
}

// reportShared observes the values of a ledger that toolhosts share.
func (g *gauges) reportShared(o metric.Observer, s State) {
	if s.BeatAge < 0 {
		return
	}
	o.ObserveFloat64(g.beatAge, s.BeatAge.Seconds())
	o.ObserveInt64(g.elsewhere, int64(s.Elsewhere))
	for state, count := range s.Nodes {
		o.ObserveInt64(g.nodes, int64(count), setOf(attribute.String("state", state)))
	}
}
