package eventlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/tool"
)

// readAfter returns all events after a number.
func readAfter(t *testing.T, r *Call, after uint64) []tool.Event {
	t.Helper()
	var events []tool.Event
	for {
		ev, err := r.Next(t.Context(), after)
		if errors.Is(err, io.EOF) {
			return events
		}
		if err != nil {
			t.Fatal(err)
		}
		if ev.Seq <= after {
			t.Fatalf("event %d came after event %d", ev.Seq, after)
		}
		after = ev.Seq
		events = append(events, ev)
	}
}

// The log stays bounded whatever a call reports. A late reader gets one status that stands for the
// discarded ones, and then the latest events without a gap.
func TestRecordStaysBounded(t *testing.T) {
	r := &Call{}
	r.Publish(tool.Event{Started: &tool.Started{Instance: "a-1"}})
	var want tool.Status
	const rounds = 3000
	for i := range rounds {
		s := tool.Status{State: tool.StatusDoing, Message: fmt.Sprint(i), Parameters: json.RawMessage(fmt.Sprintf(`{"k%d":%d}`, i%10, i))}
		want = want.Fold(s)
		r.Publish(tool.Event{Status: &s})
		r.Publish(tool.Event{Log: &tool.LogRecord{Message: strings.Repeat("x", 1000)}})
		if r.size > maxBytes {
			t.Fatalf("the record holds %d bytes, at most %d are allowed", r.size, maxBytes)
		}
	}
	r.Publish(tool.Event{Ended: &tool.Outcome{CallID: "c"}})
	r.Publish(tool.Event{Status: &tool.Status{Message: "after the end"}})
	for _, after := range []uint64{0, 1, 2, 100, rounds} {
		events := readAfter(t, r, after)
		var got tool.Status
		var previous uint64
		for i, ev := range events {
			if ev.Status != nil {
				got = got.Fold(*ev.Status)
			}
			if i > 2 && ev.Seq != previous+1 {
				t.Fatalf("after %d: event %d follows event %d", after, ev.Seq, previous)
			}
			previous = ev.Seq
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("after %d the status is %+v, want %+v", after, got, want)
		}
		if events[len(events)-1].Ended == nil {
			t.Errorf("after %d the last event is %+v", after, events[len(events)-1])
		}
		if (after == 0) != (events[0].Started != nil) {
			t.Errorf("after %d the first event is %+v", after, events[0])
		}
	}
	if got := r.Instance(); got != "a-1" {
		t.Errorf("its place is %q", got)
	}
}

// A reader that keeps up gets every event, however many there are.
func TestRecordOfAFollower(t *testing.T) {
	r := &Call{}
	const events = 20_000
	after := uint64(0)
	for i := range events {
		r.Publish(tool.Event{Log: &tool.LogRecord{Message: fmt.Sprint(i)}})
		ev, err := r.Next(t.Context(), after)
		if err != nil || ev.Seq != after+1 || ev.Log.Message != fmt.Sprint(i) {
			t.Fatalf("event %+v, %v after %d", ev, err, after)
		}
		after = ev.Seq
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Next(ctx, after); !errors.Is(err, context.Canceled) {
		t.Errorf("there is nothing more, and next says %v", err)
	}
}

// A status whose parameters grow without end does not make the log grow.
func TestRecordOfParametersThatGrow(t *testing.T) {
	r := &Call{}
	for i := range 150 {
		r.Publish(tool.Event{Status: &tool.Status{Parameters: json.RawMessage(fmt.Sprintf(`{"k%d":%q}`, i, strings.Repeat("x", 16_000)))}})
		if r.size > maxBytes {
			t.Fatalf("the record holds %d bytes", r.size)
		}
	}
}
