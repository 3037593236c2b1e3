package loop_test

import (
	"testing"

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
