package agent_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// askingModel is a model whose first response calls the tool ask of the suite, and whose second
// ends the run. A request of the tool itself gets the response own.
func askingModel(kind tool.QuestionKind, own *model.Response) *fakeModel {
	b := call("a", "ask")
	b.ToolCall.Arguments = `{"kind":"` + string(kind) + `","message":"Which one?"}`
	script := turns(response(model.StopToolUse, b), response(model.StopEndTurn, text("done")))
	return &fakeModel{answer: func(ctx context.Context, req model.Request) (*model.Response, error) {
		if len(req.Messages) == 1 && req.Messages[0].Blocks[0].Text.Text == "Which one?" {
			return own, nil
		}
		return script.answer(ctx, req)
	}}
}

// askFixture is an agent with the tools of the suite.
func askFixture(t *testing.T, m *fakeModel, people bool, change func(*agent.Config)) (f *fixture, host *hosttest.Toolhost, open func()) {
	host = hosttest.New(t, nil, hosttest.Tools()...)
	configure := func(c *agent.Config) {
		c.Tools, c.People.Attended = host, people
		if change != nil {
			change(c)
		}
	}
	f = newFixture(t, m, newTools(echo), configure)
	return f, host, func() { f.open(configure) }
}

// resultOf returns the result of the run's only call.
func resultOf(t *testing.T, events []loop.Event) *loop.CallResult {
	t.Helper()
	for _, e := range events {
		if r, ok := e.Payload.(*loop.CallResult); ok {
			return r
		}
	}
	t.Fatal("the call has no result")
	return nil
}

// A question of a tool is a decision of the run. It outlives the agent, and so does the answer. A
// text is enough if the schema asks for one text. An answer that does not fit is asked for again.
func TestAToolAsksAPerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, host, open := askFixture(t, askingModel(tool.QuestionPerson, nil), true, nil)
		f.start(loop.Task{})
		synctest.Wait()
		run, err := f.GetRun(t.Context(), "r")
		if err != nil || run.State() != agent.RunWaiting || len(run.Pending) != 1 {
			t.Fatalf("the run is %+v, %v", run, err)
		}
		p := run.Pending[0]
		if p.Kind != loop.DecideTool || p.Reason != "Which one?" || p.Question.Plugin != hosttest.PluginName || p.Tool != "ask" || p.Expires.IsZero() {
			t.Errorf("the decision is %+v", p)
		}
		f.Close()
		open()
		if _, err := f.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for _, wrong := range []loop.DecisionMade{
			{ID: p.ID, Verdict: loop.VerdictApprove}, {ID: p.ID, Verdict: loop.VerdictAnswer}, {ID: "d9", Verdict: loop.VerdictReject},
		} {
			if _, err := f.Respond(t.Context(), "r", wrong); err == nil {
				t.Errorf("%+v was accepted", wrong)
			}
		}
		if _, err := f.Respond(t.Context(), "r", loop.DecisionMade{ID: p.ID, Verdict: loop.VerdictAnswer, Text: `{"other":1}`}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		run, err = f.GetRun(t.Context(), "r")
		if err != nil || len(run.Pending) != 1 || run.Pending[0].ID == p.ID || !strings.Contains(run.Pending[0].Reason, "refused") {
			t.Fatalf("after an answer that does not fit, the run is %+v, %v", run, err)
		}
		if _, err := f.Respond(t.Context(), "r", loop.DecisionMade{ID: run.Pending[0].ID, Verdict: loop.VerdictAnswer, Text: "the red one"}); err != nil {
			t.Fatal(err)
		}
		if r := resultOf(t, f.watch(0)); r.Result.Text() != `accept {"answer":"the red one"}` {
			t.Errorf("the tool got %q, %+v", r.Result.Text(), r.Failure)
		}
		if n := len(host.Opened()); n != 2 {
			t.Errorf("the call was opened %d times", n)
		}
	})
}

// A person who declines, and one who does not answer in time.
func TestAToolGetsNoAnswer(t *testing.T) {
	for name, tc := range map[string]struct {
		respond bool
		want    string
	}{"declined": {true, "decline "}, "expired": {false, "timeout"}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, _, _ := askFixture(t, askingModel(tool.QuestionPerson, nil), true, func(c *agent.Config) { c.People.Expiry = 20 * time.Minute })
				f.start(loop.Task{})
				synctest.Wait()
				if tc.respond {
					if _, err := f.Respond(t.Context(), "r", loop.DecisionMade{ID: "d1", Verdict: loop.VerdictReject}); err != nil {
						t.Fatal(err)
					}
				}
				if r := resultOf(t, f.watch(0)); r.Result.Text() != tc.want {
					t.Errorf("the tool got %q, %+v", r.Result.Text(), r.Failure)
				}
			})
		})
	}
}

func TestARunWithoutPeopleAsksNoPerson(t *testing.T) {
	f, _, _ := askFixture(t, askingModel(tool.QuestionPerson, nil), false, nil)
	f.start(loop.Task{})
	if r := resultOf(t, f.watch(0)); r.Result.Text() != string(tool.KindUnsupported) {
		t.Errorf("the tool got %q", r.Result.Text())
	}
}

// A question for a model is a request of the run's model, and its tokens count toward the run.
func TestAToolAsksAModel(t *testing.T) {
	own := response(model.StopEndTurn, text("this one"))
	own.Usage = tool.Usage{InputTokens: 70, OutputTokens: 30}
	m := askingModel(tool.QuestionModel, own)
	f, _, _ := askFixture(t, m, false, nil)
	f.start(loop.Task{})
	events := f.watch(0)
	if r := resultOf(t, events); r.Result.Text() != "fake:model: this one" {
		t.Errorf("the tool got %q, %+v", r.Result.Text(), r.Failure)
	}
	if end := events[len(events)-1].Payload.(*loop.RunFinished); end.Usage.Tokens() != 110 || end.Turns != 2 {
		t.Errorf("the run used %d tokens in %d turns, want 110 in 2", end.Usage.Tokens(), end.Turns)
	}
	for _, req := range m.seen() {
		if len(req.Messages) == 1 && req.Messages[0].Blocks[0].Text.Text == "Which one?" && (req.MaxTokens != 7 || len(req.Tools) > 0) {
			t.Errorf("the model got the limit %d and %d tools", req.MaxTokens, len(req.Tools))
		}
	}
}
