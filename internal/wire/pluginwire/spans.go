package pluginwire

import (
	"context"
	"log/slog"
	"time"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	"github.com/toolhost/toolhost/internal/wire/trace"
)

const (
	// maxSpanFrame is the size from which SendSpans begins another frame, so that spans do not
	// block frames of other calls for long.
	maxSpanFrame = 32 << 10
	// spanFrameBytes is at least the size of a frame without its spans.
	spanFrameBytes = 32
	// spanFieldBytes is at least what a span in a frame adds to its own size: tag and length.
	spanFieldBytes = 6
	// maxClaimedDrops bounds the number of dropped spans that one frame can report.
	maxClaimedDrops = 1 << 20
)

// takeSpans passes the spans of a frame to the host. It drops spans that the contract does not
// allow. It reports how many spans the plugin or takeSpans has dropped.
func (c *Call) takeSpans(frame *pluginv1.ConnectResponse) {
	if c.spans == nil {
		return
	}
	all := frame.GetSpans().GetSpans()
	dropped := int(min(frame.GetSpans().GetDropped(), maxClaimedDrops))
	size := frame.SizeWire()
	if size > c.spanBytes {
		c.spanBytes = 0 // what follows is not accepted either: the plugin ignores its limit
		c.spans(nil, dropped+len(all))
		return
	}
	c.spanBytes -= size
	taken := make([]trace.Span, 0, min(len(all), trace.MaxSpans))
	for _, s := range all {
		span, ok := toSpan(s)
		if ok && c.spansTaken < trace.MaxSpans {
			c.spansTaken++
			taken = append(taken, span)
		}
	}
	c.spans(taken, dropped+len(all)-len(taken))
}

func toSpan(s *pluginv1.Span) (span trace.Span, ok bool) {
	parent := s.GetParentSpanId()
	if len(s.GetSpanId()) != len(span.ID) || len(parent) != 0 && len(parent) != len(span.Parent) {
		return trace.Span{}, false
	}
	copy(span.ID[:], s.GetSpanId())
	copy(span.Parent[:], parent)
	if !span.ID.Valid() {
		return trace.Span{}, false
	}
	span.Name, span.Message = s.GetName(), s.GetStatusMessage()
	span.Start, span.End = toTime(s.GetStartTimeUnixNano()), toTime(s.GetEndTimeUnixNano())
	if kind := s.GetKind(); kind > 0 && kind <= pluginv1.SpanKind_SPAN_KIND_CONSUMER {
		span.Kind = trace.Kind(kind)
	}
	if status := s.GetStatus(); status > 0 && status <= pluginv1.SpanStatus_SPAN_STATUS_ERROR {
		span.Status = trace.Status(status)
	}
	span.Attributes = toAttributes(s.GetAttributes(), trace.MaxAttributes)
	for _, e := range s.GetEvents()[:min(len(s.GetEvents()), trace.MaxEvents)] {
		span.Events = append(span.Events, trace.Event{
			Name: e.GetName(), Time: toTime(e.GetTimeUnixNano()), Attributes: toAttributes(e.GetAttributes(), trace.MaxEventAttributes),
		})
	}
	return span.Clip(), true
}

func toTime(nanoseconds uint64) time.Time { return time.Unix(0, int64(nanoseconds)) }

// toAttributes converts attributes. It reads at most twice as many as a span may have, because
// Span.Clip drops some.
func toAttributes(all []*pluginv1.SpanAttribute, most int) []slog.Attr {
	attributes := make([]slog.Attr, 0, min(len(all), most))
	for _, a := range all[:min(len(all), 2*most)] {
		switch v := a.GetValue().(type) {
		case *pluginv1.SpanAttribute_Text:
			attributes = append(attributes, slog.String(a.GetKey(), v.Text))
		case *pluginv1.SpanAttribute_Truth:
			attributes = append(attributes, slog.Bool(a.GetKey(), v.Truth))
		case *pluginv1.SpanAttribute_Integer:
			attributes = append(attributes, slog.Int64(a.GetKey(), v.Integer))
		case *pluginv1.SpanAttribute_Number:
			attributes = append(attributes, slog.Float64(a.GetKey(), v.Number))
		}
	}
	return attributes
}

// SendSpans sends finished spans of the call to the host, and how many more spans the plugin has
// dropped. It drops spans that the host would not accept, and adds them to dropped: those after the
// first trace.MaxSpans of the call, and those that do not fit into Start.SpanBytes. It blocks while
// the call has no credit, and fails when ctx or the call ends. It must not be called concurrently.
func (c *ServerCall) SendSpans(ctx context.Context, spans []trace.Span, dropped int) error {
	batch, size := &pluginv1.FinishedSpans{}, spanFrameBytes
	for i, span := range spans {
		if c.spansSent == trace.MaxSpans {
			dropped += len(spans) - i
			break
		}
		s := fromSpan(span.Clip())
		cost := s.SizeWire() + spanFieldBytes
		if size > spanFrameBytes && size+cost > maxSpanFrame {
			if err := c.sendSpanFrame(ctx, batch); err != nil {
				return err
			}
			batch, size = &pluginv1.FinishedSpans{}, spanFrameBytes
		}
		if size+cost > c.spanBytes {
			dropped++
			continue
		}
		c.spansSent++
		batch.Spans, size = append(batch.Spans, s), size+cost
	}
	if len(batch.Spans) == 0 && dropped == 0 {
		return nil
	}
	batch.Dropped = uint32(dropped)
	return c.sendSpanFrame(ctx, batch)
}

func (c *ServerCall) sendSpanFrame(ctx context.Context, batch *pluginv1.FinishedSpans) error {
	frame := &pluginv1.ConnectResponse{Call: c.number, Frame: &pluginv1.ConnectResponse_Spans{Spans: batch}}
	c.spanBytes -= frame.SizeWire()
	return c.send(ctx, frame)
}

func fromSpan(s trace.Span) *pluginv1.Span {
	out := &pluginv1.Span{
		SpanId: s.ID[:], Name: s.Name, StartTimeUnixNano: uint64(s.Start.UnixNano()), EndTimeUnixNano: uint64(s.End.UnixNano()),
		Kind: pluginv1.SpanKind(s.Kind), Attributes: fromAttributes(s.Attributes),
		Status: pluginv1.SpanStatus(s.Status), StatusMessage: s.Message,
	}
	if s.Parent.Valid() {
		out.ParentSpanId = s.Parent[:]
	}
	for _, e := range s.Events {
		out.Events = append(out.Events, &pluginv1.SpanEvent{
			Name: e.Name, TimeUnixNano: uint64(e.Time.UnixNano()), Attributes: fromAttributes(e.Attributes),
		})
	}
	return out
}

func fromAttributes(all []slog.Attr) []*pluginv1.SpanAttribute {
	out := make([]*pluginv1.SpanAttribute, 0, len(all))
	for _, a := range all {
		attribute := &pluginv1.SpanAttribute{Key: a.Key}
		switch v := a.Value; v.Kind() {
		case slog.KindBool:
			attribute.Value = &pluginv1.SpanAttribute_Truth{Truth: v.Bool()}
		case slog.KindInt64:
			attribute.Value = &pluginv1.SpanAttribute_Integer{Integer: v.Int64()}
		case slog.KindFloat64:
			attribute.Value = &pluginv1.SpanAttribute_Number{Number: v.Float64()}
		default:
			attribute.Value = &pluginv1.SpanAttribute_Text{Text: v.String()}
		}
		out = append(out, attribute)
	}
	return out
}
