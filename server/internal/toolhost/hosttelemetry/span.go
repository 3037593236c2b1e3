package hosttelemetry

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/toolhost/toolhost/internal/wire/trace"
	"github.com/toolhost/toolhost/server/internal/telemetry"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/tool"
)

// maxContent bounds the bytes of the arguments, and those of the result, in a span.
const maxContent = 8 << 10

// span is the execute_tool span of a call. It stores the spans that plugins return until the call
// ends. Only then is it known which of their parents are spans of this call.
type span struct {
	oteltrace.Span
	observer *Observer
	began    time.Time
	parent   trace.SpanID // of the caller; zero: none
	text     string       // its trace context

	mu       sync.Mutex
	over     bool
	returned []returned
	dropped  int // spans of plugins that are not exported
}

// returned is a span of a plugin.
type returned struct {
	plugin string
	span   trace.Span
}

// CallBegan implements host.Observer.
func (o *Observer) CallBegan(call *tool.Call, kind host.CallKind, arrived time.Time) host.Span {
	if o.tracer == nil {
		return nil
	}
	parent, ok := trace.Parse(call.Traceparent)
	trusted := ok && (kind == host.FilterCall || o.tracer.Trusts(call.Principal == o.user))
	switch {
	case kind == host.FilterCall && !ok, trusted && !parent.Sampled, !trusted && !o.tracer.Sample():
		return nil
	}
	s := &span{observer: o, began: arrived}
	name, spanKind := "execute_tool "+call.Tool, oteltrace.SpanKindServer
	if kind == host.FilterCall {
		name, spanKind = "filter "+call.Tool, oteltrace.SpanKindInternal
	}
	options := []oteltrace.SpanStartOption{
		oteltrace.WithTimestamp(s.began), oteltrace.WithSpanKind(spanKind), oteltrace.WithAttributes(attributesOf(call)...),
	}
	ctx := context.Background()
	switch {
	case trusted:
		ctx, s.parent = telemetry.WithParent(ctx, parent), parent.Span
	case ok:
		options = append(options, oteltrace.WithLinks(oteltrace.Link{SpanContext: telemetry.SpanContext(parent)}))
	}
	_, s.Span = o.tracer.Start(ctx, name, options...)
	s.text = telemetry.Context(s.Span).String()
	return s
}

func attributesOf(call *tool.Call) []attribute.KeyValue {
	attributes := []attribute.KeyValue{
		semconv.GenAIOperationNameExecuteTool, semconv.GenAIToolName(call.Tool), semconv.GenAIToolType("function"),
		semconv.GenAIToolCallID(call.ID), attribute.String("toolhost.principal", call.Principal),
	}
	if call.Via != "" {
		attributes = append(attributes, attribute.String("toolhost.via", call.Via))
	}
	if call.Session != "" {
		attributes = append(attributes, semconv.GenAIConversationID(call.Session))
	}
	return attributes
}

// Traceparent implements host.Span.
func (s *span) Traceparent() string { return s.text }

// Event implements host.Span.
func (s *span) Event(name string, attributes ...slog.Attr) {
	s.AddEvent(name, oteltrace.WithAttributes(toAttributes(attributes)...))
}

// Arguments implements host.Span.
func (s *span) Arguments(text func() string) {
	if s.observer.tracer.Content() {
		s.SetAttributes(semconv.GenAIToolCallArgumentsKey.String(trace.Cut(text(), maxContent)))
	}
}

// Returned implements host.Span.
func (s *span) Returned(plugin string, spans []trace.Span, dropped int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		dropped, spans = dropped+len(spans), nil
	}
	for _, r := range spans {
		if len(s.returned) == trace.MaxSpans { // several attempts may have returned some
			dropped++
			continue
		}
		s.returned = append(s.returned, returned{plugin, r})
	}
	if dropped > 0 {
		s.dropped += dropped
		s.observer.tracer.Dropped(dropped)
	}
}

// end ends the span, after those of the plugin.
func (s *span) end(end *host.CallEnd) {
	now := s.began.Add(end.Total)
	s.mu.Lock()
	s.over = true
	spans, dropped := s.returned, s.dropped
	s.returned = nil
	s.mu.Unlock()
	if dropped += s.export(spans, now); dropped > 0 {
		s.SetAttributes(attribute.Int("toolhost.spans.dropped", dropped))
	}
	s.SetAttributes(attribute.String("toolhost.plugin.name", end.Plugin), attribute.String("toolhost.instance.id", end.Outcome.Instance),
		attribute.Int("toolhost.attempts", end.Attempts), attribute.Bool("toolhost.cold_start", end.Cold))
	if end.Cost > 0 {
		s.SetAttributes(attribute.Float64("toolhost.cost", end.Cost))
	}
	switch outcome := outcomeOf(end.Outcome); {
	case end.Outcome.Err != nil:
		s.SetAttributes(semconv.ErrorTypeKey.String(outcome))
		s.SetStatus(codes.Error, s.description(end.Outcome.Err))
	case end.Outcome.Result.IsError:
		s.SetAttributes(semconv.ErrorTypeKey.String(outcome))
		s.SetStatus(codes.Error, "the tool reports an error")
	}
	if s.observer.tracer.Content() && end.Outcome.Err == nil {
		s.SetAttributes(semconv.GenAIToolCallResultKey.String(resultText(&end.Outcome.Result)))
	}
	s.Span.End(oteltrace.WithTimestamp(now))
}

