// Package spans records the spans that the author's code creates during a call with OpenTelemetry's
// API.
//
// The problem: a plugin has no network, so the exporters of OpenTelemetry's SDK reach no collector,
// and only toolhost knows whether a call is recorded. The package therefore implements the tracing
// API itself. The global TracerProvider, which Install sets, creates spans that a Recorder in their
// context sends to toolhost in frames of the call. Without a Recorder in the context, a span costs
// one lookup in the context and no memory.
//
// The package imports OpenTelemetry's API only, never its SDK: every Go plugin links what the
// package imports.
package spans

import (
	"context"

	"go.opentelemetry.io/otel"
	oteltrace "go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/embedded"
)

// initial is the provider that OpenTelemetry has before any code sets one. It forwards to the first
// provider that is set, so that tracers in variables of packages work.
var initial = otel.GetTracerProvider()

// Install sets OpenTelemetry's global TracerProvider, unless the program has set one.
func Install() {
	if otel.GetTracerProvider() == initial {
		otel.SetTracerProvider(provider{})
	}
}

// provider implements trace.TracerProvider. It has no state: recorders are in contexts.
type provider struct{ embedded.TracerProvider }

// Tracer implements trace.TracerProvider. toolhost sets the instrumentation scope of the spans, so
// the name is not used.
func (provider) Tracer(string, ...oteltrace.TracerOption) oteltrace.Tracer { return tracer{} }

// tracer implements trace.Tracer.
type tracer struct{ embedded.Tracer }

// Start implements trace.Tracer.
func (tracer) Start(ctx context.Context, name string, options ...oteltrace.SpanStartOption) (context.Context, oteltrace.Span) {
	if ctx == nil {
		ctx = context.Background()
	}
	parent := oteltrace.SpanFromContext(ctx)
	if r, ok := ctx.Value(recorderKey{}).(*Recorder); ok {
		if s := r.start(parent.SpanContext(), name, options); s != nil {
			return oteltrace.ContextWithSpan(ctx, s), s
		}
	}
	if parent.IsRecording() { // the caller of Start ends what it gets, which must not end the parent
		ctx = oteltrace.ContextWithSpanContext(ctx, parent.SpanContext())
		parent = oteltrace.SpanFromContext(ctx)
	}
	return ctx, parent
}
