// Package agenttelemetry translates the agent's reports about runs to metrics and spans.
//
// The names follow the semantic conventions for generative AI. Every label is a value of an
// enumeration or a name from the configuration or from toolhost's list of tools.
package agenttelemetry

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/toolhost/toolhost/internal/wire/trace"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/telemetry"
)

// agentName is the name of the agent in spans.
const agentName = "agentd"

// Observer is the observer of an agent. It is safe for concurrent use.
type Observer struct {
	tracer *telemetry.Tracer // nil: no traces
	meters *instruments      // nil: no metrics

	working atomic.Int64 // runs

	mu      sync.Mutex
	waiting map[string]time.Time // since when runs wait for a person, by run
	shared  *shared              // nil: all runs are those of this process
}

var _ agent.Observer = (*Observer)(nil)

// New returns the observer for an agent; nil if nothing is exported. model is the name of the
// configured model.
func New(t *telemetry.Telemetry, model string) (*Observer, error) {
	o := &Observer{tracer: t.Tracer(), waiting: map[string]time.Time{}}
	if meter := t.Meter(); meter != nil {
		var err error
		if o.meters, err = newInstruments(meter, o); err != nil {
			return nil, err
		}
		o.meters.expect(model)
	}
	if o.tracer == nil && o.meters == nil {
		return nil, nil
	}
	return o, nil
}

// Sampled implements agent.RunObserver. If agentd records no traces itself, every run is sampled,
// so that toolhost can record its calls.
func (o *Observer) Sampled() bool { return o.tracer == nil || o.tracer.Sample() }

// WorkBegan implements agent.RunObserver.
func (o *Observer) WorkBegan() { o.working.Add(1) }

// WorkEnded implements agent.RunObserver.
func (o *Observer) WorkEnded(end *agent.WorkEnd) {
	o.working.Add(-1)
	if o.meters != nil {
		o.meters.stretch(end)
	}
	provider, model := providerOf(end.Model)
	attributes := []attribute.KeyValue{
		semconv.GenAIOperationNameInvokeAgent, semconv.GenAIAgentName(agentName), semconv.GenAIProviderNameKey.String(provider),
		semconv.GenAIRequestModel(model), semconv.GenAIConversationID(end.Session), attribute.String("agentd.run.id", end.Run),
		attribute.Bool("agentd.waits_for_person", end.Waits),
	}
	if end.Agent != "" {
		attributes = append(attributes, attribute.String("agentd.run.agent", end.Agent))
	}
	s := finished{name: "invoke_agent " + agentName, kind: oteltrace.SpanKindInternal, ids: end.Context, parent: end.Parent, began: end.Began, took: end.Took}
	if f := end.Finished; f != nil {
		attributes = append(attributes, attribute.String("agentd.stop_reason", string(f.StopReason)), attribute.Int("agentd.turns", f.Turns),
			attribute.Int("agentd.calls", f.Calls), semconv.GenAIUsageInputTokens(int(f.Usage.InputTokens)), semconv.GenAIUsageOutputTokens(int(f.Usage.OutputTokens)))
		if !f.StopReason.Succeeded() {
			s.failure = string(f.StopReason)
		}
	}
	if end.Before.Valid() {
		s.link = end.Before
	}
	s.attributes = attributes
	o.export(s)
}

// ModelAnswered implements agent.StepObserver.
func (o *Observer) ModelAnswered(end *agent.ModelEnd) {
	if o.meters != nil {
		o.meters.answer(end)
	}
	provider, model := providerOf(end.Model)
	attributes := []attribute.KeyValue{
		semconv.GenAIOperationNameChat, semconv.GenAIProviderNameKey.String(provider), semconv.GenAIRequestModel(model), semconv.GenAIRequestStream(true),
		semconv.GenAIConversationID(end.Session), semconv.GenAIUsageInputTokens(int(end.Usage.InputTokens)),
		semconv.GenAIUsageOutputTokens(int(end.Usage.OutputTokens)), attribute.Int("agentd.attempts", end.Attempts), attribute.Bool("agentd.compaction", end.Compaction),
	}
	if end.FirstChunk > 0 {
		attributes = append(attributes, semconv.GenAIResponseTimeToFirstChunk(end.FirstChunk.Seconds()))
	}
	if end.StopReason != "" {
		attributes = append(attributes, semconv.GenAIResponseFinishReasons(end.StopReason))
	}
	ids := end.Context
	ids.Span = trace.NewSpanID()
	o.export(finished{
		name: "chat " + model, kind: oteltrace.SpanKindClient, ids: ids, parent: end.Context.Span, began: end.Began, took: end.Took,
		failure: end.Failure, attributes: attributes,
	})
}

