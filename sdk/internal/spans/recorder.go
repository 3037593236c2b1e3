package spans

import (
	"context"
	"sync"

	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/toolhost/toolhost/internal/wire/trace"
)

// Send sends finished spans of a call to toolhost, and how many further spans were dropped. It may
// block while toolhost does not read.
type Send func(ctx context.Context, spans []trace.Span, dropped int) error

// Recorder collects the finished spans of one call and sends them to toolhost. Its methods are safe
// for concurrent use.
//
// A span is sent soon after its end, so that the trace of a call that crashes or times out shows
// what the tool had done before. The end of a span never waits for toolhost: a goroutine sends all
// spans that ended since it last sent, and runs only while there are such spans.
//
// At most trace.MaxSpans spans of a call are recorded. The bound applies to starts, not to ends. A
// parent starts before its children, so a recorded span never loses its parent to the bound.
type Recorder struct {
	parent trace.Context   // the call's span, in toolhost
	ctx    context.Context // bounds sending
	cancel context.CancelFunc
	send   Send
	work   sync.WaitGroup // the goroutine that sends

	mu       sync.Mutex
	started  int
	ended    int
	dropped  int // spans that were not recorded and not yet reported
	finished []trace.Span
	sending  bool
	closed   bool
}

// recorderKey is the key of the *Recorder in the context of a call.
type recorderKey struct{}

// Record returns a context in which spans of the tracing API are recorded and sent, below the span
// that traceparent names. The caller must close the Recorder. If traceparent is invalid, the
// Recorder is nil, and the context is ctx.
func Record(ctx context.Context, traceparent string, send Send) (context.Context, *Recorder) {
	parent, ok := trace.Parse(traceparent)
	if !ok {
		return ctx, nil
	}
	r := &Recorder{parent: parent, send: send}
	r.ctx, r.cancel = context.WithCancel(context.WithoutCancel(ctx)) // the last spans of a canceled call are sent too
	ctx = oteltrace.ContextWithRemoteSpanContext(context.WithValue(ctx, recorderKey{}, r), r.spanContext(parent.Span))
	return ctx, r
}

func (r *Recorder) spanContext(id trace.SpanID) oteltrace.SpanContext {
	return oteltrace.NewSpanContext(oteltrace.SpanContextConfig{
		TraceID: oteltrace.TraceID(r.parent.Trace), SpanID: oteltrace.SpanID(id), TraceFlags: oteltrace.FlagsSampled,
	})
}

// start returns a new span. It returns nil if the call has ended or has all its spans.
func (r *Recorder) start(parent oteltrace.SpanContext, name string, options []oteltrace.SpanStartOption) *span {
	r.mu.Lock()
	room := !r.closed && r.started < trace.MaxSpans
	if room {
		r.started++
	} else {
		r.dropped++
	}
	r.mu.Unlock()
	if !room {
		return nil
	}
	return newSpan(r, parent, name, oteltrace.NewSpanStartConfig(options...))
}

// end takes a span that has ended.
func (r *Recorder) end(s trace.Span) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	r.ended++
	r.finished = append(r.finished, s)
	if !r.sending {
		r.sending = true
		r.work.Go(r.sendFinished) // ends when all finished spans are sent; Close waits
	}
}

func (r *Recorder) sendFinished() {
	for {
		r.mu.Lock()
		batch, dropped := r.finished, r.dropped
		r.finished, r.dropped = nil, 0
		r.sending = len(batch) > 0
		if !r.sending {
			r.dropped = dropped // Close reports them
			r.mu.Unlock()
			return
		}
		r.mu.Unlock()
		_ = r.send(r.ctx, batch, dropped) // an error means that the call has ended, and toolhost reads no more spans
	}
}

// Close sends the remaining spans, and waits for that until ctx ends. It reports the spans that
// have not ended as dropped. Spans that end later are lost. Close of a nil Recorder does nothing.
func (r *Recorder) Close(ctx context.Context) {
	if r == nil {
		return
	}
	defer r.cancel()
	defer context.AfterFunc(ctx, r.cancel)()
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.work.Wait()
	r.mu.Lock()
	dropped := r.dropped + r.started - r.ended
	r.mu.Unlock()
	if dropped > 0 {
		_ = r.send(r.ctx, nil, dropped) // an error means that toolhost does not read any more
	}
}
