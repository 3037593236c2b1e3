package agent_test

import (
	"context"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// A message that is sent again with its id is in the journal once, also if another process has the
// run since, and if a new message would be refused.
func TestMessageIsSaidOnce(t *testing.T) {
	m := &fakeModel{answer: func(context.Context, model.Request) (*model.Response, error) {
		return response(model.StopEndTurn, text("ok")), nil
	}}
	f := newFixture(t, m, newTools(echo), nil)
	f.start(loop.Task{})
	f.end()
	ann, ben := loop.MessageID{Text: "m1", Sender: "ann"}, loop.MessageID{Text: "m1", Sender: "ben"}
	send := func(id loop.MessageID, text string) uint64 {
		t.Helper()
		seq, err := f.SendMessageOnce(t.Context(), "r", id, text)
		if err != nil {
			t.Fatal(err)
		}
		f.end()
		return seq
	}
	first := send(ann, "say it")
	if again := send(ann, "say it"); again != first {
		t.Errorf("the message was event %d, and sent again %d", first, again)
	}
	if _, err := f.SendMessageOnce(t.Context(), "r", ann, "say more"); tool.KindOf(err) != tool.KindConflict {
		t.Errorf("another text with the id: %v", err)
	}
	if other := send(ben, "say it"); other <= first {
		t.Errorf("the message of another sender is event %d", other)
	}
	f.Close()
	f.open(func(c *agent.Config) {})
	if again := send(ann, "say it"); again != first {
		t.Errorf("the message was event %d, and sent again after a restart %d", first, again)
	}
	for _, id := range []string{"", "a b", "\x1b[2J"} {
		if _, err := f.SendMessageOnce(t.Context(), "r", loop.MessageID{Text: id}, "say it"); tool.KindOf(err) != tool.KindInvalidArgument {
			t.Errorf("the id %q: %v", id, err)
		}
	}
	said := 0
	for _, e := range f.watch(0) {
		if _, ok := e.Payload.(*loop.UserMessage); ok {
			said++
		}
	}
	if said != 2 {
		t.Errorf("the journal has %d messages", said)
	}
}
