package spans

import (
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	oteltrace "go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/embedded"

	"github.com/toolhost/toolhost/internal/wire/trace"
)

// span implements trace.Span. It clips what it gets to the bounds of package trace at once, so that
// a span that has not ended is bounded too. The contract has no links between spans; span ignores
// them.
type span struct {
	embedded.Span
	recorder *Recorder
	context  oteltrace.SpanContext

	mu   sync.Mutex
	over bool
	data trace.Span
}

func newSpan(r *Recorder, parent oteltrace.SpanContext, name string, cfg oteltrace.SpanConfig) *span {
	id := trace.NewSpanID()
	s := &span{recorder: r, context: r.spanContext(id), data: trace.Span{ID: id, Name: trace.Cut(name, trace.MaxName)}}
	if parent.TraceID() == s.context.TraceID() && trace.SpanID(parent.SpanID()) != r.parent.Span && !cfg.NewRoot() {
		s.data.Parent = trace.SpanID(parent.SpanID())
	}
	s.data.Kind = trace.Kind(oteltrace.ValidateSpanKind(cfg.SpanKind())) // the values are the same
	s.data.Start = orNow(cfg.Timestamp())
	s.data.Attributes = set(nil, cfg.Attributes(), trace.MaxAttributes)
	return s
}

func orNow(t time.Time) time.Time {
	if t.IsZero() {
		return time.Now()
	}
	return t
}

// change runs f on the data of a span that has not ended.
func (s *span) change(f func(data *trace.Span)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		f(&s.data)
	}
}

// End implements trace.Span.
func (s *span) End(options ...oteltrace.SpanEndOption) {
	cfg := oteltrace.NewSpanEndConfig(options...)
	s.change(func(data *trace.Span) {
		s.over = true
		data.End = orNow(cfg.Timestamp())
		s.recorder.end(*data)
	})
}

// AddEvent implements trace.Span.
func (s *span) AddEvent(name string, options ...oteltrace.EventOption) {
	cfg := oteltrace.NewEventConfig(options...)
	s.change(func(data *trace.Span) {
		if len(data.Events) < trace.MaxEvents {
			data.Events = append(data.Events, trace.Event{
				Name: trace.Cut(name, trace.MaxName), Time: orNow(cfg.Timestamp()), Attributes: set(nil, cfg.Attributes(), trace.MaxEventAttributes),
			})
		}
	})
}

// RecordError implements trace.Span. The name and the attributes of the event are those of
// OpenTelemetry's conventions for exceptions.
func (s *span) RecordError(err error, options ...oteltrace.EventOption) {
	if err == nil {
		return
	}
	attributes := []attribute.KeyValue{
		attribute.String("exception.type", fmt.Sprintf("%T", err)), attribute.String("exception.message", err.Error()),
	}
	if cfg := oteltrace.NewEventConfig(options...); cfg.StackTrace() {
		attributes = append(attributes, attribute.String("exception.stacktrace", string(debug.Stack())))
	}
	s.AddEvent("exception", append([]oteltrace.EventOption{oteltrace.WithAttributes(attributes...)}, options...)...)
}

// SetStatus implements trace.Span.
func (s *span) SetStatus(code codes.Code, description string) {
	s.change(func(data *trace.Span) {
		switch {
		case data.Status == trace.OK: // final
		case code == codes.Ok:
			data.Status, data.Message = trace.OK, ""
		case code == codes.Error:
			data.Status, data.Message = trace.Failed, trace.Cut(description, trace.MaxText)
		}
	})
}

// SetName implements trace.Span.
func (s *span) SetName(name string) {
	s.change(func(data *trace.Span) { data.Name = trace.Cut(name, trace.MaxName) })
}

// SetAttributes implements trace.Span.
func (s *span) SetAttributes(attributes ...attribute.KeyValue) {
	s.change(func(data *trace.Span) { data.Attributes = set(data.Attributes, attributes, trace.MaxAttributes) })
}

// IsRecording implements trace.Span.
func (s *span) IsRecording() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.over
}

// SpanContext implements trace.Span.
func (s *span) SpanContext() oteltrace.SpanContext { return s.context }

// TracerProvider implements trace.Span.
func (*span) TracerProvider() oteltrace.TracerProvider { return provider{} }

// AddLink implements trace.Span.
func (*span) AddLink(oteltrace.Link) {}
