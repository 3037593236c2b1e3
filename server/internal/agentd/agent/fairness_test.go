package agent_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// Many senders talk to many runs at once, also when the runs end. Each message is in the journal
// once, the model reads it, and every watcher sees all events in order.
func TestCrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const runs, people, messages = 20, 4, 5
		m := &fakeModel{answer: func(_ context.Context, req model.Request) (*model.Response, error) {
			if len(req.Messages)%4 == 1 {
				return response(model.StopToolUse, call("a", "echo"), call("b", "serial")), nil
			}
			return response(model.StopEndTurn, text("ok")), nil
		}}
		f := newFixture(t, m, newTools(echo), nil)
		var group sync.WaitGroup
		for r := range runs {
			id := fmt.Sprint("run", r)
			if _, err := f.StartRun(t.Context(), loop.Task{RunID: id, Prompt: "start"}); err != nil {
				t.Fatal(err)
			}
			for p := range people {
				group.Go(func() {
					for i := range messages {
						if _, err := f.SendMessage(t.Context(), id, fmt.Sprintf("%d.%d", p, i)); err != nil {
							t.Error(err)
						}
					}
				})
				group.Go(func() {
					var events []loop.Event
					for e, err := range f.WatchRun(t.Context(), id, 0) {
						if err != nil {
							t.Error(err)
							return
						}
						events = append(events, e)
					}
					checkOrder(t, 0, events)
				})
			}
		}
		group.Wait()
		for r := range runs {
			checkReceived(t, f, fmt.Sprint("run", r), people, messages)
		}
		for _, req := range m.seen() {
			checkPaired(t, req.Messages)
		}
	})
}

// checkReceived checks that a finished run has each message of each person once.
func checkReceived(t *testing.T, f *fixture, run string, people, messages int) {
	t.Helper()
	received, last := make(map[string]int), loop.Type("")
	for e, err := range f.WatchRun(t.Context(), run, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if p, ok := e.Payload.(*loop.UserMessage); ok {
			received[p.Text]++
		}
		last = e.Payload.Type()
	}
	want := make(map[string]int)
	for p := range people {
		for i := range messages {
			want[fmt.Sprintf("%d.%d", p, i)] = 1
		}
	}
	if diff := cmp.Diff(want, received); diff != "" || last != loop.TypeRunFinished {
		t.Errorf("%s ends with %s and holds (-want +got):\n%s", run, last, diff)
	}
}
