package agent_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// careful executes only what a person approved, with the approved arguments.
func careful(ctx context.Context, call tool.Call, status func(tool.Status)) tool.Outcome {
	if call.Approval == nil || string(call.Approval.Arguments) != string(call.Arguments) {
		return tool.Outcome{CallID: call.ID, Err: &tool.Error{Kind: tool.KindApprovalRequired, Message: "it deletes things", Rule: "ask"}}
	}
	return echo(ctx, call, status)
}

func withPeople(c *agent.Config) {
	c.People = loop.People{Attended: true, Expiry: time.Hour, AskOutcome: true}
	c.SystemTools = []string{loop.SystemAskUser, loop.SystemAttemptCompletion}
}

func question(text string) model.Block {
	b := call("q", loop.SystemAskUser)
	arguments, _ := json.Marshal(map[string]string{"question": text})
	b.ToolCall.Arguments = string(arguments)
	return b
}

// Calls and questions wait for a person, also across agents. One response can decide several. The
// approval names the person.
func TestRespond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent []tool.Call
		tools := newTools(func(ctx context.Context, call tool.Call, status func(tool.Status)) tool.Outcome {
			if call.Approval != nil {
				sent = append(sent, call)
			}
			return careful(ctx, call, status)
		})
		m := turns(response(model.StopToolUse, call("a", "serial"), call("b", "echo"), question("which?")), response(model.StopEndTurn, text("ok")))
		f := newFixture(t, m, tools, withPeople)
		f.start(loop.Task{})
		synctest.Wait()
		// The batch is serial, so the other call waits for the first.
		run, err := f.GetRun(t.Context(), "r")
		if err != nil || run.State() != agent.RunWaiting || len(run.Pending) != 2 || run.Pending[1].Rule != "ask" || run.Pending[1].Arguments != "{}" {
			t.Fatalf("the run is %+v, %v", run, err)
		}
		f.Close()
		f.open(withPeople)
		defer f.Close()
		if n, err := f.Resume(t.Context()); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		if _, err := f.Respond(t.Context(), "r", loop.DecisionMade{ID: "d2", Verdict: loop.VerdictApprove, By: "ann", Text: "fine", Arguments: []byte(`{"n": 1}`)}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		waiting, _, err := f.ListRuns(t.Context(), agent.RunQuery{States: []agent.RunState{agent.RunWaiting}})
		if err != nil || len(waiting) != 1 {
			t.Errorf("waiting: %+v, %v", waiting, err)
		}
		both := []loop.DecisionMade{{ID: "d3", Verdict: loop.VerdictApprove, By: "bob"}, {ID: "d1", Verdict: loop.VerdictAnswer, Text: "this one"}, {ID: "d9", Verdict: loop.VerdictAnswer, Text: "x"}}
		if _, err := f.Respond(t.Context(), "r", both...); tool.KindOf(err) != tool.KindNotFound {
			t.Errorf("responding to what is not asked yet: %v", err)
		}
		if _, err := f.Respond(t.Context(), "r", both[0]); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if _, err := f.Respond(t.Context(), "r", both[1]); err != nil {
			t.Fatal(err)
		}
		if end := f.end(); end.StopReason != loop.StopEndTurn {
			t.Errorf("ended with %+v", end)
		}
		var got []string
		for _, c := range sent {
			got = append(got, strings.Join([]string{c.ID, string(c.Arguments), c.Approval.ApprovedBy, c.Approval.Reason}, " "))
		}
		want := []string{`r.t1.c0.a2 {"n":1} ann fine`, `r.t1.c1.a2 {} bob `}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
		last := m.seen()[1].Messages[2].Blocks
		if !strings.HasPrefix(last[0].ToolResult.Content[0].Text, "[edited]") || last[2].ToolResult.Content[0].Text != "this one" {
			t.Errorf("the model reads %+v", last)
		}
	})
}

