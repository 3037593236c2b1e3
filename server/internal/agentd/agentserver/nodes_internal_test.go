package agentserver

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/wire/credential"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/tool"
)

// Passing events arrive at another agentd as they are. Of durable ones, only the position does.
func TestPassingEventsOverTheWire(t *testing.T) {
	now := time.Unix(1700000000, 5).UTC()
	for _, p := range []loop.Payload{
		&loop.TextDelta{Text: "text"},
		&loop.ReasoningDelta{Text: "reasoning"},
		&loop.ArgumentDelta{CallID: "c", Tool: "t", Text: "{"},
		&loop.AnswerDelta{Answer: []byte(`{"a":1}`)},
		&loop.CallStatus{CallID: "c", Tool: "t", Status: tool.Status{State: tool.StatusDoing, Message: "half"}},
		&loop.TurnReset{Reason: "again", Attempt: 2, Model: "m"},
	} {
		want := loop.Event{Seq: 7, Index: 3, Time: now, Payload: p}
		if got, ok := toPassing(fromEvent(want)); !ok || !cmp.Equal(want, got) {
			t.Errorf("%s: %v\n%s", p.Type(), ok, cmp.Diff(want, got))
		}
	}
	durable := loop.Event{Seq: 8, Time: now, Payload: &loop.UserMessage{Text: "hello"}}
	if got, ok := toPassing(fromEvent(durable)); !ok || !cmp.Equal(got, loop.Event{Seq: 8, Time: now}) {
		t.Errorf("a durable event arrives as %+v, %v", got, ok)
	}
	if _, ok := toPassing(&agentdv1.RunEvent{Seq: 1, Index: 1}); ok {
		t.Error("an event without a payload arrives")
	}
}

// An agentd passes on a bounded number of watches, and one principal cannot take all of them.
func TestPassedWatchesAreBounded(t *testing.T) {
	n := NewNodes(credential.TLS{}, slog.New(slog.DiscardHandler))
	defer n.Close()
	begun := 0
	for i := range 2 * maxPassed {
		principal := fmt.Sprint("principal ", i/(2*maxPassedOf))
		if n.begin(principal) {
			begun++
		} else if n.watching[principal] < maxPassedOf && begun < maxPassed {
			t.Fatalf("watch %d of %s is refused", i, principal)
		}
		if n.watching[principal] > maxPassedOf {
			t.Fatalf("%s has %d watches", principal, n.watching[principal])
		}
	}
	if begun != maxPassed || n.begin("another") {
		t.Errorf("%d watches of %d", begun, maxPassed)
	}
	n.end("principal 0")
	if !n.begin("another") {
		t.Error("a watch has ended, and no other one can begin")
	}
}
