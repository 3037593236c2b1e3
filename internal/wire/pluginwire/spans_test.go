package pluginwire_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/internal/wire/trace"
	"github.com/toolhost/toolhost/tool"
)

// collect makes a call and returns the spans that arrived, and how many were dropped.
func collect(t *testing.T, conn *pluginwire.Conn, room int) (spans []trace.Span, dropped int) {
	t.Helper()
	call, err := conn.Start(t.Context(), pluginwire.Start{
		CallID: "c", Tool: "lies", Arguments: []byte("{}"), Complete: true, SpanBytes: room,
		Spans: func(more []trace.Span, lost int) { spans, dropped = append(spans, more...), dropped+lost },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer call.Close()
	for {
		ev, err := call.Next(t.Context())
		if err != nil || ev.Ended != nil && ev.Ended.Err != nil {
			t.Fatalf("the call ended with %+v, %v", ev.Ended, err)
		}
		if ev.Ended != nil {
			return spans, dropped
		}
	}
}

func TestSpans(t *testing.T) {
	when := time.Unix(1_700_000_000, 5)
	sent := []trace.Span{
		{ID: trace.NewSpanID(), Name: "query", Kind: trace.Client, Start: when, End: when.Add(time.Second), Status: trace.Failed, Message: "no table",
			Attributes: []slog.Attr{slog.String("db.system.name", "sqlite"), slog.Bool("b", true), slog.Int64("rows", -3), slog.Float64("f", 1.5)},
			Events:     []trace.Event{{Name: "retried", Time: when, Attributes: []slog.Attr{slog.Int64("attempt", 2)}}}},
		{ID: trace.NewSpanID(), Name: "whole", Kind: trace.Internal, Start: when, End: when, Attributes: []slog.Attr{}, Events: []trace.Event{}},
	}
	sent[0].Parent = sent[1].ID
	conn := open(t, plugin{call: func(ctx context.Context, call *pluginwire.ServerCall) (tool.Result, error) {
		if call.Start().SpanBytes == 0 {
			return tool.TextResult("not recorded"), nil
		}
		return tool.TextResult("recorded"), errors.Join(call.SendSpans(ctx, sent[:1], 0), call.SendSpans(ctx, sent[1:], 7))
	}}, pluginwire.ConnConfig{})
	got, dropped := collect(t, conn, trace.MaxBytes)
	if diff := cmp.Diff(sent, got, cmp.Comparer(slog.Attr.Equal)); diff != "" || dropped != 7 {
		t.Errorf("%d dropped (-sent +got):\n%s", dropped, diff)
	}
	if got, dropped := collect(t, conn, 0); len(got)+dropped != 0 {
		t.Errorf("a call that is not recorded has %d spans, %d dropped", len(got), dropped)
	}
}

// The plugin's end drops spans that the host would refuse, and reports how many.
func TestSpansBeyondTheBounds(t *testing.T) {
	var many []trace.Span
	for range 2 * trace.MaxSpans {
		many = append(many, trace.Span{ID: trace.NewSpanID(), Attributes: []slog.Attr{slog.String("k", strings.Repeat("x", 500))}})
	}
	conn := open(t, plugin{call: func(ctx context.Context, call *pluginwire.ServerCall) (tool.Result, error) {
		return tool.TextResult("recorded"), call.SendSpans(ctx, many, 1)
	}}, pluginwire.ConnConfig{})
	for _, room := range []int{trace.MaxBytes, 40 << 10, 10} {
		got, dropped := collect(t, conn, room)
		if len(got) > trace.MaxSpans || len(got) > room/500 || len(got)+dropped != len(many)+1 || len(got) == 0 && room > 500 {
			t.Errorf("with room for %d bytes %d arrived, %d were dropped", room, len(got), dropped)
		}
	}
}

// What a plugin sends in violation of the contract costs it its spans, and not the call.
func TestBadSpans(t *testing.T) {
	id := bytes.Repeat([]byte{7}, 8)
	for name, test := range map[string]struct {
		span          *pluginv1.Span
		count         int
		kept, dropped int
	}{
		"no id":         {&pluginv1.Span{}, 1, 0, 1},
		"a zero id":     {&pluginv1.Span{SpanId: make([]byte, 8)}, 1, 0, 1},
		"a short id":    {&pluginv1.Span{SpanId: id[:7]}, 1, 0, 1},
		"a long parent": {&pluginv1.Span{SpanId: id, ParentSpanId: bytes.Repeat(id, 2)}, 1, 0, 1},
		"unknown enums": {&pluginv1.Span{SpanId: id, Kind: 77, Status: -4}, 1, 1, 0},
		"too many":      {&pluginv1.Span{SpanId: id}, trace.MaxSpans + 3, trace.MaxSpans, 3},
		"too large":     {&pluginv1.Span{SpanId: id, Name: strings.Repeat("x", 20<<10)}, 9, 0, 9},
		"many dropped":  {&pluginv1.Span{SpanId: id}, 1, 1, 1 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			conn := openRaw(t, pluginwire.ConnConfig{}, liar(func(call uint32) []*pluginv1.ConnectResponse {
				batch := &pluginv1.FinishedSpans{}
				if name == "many dropped" {
					batch.Dropped = math.MaxUint32
				}
				for range test.count {
					batch.Spans = append(batch.Spans, test.span)
				}
				return []*pluginv1.ConnectResponse{{Call: call, Frame: &pluginv1.ConnectResponse_Spans{Spans: batch}}, endOf(call, "good")}
			}))
			spans, dropped := collect(t, conn, trace.MaxBytes)
			if len(spans) != test.kept || dropped != test.dropped {
				t.Errorf("%d kept, %d dropped; want %d and %d", len(spans), dropped, test.kept, test.dropped)
			}
			if len(spans) > 0 && (spans[0].Kind != 0 || spans[0].Status != 0) {
				t.Errorf("got %+v", spans[0])
			}
		})
	}
}