// A response makes all of its decisions or none.
func TestSeveralAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := turns(response(model.StopToolUse, call("a", "echo"), call("b", "echo"), question("which?")), response(model.StopEndTurn, text("ok")))
		f := newFixture(t, m, newTools(careful), withPeople)
		f.start(loop.Task{})
		synctest.Wait()
		yes := func(id string) loop.DecisionMade {
			return loop.DecisionMade{ID: id, Verdict: loop.VerdictApprove}
		}
		for i, test := range []struct {
			decisions []loop.DecisionMade
			want      tool.Kind
		}{
			{nil, tool.KindInvalidArgument},
			{[]loop.DecisionMade{yes("d2"), yes("d9")}, tool.KindNotFound},
			{[]loop.DecisionMade{yes("d2"), yes("d2")}, tool.KindInvalidArgument},
			{[]loop.DecisionMade{yes("d2"), yes("d1")}, tool.KindInvalidArgument}, // d1 is the question
			{[]loop.DecisionMade{{ID: "d2", Verdict: loop.VerdictExpired}}, tool.KindInvalidArgument},
		} {
			if _, err := f.Respond(t.Context(), "r", test.decisions...); tool.KindOf(err) != test.want {
				t.Errorf("%d: %v, want %s", i, err, test.want)
			}
		}
		run, err := f.GetRun(t.Context(), "r")
		if err != nil || len(run.Pending) != 3 {
			t.Fatalf("after replies that failed, %d decisions are wanted, %v", len(run.Pending), err)
		}
		if _, err := f.Respond(t.Context(), "r", yes("d3"), yes("d2"), loop.DecisionMade{ID: "d1", Verdict: loop.VerdictReject}); err != nil {
			t.Fatal(err)
		}
		if end := f.end(); end.StopReason != loop.StopEndTurn || len(f.tools.executions()) != 4 {
			t.Errorf("ended with %+v after %v", end, f.tools.executions())
		}
		if _, err := f.Respond(t.Context(), "r", yes("d2")); tool.KindOf(err) != tool.KindNotFound {
			t.Errorf("responding to a finished run: %v", err)
		}
	})
}

// A decision expires even if its agent was not running at that time.
func TestNoPersonResponds(t *testing.T) {
	for _, away := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			m := turns(response(model.StopToolUse, call("a", "echo")), response(model.StopEndTurn, text("ok")))
			f := newFixture(t, m, newTools(careful), withPeople)
			begun := time.Now()
			f.start(loop.Task{})
			if away {
				synctest.Wait()
				f.Close()
				time.Sleep(5 * time.Hour)
				f.open(withPeople)
				defer f.Close()
				if _, err := f.Resume(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			f.end()
			if waited := time.Since(begun); !away && waited != time.Hour {
				t.Errorf("waited %s", waited)
			}
			if got := m.seen()[1].Messages[2].Blocks[0].ToolResult; !got.IsError || !strings.HasPrefix(got.Content[0].Text, "[rejected] Nobody approved") {
				t.Errorf("the model reads %+v", got)
			}
		})
	}
}

func TestHeadless(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := turns(response(model.StopToolUse, call("a", "echo"), question("which?")), response(model.StopEndTurn, text("ok")))
		f := newFixture(t, m, newTools(careful), withPeople)
		f.start(loop.Task{People: &loop.People{}})
		f.end()
		for _, offer := range m.seen()[0].Tools {
			if offer.Name == loop.SystemAskUser {
				t.Error("the model may ask although nobody is there")
			}
		}
		got := m.seen()[1].Messages[2].Blocks[0].ToolResult
		if want := "[approval_required] it deletes things. Nobody has approved it; go on without it or tell the user."; got.Content[0].Text != want {
			t.Errorf("the model reads %q", got.Content[0].Text)
		}
	})
}

// A call that never ends is cancelled when the time budget is used up, after a warning.
func TestWallTimeStopsWhatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tools := newTools(func(ctx context.Context, call tool.Call, _ func(tool.Status)) tool.Outcome {
			<-ctx.Done()
			return tool.Outcome{CallID: call.ID, Err: tool.AsError(context.Cause(ctx))}
		})
		f := newFixture(t, turns(response(model.StopToolUse, call("a", "echo"))), tools, nil)
		begun := time.Now()
		f.start(loop.Task{Limits: loop.Limits{MaxWallTime: 10 * time.Minute}})
		if end := f.end(); end.StopReason != loop.StopWallTime || time.Since(begun) != 10*time.Minute {
			t.Errorf("ended with %+v after %s", end, time.Since(begun))
		}
		want := []loop.Type{"run_started", "assistant_message", "call_started", "budget_warning", "cancel_requested", "call_result", "run_finished"}
		if diff := cmp.Diff(want, types(durable(f.watch(0)))); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

func TestCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := []*model.Response{}
		for range 5 {
			answers = append(answers, response(model.StopToolUse, call("", "echo")))
		}
		m := turns(answers...)
		f := newFixture(t, m, newTools(echo), func(c *agent.Config) { c.Prices = model.Prices{"fake:model": {Output: 1e6}} })
		f.start(loop.Task{Limits: loop.Limits{MaxCost: 9}})
		if end := f.end(); end.StopReason != loop.StopCostBudget || end.Cost != 9 || end.Turns != 3 {
			t.Errorf("ended with %+v", end)
		}
		run, err := f.GetRun(t.Context(), "r")
		if err != nil || run.Cost != 9 {
			t.Errorf("the run is %+v, %v", run, err)
		}
		f.Close()
		f.open(nil)
		defer f.Close()
		if _, err := f.StartRun(t.Context(), loop.Task{Prompt: "hi", Limits: loop.Limits{MaxCost: 1}}); tool.KindOf(err) != tool.KindInvalidArgument {
			t.Errorf("a cost budget without a price: %v", err)
		}
	})
}

// Tools get the run's initial context, the changes by effects, and the agent's own keys.
func TestContextReachesTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []map[string]json.RawMessage
		tools := newTools(func(_ context.Context, call tool.Call, _ func(tool.Status)) tool.Outcome {
			got = append(got, call.Context)
			return tool.Outcome{Result: tool.Result{Effects: []tool.Effect{effect("k", tool.EffectAppend, `2`)}}}
		})
		tools.infos = []tool.Info{{Spec: tool.Spec{Name: "echo", EffectKeys: []string{"k"}}}}
		f := newFixture(t, turns(response(model.StopToolUse, call("a", "echo")), response(model.StopToolUse, call("b", "echo")), response(model.StopEndTurn)), tools,
			func(c *agent.Config) { c.EffectsAllowed = map[string][]string{"echo": {"k"}} })
		f.start(loop.Task{Session: `s"\\`, Context: map[string]json.RawMessage{"k": []byte(`[1]`)}})
		f.end()
		want := []map[string]json.RawMessage{
			{"k": []byte(`[1]`), "run": []byte(`"r"`), "turn": []byte(`1`), "session": []byte(`"s\"\\\\"`), "model": []byte(`"fake:model"`), "usage": []byte(`{"cost":0}`)},
			{"k": []byte(`[1,2]`), "run": []byte(`"r"`), "turn": []byte(`2`), "session": []byte(`"s\"\\\\"`), "model": []byte(`"fake:model"`), "usage": []byte(`{"input_tokens":2,"output_tokens":3,"cost":0}`)},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("context (-want +got):\n%s", diff)
		}
		if _, err := f.StartRun(t.Context(), loop.Task{Prompt: "x", Context: map[string]json.RawMessage{"run": []byte("1")}}); tool.KindOf(err) != tool.KindInvalidArgument {
			t.Errorf("a key of the agent's own: %v", err)
		}
	})
}

// The cost of tools counts toward the run's budget, also for failed calls. Calls beyond the budget
// are not made.
func TestCostOfTools(t *testing.T) {
	for name, outcome := range map[string]tool.Outcome{
		"a result":  {Result: tool.Result{Content: []tool.Content{tool.Text("done")}, Cost: 2}},
		"a failure": {Err: &tool.Error{Kind: tool.KindTimeout, Message: "too long", Cost: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				made := 0
				tools := newTools(func(context.Context, tool.Call, func(tool.Status)) tool.Outcome { made++; return outcome })
				tools.infos = []tool.Info{{Spec: tool.Spec{Name: "echo", CostPerUse: 2, Serial: true}}}
				m := turns(response(model.StopToolUse, call("a", "echo"), call("b", "echo"), call("c", "echo")), response(model.StopToolUse, call("d", "echo")), response(model.StopEndTurn))
				f := newFixture(t, m, tools, func(c *agent.Config) { c.Prices = model.Prices{"fake:model": {}} })
				f.start(loop.Task{Limits: loop.Limits{MaxCost: 3}})
				if end := f.end(); end.StopReason != loop.StopCostBudget || end.Cost != 4 || made != 2 {
					t.Errorf("%d calls were made, and the run ended with %+v", made, end)
				}
			})
		})
	}
}
