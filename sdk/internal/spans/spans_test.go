package spans_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	oteltrace "go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/internal/wire/trace"
	"github.com/toolhost/toolhost/sdk/internal/spans"
)

// tracer exists before Install, like a tracer in a variable of an author's package.
var tracer = otel.Tracer("author")

func TestMain(m *testing.M) {
	spans.Install()
	goleak.VerifyTestMain(m)
}

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// receiver is toolhost's end.
type receiver struct {
	mu      sync.Mutex
	spans   map[string]trace.Span // by name
	dropped int
	arrived chan struct{} // gets a token for each frame that fits
	hold    chan struct{} // sending waits until it is closed; nil: no wait
}

func newReceiver() *receiver {
	return &receiver{spans: map[string]trace.Span{}, arrived: make(chan struct{}, 1000)}
}

func (r *receiver) send(ctx context.Context, finished []trace.Span, dropped int) error {
	if r.hold != nil {
		select {
		case <-r.hold:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range finished {
		r.spans[s.Name] = s
	}
	r.dropped += dropped
	r.arrived <- struct{}{}
	return nil
}

func record(t *testing.T, r *receiver) (context.Context, *spans.Recorder) {
	t.Helper()
	ctx, recorder := spans.Record(t.Context(), traceparent, r.send)
	if recorder == nil {
		t.Fatal("the call is not recorded")
	}
	return ctx, recorder
}

func TestSpansNest(t *testing.T) {
	r := newReceiver()
	ctx, recorder := record(t, r)
	began := time.Unix(1_700_000_000, 7)
	outer, first := tracer.Start(ctx, "first", oteltrace.WithTimestamp(began), oteltrace.WithSpanKind(oteltrace.SpanKindClient),
		oteltrace.WithAttributes(attribute.String("a", "1"), attribute.StringSlice("list", []string{"x", "y"})))
	inner, second := otel.GetTracerProvider().Tracer("library").Start(outer, "second")
	_, root := tracer.Start(inner, "root", oteltrace.WithNewRoot())
	root.End()
	second.SetAttributes(attribute.Int("n", 1), attribute.Bool("b", true), attribute.Float64("f", 1.5), attribute.Int("n", 2))
	second.RecordError(errors.New("no table"), oteltrace.WithTimestamp(began))
	second.SetStatus(codes.Error, "no table")
	second.SetName("renamed")
	second.End()
	second.SetName("after its end")
	second.End()
	<-r.arrived // before the call has ended
	first.SetStatus(codes.Ok, "")
	first.SetStatus(codes.Error, "too late")
	first.End(oteltrace.WithTimestamp(began.Add(time.Second)))
	recorder.Close(t.Context())

	if len(r.spans) != 3 || r.dropped != 0 {
		t.Fatalf("%d dropped, received %+v", r.dropped, r.spans)
	}
	got := r.spans["first"]
	if got.Parent.Valid() || got.Kind != trace.Client || !got.Start.Equal(began) || got.End.Sub(began) != time.Second || got.Status != trace.OK {
		t.Errorf("first is %+v", got)
	}
	if len(got.Attributes) != 2 || got.Attributes[0].String() != "a=1" || got.Attributes[1].String() != `list=["x","y"]` {
		t.Errorf("its attributes are %v", got.Attributes)
	}
	got = r.spans["renamed"]
	if got.Parent != r.spans["first"].ID || got.Kind != trace.Internal || got.Status != trace.Failed || got.Message != "no table" {
		t.Errorf("second is %+v", got)
	}
	if len(got.Attributes) != 3 || got.Attributes[0].String() != "n=2" {
		t.Errorf("its attributes are %v", got.Attributes)
	}
	if len(got.Events) != 1 || got.Events[0].Name != "exception" || got.Events[0].Attributes[1].String() != "exception.message=no table" {
		t.Errorf("its events are %v", got.Events)
	}
	if r.spans["root"].Parent.Valid() {
		t.Errorf("the parent of a new root is %v, not the call", r.spans["root"].Parent)
	}
	if c := first.SpanContext(); c.TraceID().String() != traceparent[3:35] || !c.IsSampled() || trace.SpanID(c.SpanID()) != r.spans["first"].ID {
		t.Errorf("the span context is %+v", c)
	}
}

// The spans of a call are bounded in number, and each of them in size. A recorded span keeps its
// parent.
func TestSpansAreBounded(t *testing.T) {
	const excess = 1000
	r := newReceiver()
	ctx, recorder := record(t, r)
	long := strings.Repeat("x", 2*trace.MaxText)
	deepest := ctx
	var started []oteltrace.Span
	for i := range trace.MaxSpans + excess {
		inner, span := tracer.Start(deepest, strings.Repeat("n", i), oteltrace.WithAttributes(attribute.String(long, long)))
		if span.IsRecording() != (i < trace.MaxSpans) {
			t.Fatalf("span %d is recorded: %v", i, span.IsRecording())
		}
		for j := range 2 * trace.MaxAttributes {
			span.SetAttributes(attribute.Int(strings.Repeat("k", 1+j), j))
			span.AddEvent(long, oteltrace.WithAttributes(attribute.String("k", long)))
		}
		deepest = inner
		started = append(started, span)
	}
	for _, span := range slices.Backward(started[1:]) {
		span.End()
	}
	recorder.Close(t.Context())
	started[0].End() // lost
	ids := map[trace.SpanID]bool{trace.SpanID(started[0].SpanContext().SpanID()): true}
	for _, s := range r.spans {
		ids[s.ID] = true
	}
	for _, s := range r.spans {
		if len(s.Attributes) != trace.MaxAttributes || len(s.Events) != trace.MaxEvents || len(s.Events[0].Attributes[0].Value.String()) != trace.MaxText {
			t.Errorf("a span has %d attributes and %d events", len(s.Attributes), len(s.Events))
		}
		if !ids[s.Parent] {
			t.Errorf("the parent of %s is not recorded", s.ID)
		}
	}
	if len(r.spans) != trace.MaxSpans-1 || r.dropped != excess+1 {
		t.Errorf("%d spans arrived and %d were dropped", len(r.spans), r.dropped)
	}
}

// A toolhost that does not read stops neither the tool's code nor, for long, the end of a call.
func TestSendingDoesNotBlock(t *testing.T) {
	r := newReceiver()
	r.hold = make(chan struct{})
	ctx, recorder := record(t, r)
	for range 10 {
		_, span := tracer.Start(ctx, "s")
		span.End()
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	recorder.Close(gone)
	if len(r.spans) != 0 {
		t.Errorf("received %v", r.spans)
	}
}

// A call that is not recorded, and code outside of calls, get spans that cost nothing.
func TestNotRecorded(t *testing.T) {
	for name, ctx := range map[string]context.Context{
		"outside of a call": t.Context(),
		"another process's span": oteltrace.ContextWithRemoteSpanContext(t.Context(), oteltrace.NewSpanContext(oteltrace.SpanContextConfig{
			TraceID: oteltrace.TraceID{1}, SpanID: oteltrace.SpanID{1},
		})),
	} {
		cost := testing.AllocsPerRun(100, func() {
			_, span := tracer.Start(ctx, "s")
			span.End()
		})
		_, span := tracer.Start(ctx, "s")
		if span.IsRecording() || cost != 0 || !span.SpanContext().Equal(oteltrace.SpanContextFromContext(ctx)) {
			t.Errorf("%s: recording %v, %v allocations, context %v", name, span.IsRecording(), cost, span.SpanContext())
		}
	}
	if ctx, recorder := spans.Record(t.Context(), "garbage", nil); recorder != nil || ctx != t.Context() {
		t.Error("a call without a trace context is recorded")
	}
}

// The author's own TracerProvider stays.
func TestInstallKeepsTheAuthorsProvider(t *testing.T) {
	installed := otel.GetTracerProvider()
	defer otel.SetTracerProvider(installed)
	own := noop.NewTracerProvider()
	otel.SetTracerProvider(own)
	spans.Install()
	if otel.GetTracerProvider() != oteltrace.TracerProvider(own) {
		t.Errorf("the provider is a %T", otel.GetTracerProvider())
	}
}
