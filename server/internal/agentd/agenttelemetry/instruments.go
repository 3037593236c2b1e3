package agenttelemetry

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
)

// instruments are the metrics of agentd.
type instruments struct {
	meter                                  metric.Meter
	finished, turns, retries, calls, asked metric.Int64Counter
	modelFailures, journalFailures         metric.Int64Counter
	cost                                   metric.Float64Counter
	tokens                                 metric.Int64Histogram
	operation, firstChunk                  metric.Float64Histogram
	work, callDuration, appended           metric.Float64Histogram
}

// The bounds of buckets in seconds and in tokens that the conventions prescribe.
var (
	operationBuckets  = metric.WithExplicitBucketBoundaries(.01, .02, .04, .08, .16, .32, .64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
	firstChunkBuckets = metric.WithExplicitBucketBoundaries(.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10)
	tokenBuckets      = metric.WithExplicitBucketBoundaries(1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864)
	secondsBuckets    = metric.WithExplicitBucketBoundaries(.001, .005, .01, .05, .1, .5, 1, 5, 10, 60, 300, 1800)
)

func newInstruments(meter metric.Meter, o *Observer) (*instruments, error) {
	m := &instruments{meter: meter}
	var errs []error
	counter := func(name, about string) metric.Int64Counter {
		c, err := meter.Int64Counter(name, metric.WithDescription(about))
		errs = append(errs, err)
		return c
	}
	histogram := func(name, about string, buckets metric.HistogramOption) metric.Float64Histogram {
		h, err := meter.Float64Histogram(name, metric.WithDescription(about), metric.WithUnit("s"), buckets)
		errs = append(errs, err)
		return h
	}
	m.finished = counter("agentd.runs.finished", "Runs that have ended, by stop reason.")
	m.turns = counter("agentd.turns", "Responses of models that runs have used.")
	m.retries = counter("agentd.model.retries", "Attempts after the first one of a model request.")
	m.modelFailures = counter("agentd.model.failures", "Model requests that failed in spite of their retries, by kind of failure.")
	m.journalFailures = counter("agentd.journal.failures", "Writes to the journal that failed.")
	m.calls = counter("agentd.calls", "Calls of tools that have ended, by outcome.")
	m.asked = counter("agentd.decisions", "Questions to persons, by type.")
	m.work = histogram("agentd.run.work.duration", "How long runs worked without waiting for a person.", secondsBuckets)
	m.callDuration = histogram("agentd.call.duration", "From the sending of a call until its result is in the journal.", secondsBuckets)
	m.appended = histogram("agentd.journal.append.duration", "How long writes to the journal took, by outcome.", secondsBuckets)
	m.operation = histogram("gen_ai.client.operation.duration", "How long model requests took, with their retries.", operationBuckets)
	m.firstChunk = histogram("gen_ai.client.operation.time_to_first_chunk", "From a model request until the model began to answer.", firstChunkBuckets)
	var err error
	m.tokens, err = meter.Int64Histogram("gen_ai.client.token.usage", metric.WithUnit("{token}"), metric.WithDescription("Tokens of model requests."), tokenBuckets)
	errs = append(errs, err)
	m.cost, err = meter.Float64Counter("agentd.cost", metric.WithDescription("The cost of model requests, in the unit of the configured prices."))
	errs = append(errs, err)
	return m, errors.Join(append(errs, err, observeRuns(meter, o))...)
}

// observeRuns registers the gauges.
func observeRuns(meter metric.Meter, o *Observer) error {
	runs, err := meter.Int64ObservableGauge("agentd.runs", metric.WithDescription("Runs of this process, by state."))
	if err != nil {
		return err
	}
	longest, err := meter.Float64ObservableGauge("agentd.runs.longest_wait", metric.WithUnit("s"),
		metric.WithDescription("How long the run that waits longest has waited for a person."))
	if err != nil {
		return err
	}
	_, err = meter.RegisterCallback(func(ctx context.Context, observer metric.Observer) error {
		waiting, wait, parked := o.waits(ctx)
		observer.ObserveInt64(runs, o.working.Load(), metric.WithAttributes(attribute.String("state", "working")))
		observer.ObserveInt64(runs, int64(waiting), metric.WithAttributes(attribute.String("state", "waiting_for_person")))
		if parked >= 0 {
			observer.ObserveInt64(runs, int64(parked), metric.WithAttributes(attribute.String("state", "parked")))
		}
		observer.ObserveFloat64(longest, wait.Seconds())
		return nil
	}, runs, longest)
	return err
}

// expect makes the counters of failures exist before the first failure, with the value 0.
// Prometheus computes an increase from two samples: in a counter that appears with the value 1, it
// sees no increase, and an alert would miss the first failure.
func (m *instruments) expect(name string) {
	ctx := context.Background()
	provider, model := providerOf(name)
	for _, failure := range agent.ModelFailures() {
		m.modelFailures.Add(ctx, 0, metric.WithAttributes(append(modelLabels(provider, model), attribute.String("error.type", failure))...))
	}
	for _, reason := range loop.StopReasons() {
		for _, sub := range []bool{false, true} {
			m.finished.Add(ctx, 0, metric.WithAttributes(attribute.String("stop_reason", string(reason)), attribute.Bool("sub_run", sub)))
		}
	}
	m.journalFailures.Add(ctx, 0)
	m.cost.Add(ctx, 0, metric.WithAttributes(modelLabels(provider, model)...))
}

// modelLabels returns the labels of a model request.
func modelLabels(provider, model string) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String("gen_ai.operation.name", "chat"), attribute.String("gen_ai.provider.name", provider), attribute.String("gen_ai.request.model", model),
	}
}

