package loop_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

const oneText = `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`

// The call runs on while its tool waits for a person. The run does not use its time meanwhile, and
// the reply is the driver's to send. A second attempt of the call has none of the replies.
func TestAToolAsks(t *testing.T) {
	f := newFolderOf(t, attended())
	f.respond(model.StopToolUse, call("a", "echo"))
	q := &tool.Question{ID: 3, Plugin: "p", Person: &tool.PersonQuestion{Message: "Which?", Schema: json.RawMessage(oneText)}}
	d := f.state.AskPerson("r.t1.c0", q, "")
	if d == nil {
		t.Fatal("the question is not asked")
	}
	f.add(d)
	if f.state.AskPerson("r.t1.c0", q, "") != nil || len(f.running()) != 1 || !f.state.WaitsForPerson("r.t1.c0") {
		t.Fatalf("running %q, waits for a person: %v", f.running(), f.state.WaitsForPerson("r.t1.c0"))
	}
	if err := f.state.Check(&loop.DecisionMade{ID: d.ID, Verdict: loop.VerdictAnswer, Text: `[1]`}); err != nil {
		t.Errorf("a text for a schema with one text: %v", err)
	}
	f.add(&loop.DecisionMade{ID: d.ID, Verdict: loop.VerdictAnswer, Text: "red"})
	replies := loop.Next(&f.state)[0].(loop.CallTool).Replies
	if got := replies[3].Person; got == nil || string(got.Content) != `{"name":"red"}` {
		t.Errorf("the reply is %+v", replies[3])
	}
	if f.state.WaitsForPerson("r.t1.c0") || f.state.AskPerson("r.t1.c0", q, "") != nil {
		t.Error("the answered question is open")
	}
	again := f.state.AskPerson("r.t1.c0", q, "too short")
	if again == nil {
		t.Fatal("a refused answer is not asked for again")
	}
	f.add(again)
	if len(f.state.Batch().Replies("r.t1.c0")) != 0 || len(replies) != 1 {
		t.Errorf("the refused answer is still %+v", f.state.Batch().Replies("r.t1.c0"))
	}
	f.result("r.t1.c0", "fine")
	if len(f.state.Pending()) != 0 {
		t.Error("the question of a call that has ended is open")
	}
}

// The response of a model to a tool counts toward the budget of the run.
func TestAModelRepliesToATool(t *testing.T) {
	started := attended()
	started.Limits.MaxTokens = 60
	f := newFolderOf(t, started)
	f.respond(model.StopToolUse, call("a", "echo"))
	if err := f.state.MayComplete(); err != nil {
		t.Fatal(err)
	}
	f.add(&loop.ModelReplied{CallID: "r.t1.c0", Question: 1, Answer: &tool.ModelAnswer{Model: "m"}, Usage: tool.Usage{InputTokens: 80}, Cost: 2})
	if err := f.state.MayComplete(); tool.KindOf(asError(err)) != tool.KindRateLimited {
		t.Errorf("with the budget used up: %v", err)
	}
	if r := f.state.Batch().Replies("r.t1.c0"); r[1].Model == nil || r[1].Model.Model != "m" {
		t.Errorf("the replies are %+v", r)
	}
	for _, wrong := range []*loop.ModelReplied{{CallID: "r.t1.c9", Answer: &tool.ModelAnswer{}}, {CallID: "r.t1.c0"}} {
		s := f.state
		if err := s.Apply(loop.Event{Seq: s.Seq() + 1, Time: time.Unix(1e9, 0), Payload: wrong}); err == nil {
			t.Errorf("%+v was accepted", wrong)
		}
	}
}

func asError(e *tool.Error) error {
	if e == nil {
		return nil
	}
	return e
}

func TestAnswerContent(t *testing.T) {
	two := `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`
	for _, tc := range []struct{ schema, text, want string }{
		{oneText, "red", `{"name":"red"}`}, {oneText, ` {"name":"x"} `, `{"name":"x"}`}, {oneText, `{broken`, `{"name":"{broken"}`},
		{two, "red", ""}, {two, `{"a":"1"}`, `{"a":"1"}`}, {`{"type":"object","properties":{"n":{"type":"integer"}}}`, "7", ""}, {"", "red", ""},
	} {
		got, err := loop.AnswerContent(json.RawMessage(tc.schema), tc.text)
		if string(got) != tc.want || (err != nil) != (tc.want == "") {
			t.Errorf("%q became %s (%v), want %q", tc.text, got, err, tc.want)
		}
	}
}