// description returns the text of the status of a failed call. A message may quote arguments or
// what the plugin wrote, so without content the text is only the kind of the error.
func (s *span) description(err *tool.Error) string {
	if s.observer.tracer.Content() {
		return trace.Cut(err.Message, trace.MaxText)
	}
	return string(err.Kind)
}

// resultText returns the text and JSON blocks of a result. The host has already removed secrets
// from them.
func resultText(r *tool.Result) string {
	var b strings.Builder
	for _, block := range r.Content {
		switch block.Kind {
		case tool.ContentText:
			b.WriteString(block.Text)
		case tool.ContentJSON:
			b.Write(json.RawMessage(block.JSON))
		}
		if b.Len() > maxContent {
			break
		}
	}
	return trace.Cut(b.String(), maxContent)
}

// export exports the spans of plugins as children of this one, and returns the number of dropped
// spans. A plugin controls only their content. export drops spans with the id of the call, or with
// an id that occurs twice. It replaces a parent that is no span of this plugin in this call, or
// whose ancestors form a ring, by the call's span. It clips times to the duration of the call.
func (s *span) export(spans []returned, end time.Time) (dropped int) {
	if len(spans) == 0 {
		return 0
	}
	of := telemetry.Context(s.Span)
	taken := map[trace.SpanID]bool{of.Span: true, s.parent: true}
	kept, known := spans[:0], family{}
	for _, r := range spans {
		if taken[r.span.ID] {
			dropped++
			continue
		}
		taken[r.span.ID] = true
		known[member{r.plugin, r.span.ID}] = r.span.Parent
		kept = append(kept, r)
	}
	if dropped > 0 {
		s.observer.tracer.Dropped(dropped)
	}
	for _, r := range kept {
		parent := of
		if id := known.parent(member{r.plugin, r.span.ID}); id.Valid() {
			parent.Span = id
		}
		s.exportOne(r, parent, end)
	}
	return dropped
}

// member is a span of a plugin in a call.
type member struct {
	plugin string
	id     trace.SpanID
}

// family has the parent of each span that plugins returned in a call.
type family map[member]trace.SpanID

// parent returns the parent of a span, or zero for the span of the call. It changes the parent to
// zero if the plugin did not return the parent, or if the ancestors of the span form a ring.
func (f family) parent(of member) trace.SpanID {
	at := of
	for range len(f) {
		parent := f[at]
		if _, known := f[member{of.plugin, parent}]; !known {
			if at == of {
				f[of] = trace.SpanID{}
			}
			return f[of]
		}
		at.id = parent
	}
	f[of] = trace.SpanID{}
	return f[of]
}

func (s *span) exportOne(r returned, parent trace.Context, end time.Time) {
	within := func(at, earliest time.Time) time.Time {
		switch {
		case at.Before(earliest):
			return earliest
		case at.After(end):
			return end
		default:
			return at
		}
	}
	began := within(r.span.Start, s.began)
	ctx := telemetry.WithIDs(telemetry.WithParent(context.Background(), parent), trace.Context{Trace: parent.Trace, Span: r.span.ID})
	_, out := s.observer.tracer.Of("toolhost.plugin/"+r.plugin).Start(ctx, r.span.Name, oteltrace.WithTimestamp(began),
		oteltrace.WithSpanKind(kinds[r.span.Kind]), oteltrace.WithAttributes(toAttributes(r.span.Attributes)...),
		oteltrace.WithAttributes(attribute.String("toolhost.plugin.name", r.plugin)))
	for _, e := range r.span.Events {
		out.AddEvent(e.Name, oteltrace.WithTimestamp(within(e.Time, began)), oteltrace.WithAttributes(toAttributes(e.Attributes)...))
	}
	switch r.span.Status {
	case trace.OK:
		out.SetStatus(codes.Ok, "")
	case trace.Failed:
		out.SetStatus(codes.Error, r.span.Message)
	}
	out.End(oteltrace.WithTimestamp(within(r.span.End, began)))
}

var kinds = map[trace.Kind]oteltrace.SpanKind{
	0: oteltrace.SpanKindInternal, trace.Internal: oteltrace.SpanKindInternal, trace.Server: oteltrace.SpanKindServer,
	trace.Client: oteltrace.SpanKindClient, trace.Producer: oteltrace.SpanKindProducer, trace.Consumer: oteltrace.SpanKindConsumer,
}

func toAttributes(all []slog.Attr) []attribute.KeyValue {
	out := make([]attribute.KeyValue, 0, len(all))
	for _, a := range all {
		key := attribute.Key(a.Key)
		switch v := a.Value; v.Kind() {
		case slog.KindBool:
			out = append(out, key.Bool(v.Bool()))
		case slog.KindInt64:
			out = append(out, key.Int64(v.Int64()))
		case slog.KindFloat64:
			out = append(out, key.Float64(v.Float64()))
		default:
			out = append(out, key.String(v.String()))
		}
	}
	return out
}