// CallEnded implements agent.StepObserver.
func (o *Observer) CallEnded(end *agent.CallEnd) {
	if o.meters != nil {
		o.meters.call(end)
	}
	failure := end.Outcome
	if failure == "ok" {
		failure = ""
	}
	o.export(finished{
		name: "execute_tool " + end.Tool, kind: oteltrace.SpanKindClient, ids: end.Context, parent: end.Parent.Span, began: end.Began, took: end.Took,
		failure: failure, attributes: []attribute.KeyValue{
			semconv.GenAIOperationNameExecuteTool, semconv.GenAIToolName(end.Tool), semconv.GenAIToolCallID(end.ID), semconv.GenAIConversationID(end.Session),
		},
	})
}

// Asked implements agent.WaitObserver.
func (o *Observer) Asked(kind string) {
	if o.meters != nil {
		o.meters.asked.Add(context.Background(), 1, metric.WithAttributes(attribute.String("type", kind)))
	}
}

// RunWaits implements agent.WaitObserver.
func (o *Observer) RunWaits(run string, since time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if since.IsZero() {
		delete(o.waiting, run)
	} else {
		o.waiting[run] = since
	}
}

// waits returns how many runs wait for a person, the longest of these waits, and how many runs are
// parked; negative: runs of this store are never parked.
func (o *Observer) waits(ctx context.Context) (runs int, longest time.Duration, parked int) {
	o.mu.Lock()
	for _, since := range o.waiting {
		longest = max(longest, time.Since(since))
	}
	runs, others := len(o.waiting), o.shared
	o.mu.Unlock()
	if others == nil {
		return runs, longest, -1
	}
	c := others.read(ctx)
	if c.Waiting > 0 && !c.Since.IsZero() {
		longest = max(longest, time.Since(c.Since))
	}
	return runs + c.Waiting, longest, c.Parked
}

// Appended implements agent.StepObserver.
func (o *Observer) Appended(took time.Duration, err error) {
	if o.meters == nil {
		return
	}
	outcome := "ok"
	if err != nil {
		outcome = "failed"
		o.meters.journalFailures.Add(context.Background(), 1)
	}
	o.meters.appended.Record(context.Background(), took.Seconds(), metric.WithAttributes(attribute.String("outcome", outcome)))
}

// finished is a span that has ended. The journal has the ids of the spans of runs and calls before
// the spans exist. Plugins and logs use these ids, so that they lead to the span.
type finished struct {
	name       string
	kind       oteltrace.SpanKind
	ids        trace.Context
	parent     trace.SpanID  // zero: the span begins the trace
	link       trace.Context // zero: none
	began      time.Time
	took       time.Duration
	failure    string // one word; empty: it succeeded
	attributes []attribute.KeyValue
}

// export exports a span, if its trace is recorded.
func (o *Observer) export(s finished) {
	if o.tracer == nil || !s.ids.Valid() || !s.ids.Sampled {
		return
	}
	ctx := telemetry.WithIDs(context.Background(), s.ids)
	if s.parent.Valid() {
		ctx = telemetry.WithParent(ctx, trace.Context{Trace: s.ids.Trace, Span: s.parent})
	}
	options := []oteltrace.SpanStartOption{
		oteltrace.WithTimestamp(s.began), oteltrace.WithSpanKind(s.kind), oteltrace.WithAttributes(s.attributes...),
	}
	if s.link.Valid() {
		options = append(options, oteltrace.WithLinks(oteltrace.Link{SpanContext: telemetry.SpanContext(s.link)}))
	}
	_, span := o.tracer.Start(ctx, s.name, options...)
	if s.failure != "" {
		span.SetAttributes(semconv.ErrorTypeKey.String(s.failure))
		span.SetStatus(codes.Error, s.failure)
	}
	span.End(oteltrace.WithTimestamp(s.began.Add(s.took)))
}

// providerOf splits the name of a model into provider and model. The conventions use the same names
// for the providers that agentd knows, and allow any text for others.
func providerOf(name string) (provider, model string) {
	provider, model, ok := strings.Cut(name, ":")
	if !ok {
		return "unknown", name
	}
	if provider == "scripted" { // the rest is the path of a file
		return provider, "scripted"
	}
	return provider, model
}
