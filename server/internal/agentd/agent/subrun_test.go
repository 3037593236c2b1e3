package agent_test

import (
	"context"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

func newTask(id, arguments string) model.Block {
	b := call(id, loop.SystemNewTask)
	b.ToolCall.Arguments = arguments
	return b
}

// delegating is a model that answers by the conversation: "hello" is the parent's, any other a
// sub-run's.
func delegating(parent, child func(n int, req model.Request) *model.Response) *fakeModel {
	return &fakeModel{answer: func(_ context.Context, req model.Request) (*model.Response, error) {
		n := 0
		for _, m := range req.Messages {
			if m.Role == model.RoleAssistant {
				n++
			}
		}
		if req.Messages[0].Blocks[0].Text.Text == "hello" {
			return parent(n, req), nil
		}
		return child(n, req), nil
	}}
}

func firstText(req model.Request) string { return req.Messages[0].Blocks[0].Text.Text }

// results returns the texts of the results in the last message.
func results(req model.Request) []string {
	var list []string
	for _, b := range req.Messages[len(req.Messages)-1].Blocks {
		if b.ToolResult != nil {
			r := tool.Result{Content: b.ToolResult.Content}
			list = append(list, r.Text())
		}
	}
	return list
}

func withSystem(cfg *agent.Config) { cfg.SystemTools = loop.SystemTools() }

func TestSubRuns(t *testing.T) {
	var read []string
	m := delegating(func(n int, req model.Request) *model.Response {
		if n == 0 {
			return response(model.StopToolUse, newTask("a", `{"task":"one"}`), newTask("b", `{"task":"two","tools":["echo"]}`))
		}
		read = results(req)
		return response(model.StopEndTurn, text("both done"))
	}, func(n int, req model.Request) *model.Response {
		if n == 0 {
			return response(model.StopToolUse, call("c", "echo"))
		}
		return response(model.StopEndTurn, text(firstText(req)+" has "+results(req)[0]))
	})
	f := newFixture(t, m, newTools(echo), withSystem)
	f.start(loop.Task{Session: "shared"})
	end := f.end()
	first, second := loop.SubRunID("r", "r.t1.c0"), loop.SubRunID("r", "r.t1.c1")
	want := []string{"one has echo " + first + ".t1.c0", "two has echo " + second + ".t1.c0"}
	if len(read) != 2 || read[0] != want[0] || read[1] != want[1] {
		t.Errorf("the model reads %q, want %q", read, want)
	}
	// Two turns of the parent and two of each sub-run, of 5 tokens each.
	if got := end.Usage.InputTokens + end.Usage.OutputTokens; got != 30 || end.Text != "both done" {
		t.Errorf("the run used %d tokens and says %q", got, end.Text)
	}
	var subs []string
	for _, e := range durable(f.watch(0)) {
		if p, ok := e.Payload.(*loop.SubRunStarted); ok {
			subs = append(subs, p.CallID+" "+p.RunID+" "+p.Prompt)
		}
	}
	if len(subs) != 2 || subs[0] != "r.t1.c0 "+first+" one" || subs[1] != "r.t1.c1 "+second+" two" {
		t.Errorf("the journal tells of %q", subs)
	}
	children, _, err := f.ListRuns(t.Context(), agent.RunQuery{Parent: "r"})
	if err != nil || len(children) != 2 {
		t.Fatalf("there are %d sub-runs: %v", len(children), err)
	}
	for _, req := range m.seen() {
		if firstText(req) == "two" && len(req.Tools) == 0 {
			t.Error("the second sub-run has no tools")
		}
	}
}

// At the lowest level a run is not offered new_task, and a call of it is refused.
func TestSubRunsAreNotEndless(t *testing.T) {
	m := delegating(func(n int, _ model.Request) *model.Response {
		return []*model.Response{response(model.StopToolUse, newTask("a", `{"task":"deep"}`)), response(model.StopEndTurn, text("ok"))}[n]
	}, func(n int, req model.Request) *model.Response {
		for _, offered := range req.Tools {
			if offered.Name == loop.SystemNewTask {
				return response(model.StopToolUse, newTask("b", `{"task":"deeper"}`))
			}
		}
		if n == 0 {
			return response(model.StopToolUse, newTask("c", `{"task":"deepest"}`))
		}
		return response(model.StopEndTurn, text("no more"))
	})
	f := newFixture(t, m, newTools(echo), withSystem)
	f.start(loop.Task{SubRuns: 1})
	f.end()
	runs, _, err := f.ListRuns(t.Context(), agent.RunQuery{})
	if err != nil || len(runs) != 2 {
		t.Errorf("there are %d runs: %v", len(runs), err)
	}
}

func TestSubRunFails(t *testing.T) {
	var read []string
	m := delegating(func(n int, req model.Request) *model.Response {
		if n == 0 {
			return response(model.StopToolUse, newTask("a", `{"task":"evil"}`), newTask("b", `{}`), newTask("c", `{"task":"x","tools":["none"]}`))
		}
		read = results(req)
		return response(model.StopEndTurn, text("ok"))
	}, func(int, model.Request) *model.Response {
		return response(model.StopRefusal, text("I will not"))
	})
	f := newFixture(t, m, newTools(echo), withSystem)
	f.start(loop.Task{Tools: loop.ToolChoice{Names: []string{"echo"}}})
	f.end()
	for i, want := range []string{"[refusal]", "[invalid_argument]", "[invalid_argument]"} {
		if !strings.HasPrefix(read[i], want) {
			t.Errorf("the model reads %q, want %s", read[i], want)
		}
	}
	if !strings.Contains(read[0], "I will not") {
		t.Errorf("the model reads %q", read[0])
	}
}

// waiting is a tool that signals when it is called, and waits until it may end or is cancelled.
type waiting struct{ called, end chan struct{} }

func newWaiting() *waiting { return &waiting{make(chan struct{}, 8), make(chan struct{})} }

func (w *waiting) run(ctx context.Context, call tool.Call, _ func(tool.Status)) tool.Outcome {
	w.called <- struct{}{}
	select {
	case <-w.end:
		return tool.Outcome{CallID: call.ID, Result: tool.TextResult("waited")}
	case <-ctx.Done():
		return tool.Outcome{CallID: call.ID, Err: tool.AsError(context.Cause(ctx))}
	}
}

func oneChild(read *[]string) *fakeModel {
	return delegating(func(n int, req model.Request) *model.Response {
		if n == 0 {
			return response(model.StopToolUse, newTask("a", `{"task":"wait"}`))
		}
		*read = results(req)
		return response(model.StopEndTurn, text("ok"))
	}, func(n int, req model.Request) *model.Response {
		if n == 0 {
			return response(model.StopToolUse, call("c", "echo"))
		}
		return response(model.StopEndTurn, text("it "+results(req)[0]))
	})
}

func TestCancelReachesSubRun(t *testing.T) {
	w := newWaiting()
	var read []string
	f := newFixture(t, oneChild(&read), newTools(w.run), withSystem)
	f.start(loop.Task{})
	<-w.called
	if err := f.CancelRun(t.Context(), "r", "enough"); err != nil {
		t.Fatal(err)
	}
	if end := f.end(); end.StopReason != loop.StopCancelled {
		t.Errorf("the run ends with %s", end.StopReason)
	}
	child, err := f.GetRun(t.Context(), loop.SubRunID("r", "r.t1.c0"))
	if err != nil || child.StopReason != loop.StopCancelled {
		t.Errorf("the sub-run ended with %q, %v", child.StopReason, err)
	}
}

// The agent stops while a sub-run works. Whatever run is resumed first, there is one sub-run, and
// its call is executed once.
func TestResumedRunFindsSubRun(t *testing.T) {
	for _, foreground := range []bool{false, true} {
		w := newWaiting()
		var read []string
		tools := newTools(w.run)
		f := newFixture(t, oneChild(&read), tools, withSystem)
		f.start(loop.Task{Foreground: foreground})
		<-w.called
		f.Close()
		f.open(withSystem)
		resume := func() error { _, err := f.Resume(t.Context()); return err }
		if foreground {
			resume = func() error { return f.ResumeRun(t.Context(), "r") }
		}
		if err := resume(); err != nil {
			t.Fatal(err)
		}
		close(w.end)
		if end := f.end(); end.StopReason != loop.StopEndTurn || len(read) != 1 || read[0] != "it waited" {
			t.Errorf("the run ends with %+v, the model read %q", end, read)
		}
		runs, _, err := f.ListRuns(t.Context(), agent.RunQuery{})
		if err != nil || len(runs) != 2 {
			t.Errorf("there are %d runs: %v", len(runs), err)
		}
		for id, n := range tools.executions() {
			if n != 1 {
				t.Errorf("call %s was executed %d times", id, n)
			}
		}
		f.Close()
	}
}

// A run that a user started is not mistaken for a sub-run.
func TestSubRunIDIsTaken(t *testing.T) {
	var read []string
	f := newFixture(t, oneChild(&read), newTools(echo), withSystem)
	id := loop.SubRunID("r", "r.t1.c0")
	if _, err := f.StartRun(t.Context(), loop.Task{RunID: id, Prompt: "wait"}); err != nil {
		t.Fatal(err)
	}
	f.start(loop.Task{})
	f.end()
	if len(read) != 1 || !strings.HasPrefix(read[0], "[conflict]") {
		t.Errorf("the model reads %q", read)
	}
}

func TestSubRunIDs(t *testing.T) {
	long := strings.Repeat("x", 64)
	seen := make(map[string]bool)
	for _, run := range []string{"r", long} {
		for _, place := range []string{".t1.c0", ".t1.c1", ".t100.c100"} {
			id := loop.SubRunID(run, run+place)
			if len(id) > 64 || seen[id] || strings.Contains(id, ".") || id != loop.SubRunID(run, run+place) {
				t.Errorf("the sub-run of %s%s is %s", run, place, id)
			}
			seen[id] = true
		}
	}
}

// The sub-runs of one response share the remaining budgets equally.
func TestSubRunsShareBudgets(t *testing.T) {
	m := delegating(func(n int, _ model.Request) *model.Response {
		return []*model.Response{response(model.StopToolUse, newTask("a", `{"task":"one"}`), newTask("b", `{"task":"two"}`)), response(model.StopEndTurn, text("ok"))}[n]
	}, func(int, model.Request) *model.Response { return response(model.StopToolUse, call("", "echo")) })
	f := newFixture(t, m, newTools(echo), withSystem)
	f.start(loop.Task{Limits: loop.Limits{MaxTokens: 105}})
	end := f.end()
	for _, index := range []string{"c0", "c1"} {
		child, err := f.GetRun(t.Context(), loop.SubRunID("r", "r.t1."+index))
		if err != nil || child.StopReason != loop.StopTokenBudget || child.Usage.InputTokens+child.Usage.OutputTokens != 50 {
			t.Errorf("the sub-run ended with %s after %+v: %v", child.StopReason, child.Usage, err)
		}
	}
	if end.StopReason != loop.StopTokenBudget || end.Usage.InputTokens+end.Usage.OutputTokens != 105 {
		t.Errorf("the run ended with %s after %+v", end.StopReason, end.Usage)
	}
}

// A sub-run may ask people if its parent may, also in the foreground, and otherwise not.
func TestSubRunMayAsk(t *testing.T) {
	for i := range 4 {
		foreground, attended, asks := i&1 != 0, i&2 != 0, false
		m := delegating(func(n int, _ model.Request) *model.Response {
			return []*model.Response{response(model.StopToolUse, newTask("a", `{"task":"one"}`)), response(model.StopEndTurn, text("ok"))}[n]
		}, func(_ int, req model.Request) *model.Response {
			for _, offered := range req.Tools {
				asks = asks || offered.Name == loop.SystemAskUser
			}
			return response(model.StopEndTurn, text("ok"))
		})
		f := newFixture(t, m, newTools(echo), withSystem)
		f.start(loop.Task{Foreground: foreground, People: &loop.People{Attended: attended}})
		f.end()
		if asks != attended {
			t.Errorf("in the foreground %v, attended %v: the sub-run can ask: %v", foreground, attended, asks)
		}
	}
}
