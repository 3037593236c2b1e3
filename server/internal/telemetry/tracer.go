package telemetry

import (
	"context"
	"crypto/rand"
	"encoding/binary"

	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/toolhost/toolhost/internal/wire/trace"
)

// Tracer begins spans. A nil Tracer records nothing.
type Tracer struct {
	oteltrace.Tracer
	telemetry *Telemetry
}

// Tracer returns the tracer that begins this program's spans; nil if there are no traces.
func (t *Telemetry) Tracer() *Tracer {
	if t == nil || t.traces == nil {
		return nil
	}
	return &Tracer{t.traces.Tracer(scope), t}
}

// Of returns a tracer whose spans have another instrumentation scope, such as that of a plugin.
func (t *Tracer) Of(scope string) oteltrace.Tracer { return t.telemetry.traces.Tracer(scope) }

// Sample decides whether a new trace is recorded.
func (t *Tracer) Sample() bool {
	ratio := t.telemetry.choices.Load().ratio
	if ratio >= 1 || ratio <= 0 {
		return ratio >= 1
	}
	var b [8]byte
	rand.Read(b[:]) // never fails
	return float64(binary.LittleEndian.Uint64(b[:])>>11)/(1<<53) < ratio
}

// Content reports whether spans have arguments and results.
func (t *Tracer) Content() bool { return t.telemetry.choices.Load().traces.Content }

// Trusts reports whether the sampled flag of a caller takes effect. See telemetryconfig.Traces.
func (t *Tracer) Trusts(sameUser bool) bool {
	return t.telemetry.choices.Load().traces.Trusts(sameUser)
}

// Dropped counts spans that will not be exported.
func (t *Tracer) Dropped(n int) { t.telemetry.spans.watch.dropped.Add(int64(n)) }

// SpanContext returns a trace context in OpenTelemetry's form.
func SpanContext(c trace.Context) oteltrace.SpanContext {
	flags := oteltrace.TraceFlags(0)
	if c.Sampled {
		flags = oteltrace.FlagsSampled
	}
	return oteltrace.NewSpanContext(oteltrace.SpanContextConfig{
		TraceID: oteltrace.TraceID(c.Trace), SpanID: oteltrace.SpanID(c.Span), TraceFlags: flags, Remote: true,
	})
}

// Context returns the trace context of a span.
func Context(span oteltrace.Span) trace.Context {
	c := span.SpanContext()
	return trace.Context{Trace: trace.TraceID(c.TraceID()), Span: trace.SpanID(c.SpanID()), Sampled: c.IsSampled()}
}

// WithParent returns a context in which a span begins below a parent.
func WithParent(ctx context.Context, parent trace.Context) context.Context {
	parent.Sampled = true // the caller has decided to record the span
	return oteltrace.ContextWithRemoteSpanContext(ctx, SpanContext(parent))
}

// idsKey is the key of a trace.Context in the context of a span that gets its ids.
type idsKey struct{}

// WithIDs returns a context in which a new span gets the given ids. Callers need it where the ids
// exist before the span: those of a run are in its journal, and a plugin chooses those of its
// spans. A span with a parent has the parent's trace id.
func WithIDs(ctx context.Context, ids trace.Context) context.Context {
	return context.WithValue(ctx, idsKey{}, ids)
}

// chosenIDs generates ids, or takes those of WithIDs.
type chosenIDs struct{}

// NewIDs implements sdktrace.IDGenerator.
func (chosenIDs) NewIDs(ctx context.Context) (oteltrace.TraceID, oteltrace.SpanID) {
	if ids, ok := ctx.Value(idsKey{}).(trace.Context); ok {
		return oteltrace.TraceID(ids.Trace), oteltrace.SpanID(ids.Span)
	}
	var id oteltrace.TraceID
	for !id.IsValid() {
		rand.Read(id[:]) // never fails
	}
	return id, oteltrace.SpanID(trace.NewSpanID())
}

// NewSpanID implements sdktrace.IDGenerator.
func (chosenIDs) NewSpanID(ctx context.Context, _ oteltrace.TraceID) oteltrace.SpanID {
	if ids, ok := ctx.Value(idsKey{}).(trace.Context); ok {
		return oteltrace.SpanID(ids.Span)
	}
	return oteltrace.SpanID(trace.NewSpanID())
}
