package main

import (
	"encoding/binary"
	"strings"
	"time"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
)

const (
	floodFrames = 100
	floodSpans  = 10_000 // in each frame
)

// spans returns the frames with spans of a call.
func (p *badplugin) spans() (frames []*pluginv1.ConnectResponse) {
	if p.commits("garbled_spans") {
		return []*pluginv1.ConnectResponse{spanFrame(0, &pluginv1.Span{SpanId: spanID(1), Name: "\xff"})}
	}
	if !p.commits("bad_spans") {
		return nil
	}
	now := uint64(time.Now().UnixNano())
	century := uint64(100 * 365 * 24 * time.Hour)
	huge := &pluginv1.Span{SpanId: spanID(1), Name: "huge " + strings.Repeat("x", 1<<10), StatusMessage: strings.Repeat("x", 4<<10)}
	for range 200 {
		attribute := &pluginv1.SpanAttribute{Key: "key " + strings.Repeat("k", 200), Value: &pluginv1.SpanAttribute_Text{Text: "x"}}
		huge.Attributes = append(huge.Attributes, attribute)
	}
	huge.Attributes[0].Value = &pluginv1.SpanAttribute_Text{Text: strings.Repeat("x", 20<<10)}
	frames = append(frames, spanFrame(7, huge,
		&pluginv1.Span{SpanId: spanID(2), Name: "future", StartTimeUnixNano: now + century, EndTimeUnixNano: now + 2*century},
		&pluginv1.Span{SpanId: spanID(3), Name: "past", StartTimeUnixNano: 1, EndTimeUnixNano: 2},
		&pluginv1.Span{SpanId: spanID(4), Name: "no time", StartTimeUnixNano: 1 << 63, EndTimeUnixNano: 1<<64 - 1},
		&pluginv1.Span{SpanId: spanID(5), Name: "foreign", ParentSpanId: spanID(4711)},
		&pluginv1.Span{SpanId: spanID(6), Name: "loop", ParentSpanId: spanID(7)},
		&pluginv1.Span{SpanId: spanID(7), Name: "pool", ParentSpanId: spanID(6)},
		&pluginv1.Span{SpanId: spanID(7), Name: "twice"},
		&pluginv1.Span{Name: "no id"},
		&pluginv1.Span{SpanId: spanID(8), Name: "toolhost's", Attributes: []*pluginv1.SpanAttribute{
			{Key: "toolhost.plugin.name", Value: &pluginv1.SpanAttribute_Text{Text: "calculator"}},
		}},
	))
	next := uint64(100)
	for i := range floodFrames + 1 {
		flood := make([]*pluginv1.Span, floodSpans)
		if i == 0 {
			flood = flood[:200] // these fit into the bytes, and are too many
		}
		for j := range flood {
			flood[j] = &pluginv1.Span{SpanId: spanID(next)}
			next++
		}
		frames = append(frames, spanFrame(0, flood...))
	}
	return frames
}

func spanID(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func spanFrame(dropped uint32, spans ...*pluginv1.Span) *pluginv1.ConnectResponse {
	return &pluginv1.ConnectResponse{Frame: &pluginv1.ConnectResponse_Spans{Spans: &pluginv1.FinishedSpans{Spans: spans, Dropped: dropped}}}
}