// stretch counts a stretch of work.
func (m *instruments) stretch(end *agent.WorkEnd) {
	ctx := context.Background()
	m.work.Record(ctx, end.Took.Seconds())
	if end.Finished != nil {
		m.finished.Add(ctx, 1, metric.WithAttributes(attribute.String("stop_reason", string(end.Finished.StopReason)), attribute.Bool("sub_run", end.SubRun)))
	}
}

// answer counts a model request.
func (m *instruments) answer(end *agent.ModelEnd) {
	ctx := context.Background()
	provider, model := providerOf(end.Model)
	all := metric.WithAttributes(modelLabels(provider, model)...)
	m.tokens.Record(ctx, int64(end.Usage.InputTokens), all, metric.WithAttributes(attribute.String("gen_ai.token.type", "input")))
	m.tokens.Record(ctx, int64(end.Usage.OutputTokens), all, metric.WithAttributes(attribute.String("gen_ai.token.type", "output")))
	if end.FirstChunk > 0 {
		m.firstChunk.Record(ctx, end.FirstChunk.Seconds(), all)
	}
	if end.Cost > 0 {
		m.cost.Add(ctx, end.Cost, all)
	}
	if end.Attempts > 1 {
		m.retries.Add(ctx, int64(end.Attempts-1), all)
	}
	if end.Failure != "" {
		failure := metric.WithAttributes(attribute.String("error.type", end.Failure))
		m.operation.Record(ctx, end.Took.Seconds(), all, failure)
		m.modelFailures.Add(ctx, 1, all, failure)
		return
	}
	m.operation.Record(ctx, end.Took.Seconds(), all)
	if !end.Compaction {
		m.turns.Add(ctx, 1, all)
	}
}

// call counts a call.
func (m *instruments) call(end *agent.CallEnd) {
	ctx := context.Background()
	of := attribute.String("tool", end.Tool)
	m.calls.Add(ctx, 1, metric.WithAttributes(of, attribute.String("outcome", end.Outcome)))
	m.callDuration.Record(ctx, end.Took.Seconds(), metric.WithAttributes(of))
}
