package loop_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// A call that waits for its standing approval holds the calls that follow it, and those of a serial
// response.
func TestAPendingStandingApprovalHoldsOthers(t *testing.T) {
	for _, second := range []string{"write", "alone"} {
		f := newFolderOf(t, attended())
		f.respondWith(ordered, "write", second, "read")
		f.ended(&loop.CallResult{CallID: "r.t1.c0", Result: tool.ErrorResult("ask"), Failure: &loop.Failure{Kind: tool.KindApprovalRequired, Definition: "d"}})
		f.add(&loop.DecisionMade{ID: "d1", Verdict: loop.VerdictApprove, Standing: &loop.Standing{Scope: tool.ScopeRun}})
		if got := f.running(); len(got) != 0 {
			t.Errorf("%s: %v began before the standing approval", second, got)
		}
		f.add(&loop.StandingApproved{DecisionID: "d1", CallID: "r.t1.c0", ApprovalID: "s1"})
		if diff := cmp.Diff([]string{"r.t1.c0"}, f.running()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", second, diff)
		}
	}
}

// A message that the model has not read does not continue a run that the model refused.
func TestARefusedRunEndsDespiteAMessage(t *testing.T) {
	for reason, want := range map[model.StopReason]loop.StopReason{
		model.StopRefusal: loop.StopReason(model.StopRefusal), model.StopContentFilter: loop.StopReason(model.StopContentFilter), model.StopEndTurn: "",
	} {
		f := newFolder(t, loop.Limits{})
		read := f.state.Seq()
		f.add(&loop.UserMessage{Text: "and this"})
		f.add(f.state.Respond(&model.Response{Message: model.Message{Blocks: []model.Block{text("no")}}, StopReason: reason}, offered, read))
		end := f.state.Finished()
		if (end == nil) != (want == "") || end != nil && end.StopReason != want {
			t.Errorf("%s: the run ended with %+v", reason, end)
		}
	}
}

// A run that is cancelled warns of no budget: nobody can do anything about it.
func TestNoWarningAfterACancel(t *testing.T) {
	for _, cancel := range []bool{false, true} {
		f := newFolder(t, loop.Limits{MaxCost: 1})
		f.respond(model.StopToolUse, call("a", "echo"))
		if cancel {
			f.add(&loop.CancelRequested{})
		}
		f.add(&loop.CallResult{CallID: "r.t1.c0", Tool: "echo", Result: tool.Result{Cost: .9}})
		if n := len(kept[*loop.BudgetWarning](f)); (n == 0) != cancel {
			t.Errorf("cancelled: %v: %d warnings", cancel, n)
		}
	}
}

// A call that succeeds forgives all failures before it.
func TestASuccessForgivesFailures(t *testing.T) {
	f := newFolder(t, loop.Limits{MaxFailures: 3})
	for turn, failed := range []bool{true, true, false, true, true, true} {
		if f.state.Finished() != nil {
			t.Fatalf("the run ended before turn %d", turn+1)
		}
		b := call("a", "echo")
		b.ToolCall.Arguments = fmt.Sprintf(`{"n":%d}`, turn) // no repetition
		f.respond(model.StopToolUse, b)
		f.add(&loop.CallResult{CallID: fmt.Sprintf("r.t%d.c0", turn+1), Tool: "echo", Result: tool.Result{IsError: failed}})
	}
	if end := f.state.Finished(); end == nil || end.StopReason != loop.StopFailures {
		t.Errorf("the run ended with %+v", end)
	}
}

// The time in which no process worked on a run is not its time.
func TestTimeBetweenProcesses(t *testing.T) {
	for resumed, want := range map[bool]loop.StopReason{false: loop.StopWallTime, true: ""} {
		f := newFolder(t, loop.Limits{MaxWallTime: time.Minute})
		f.respond(model.StopToolUse, call("a", "echo"))
		f.now = f.now.Add(time.Hour)
		if resumed {
			f.add(&loop.RunResumed{})
		}
		f.result("r.t1.c0", "ok")
		if end := f.state.Finished(); (end == nil) != (want == "") || end != nil && end.StopReason != want {
			t.Errorf("resumed: %v: the run ended with %+v", resumed, end)
		}
	}
}

// A journal whose attempts of a call have a gap is refused.
func TestAttemptsWithAGap(t *testing.T) {
	for attempt, fits := range map[int]bool{1: false, 2: true, 3: false} {
		f := newFolderOf(t, attended())
		f.respond(model.StopToolUse, call("a", "echo"))
		f.failed("r.t1.c0", tool.KindApprovalRequired)
		f.apply(&loop.DecisionMade{ID: "d1", Verdict: loop.VerdictApprove})
		err := f.state.Apply(loop.Event{Seq: f.state.Seq() + 1, Payload: &loop.CallStarted{CallID: "r.t1.c0", Tool: "echo", Attempt: attempt}})
		if (err == nil) != fits {
			t.Errorf("attempt %d after the first: %v", attempt, err)
		}
	}
}
