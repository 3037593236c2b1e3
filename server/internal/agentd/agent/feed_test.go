package agent

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
)

// The memory for a slow watcher is bounded: the oldest passing events give way, and of the states
// of an answer only the newest is kept. No durable event is lost, and the order stays.
func TestFeedBoundsPassingEvents(t *testing.T) {
	var f feed
	f.begin(0)
	f.publish(loop.Event{Seq: 1, Payload: &loop.RunStarted{}})
	large := strings.Repeat("x", 64<<10)
	for range 100 {
		f.pass(&loop.ReasoningDelta{Text: large})
		f.pass(&loop.ArgumentDelta{Text: large})
		f.pass(&loop.AnswerDelta{Answer: json.RawMessage(`{"n":"` + large + `"}`)})
	}
	f.publish(loop.Event{Seq: 2, Payload: &loop.AssistantMessage{}})
	events, _, behind, wait, err := f.look(place{})
	if behind || wait != nil || err != nil {
		t.Fatal(behind, wait, err)
	}
	bytes, answers, last := 0, 0, place{}
	for _, e := range events {
		bytes += sizeOf(e.Payload)
		if _, ok := e.Payload.(*loop.AnswerDelta); ok {
			answers++
		}
		if !last.before(e) {
			t.Errorf("event %d.%d comes after %+v", e.Seq, e.Index, last)
		}
		last.advance(e)
	}
	if bytes > feedBytes || bytes != f.bytes || answers != 1 || len(events) < 5 {
		t.Errorf("%d events with %d bytes, counted as %d, and %d states of the answer are kept", len(events), bytes, f.bytes, answers)
	}
	if events[0].Seq != 1 || !events[0].Durable() || events[len(events)-1].Seq != 2 || last.seq != 2 {
		t.Error("a durable event is lost")
	}
}
