package agentserver

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/google/go-cmp/cmp"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
)

// All watchers of an event get the same bytes, and nobody gets those of another event.
func TestAnEventIsEncodedOnce(t *testing.T) {
	var shared sharedEncoding
	delta := &loop.TextDelta{Text: "hello"}
	event := loop.Event{Seq: 3, Index: 1, Time: time.Unix(1, 0), Payload: delta}
	first, err := shared.of(event)
	again, againErr := shared.of(event)
	if err != nil || againErr != nil || &first[0] != &again[0] {
		t.Errorf("the event is encoded twice: %v, %v", err, againErr)
	}
	for _, other := range []loop.Event{
		{Seq: 4, Index: 1, Time: event.Time, Payload: delta}, {Seq: 3, Index: 2, Time: event.Time, Payload: delta},
		{Seq: 3, Index: 1, Time: time.Unix(2, 0), Payload: delta}, {Seq: 3, Index: 1, Time: event.Time, Payload: &loop.TextDelta{Text: "other"}},
	} {
		data, err := shared.of(other)
		got := &agentdv1.WatchRunResponse{}
		if err != nil || proto.Unmarshal(data, got) != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(fromEvent(other), got.GetEvent(), protocmp.Transform()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// Neither many nor large events stay in memory.
func TestSharedEventsAreBounded(t *testing.T) {
	var shared sharedEncoding
	for i := range 3 * sharedEvents {
		text := "x"
		if i%2 == 0 {
			text = strings.Repeat("x", sharedBytes/50)
		}
		if _, err := shared.of(loop.Event{Seq: uint64(i), Payload: &loop.UserMessage{Text: text}}); err != nil {
			t.Fatal(err)
		}
		sum := 0
		for _, e := range shared.order {
			sum += e.size
		}
		if len(shared.events) != len(shared.order) || len(shared.order) > sharedEvents || shared.bytes != sum || sum > sharedBytes {
			t.Fatalf("after %d events, %d and %d are kept with %d bytes, counted as %d", i+1, len(shared.events), len(shared.order), sum, shared.bytes)
		}
	}
}
