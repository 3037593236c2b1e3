package loop_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// Each budget causes one warning and later ends the run with its own reason.
func TestBudgets(t *testing.T) {
	for budget, test := range map[loop.Budget]struct {
		limits loop.Limits
		turn   loop.AssistantMessage // the use of each turn
		result loop.CallResult       // the use of each call
		time   time.Duration         // the time before each result
		want   loop.StopReason
		turns  int // the turn at which the run ends
		warned int // the turn of the warning
	}{
		loop.BudgetTurns:    {limits: loop.Limits{MaxTurns: 10}, want: loop.StopMaxTurns, turns: 10, warned: 8},
		loop.BudgetCalls:    {limits: loop.Limits{MaxCalls: 10}, want: loop.StopMaxCalls, turns: 11, warned: 8},
		loop.BudgetTokens:   {limits: loop.Limits{MaxTokens: 100}, turn: loop.AssistantMessage{Usage: tool.Usage{InputTokens: 8, OutputTokens: 2}}, want: loop.StopTokenBudget, turns: 10, warned: 8},
		loop.BudgetCost:     {limits: loop.Limits{MaxCost: 1}, turn: loop.AssistantMessage{Cost: .06}, result: loop.CallResult{Result: tool.Result{Cost: .0401}}, want: loop.StopCostBudget, turns: 10, warned: 8},
		loop.BudgetWallTime: {limits: loop.Limits{MaxWallTime: 10 * time.Minute}, time: time.Minute, want: loop.StopWallTime, turns: 10, warned: 8},
		loop.BudgetOutput:   {limits: loop.Limits{MaxOutput: 100}, result: loop.CallResult{Result: tool.TextResult("ten bytes.")}, want: loop.StopOutputSize, turns: 10, warned: 8},
		loop.BudgetFailures: {limits: loop.Limits{MaxFailures: 10}, result: loop.CallResult{Result: tool.ErrorResult("no")}, want: loop.StopFailures, turns: 10, warned: 8},
	} {
		t.Run(string(budget), func(t *testing.T) {
			f := newFolderOf(t, loop.RunStarted{Limits: test.limits})
			for again := range 2 { // a user message resets the budgets
				before := f.state.Turn() - 1
				warned := 0
				for f.state.Finished() == nil {
					if f.state.Turn() > before+20 {
						t.Fatal("the run does not end")
					}
					b := call("a", "echo")
					b.ToolCall.Arguments = fmt.Sprintf(`{"n":%d}`, f.state.Turn()) // no repetition
					m := f.state.Respond(&model.Response{Message: model.Message{Blocks: []model.Block{b}}, Usage: test.turn.Usage}, offered, f.state.Seq())
					m.Cost = test.turn.Cost
					f.add(m)
					if ids := f.running(); len(ids) > 0 {
						f.now = f.now.Add(test.time)
						r := test.result
						r.CallID = ids[0]
						f.add(&r)
					}
					if n := len(kept[*loop.BudgetWarning](f)); n > again && warned == 0 {
						warned = f.state.Turn() - 1 - before
					}
				}
				if end := f.state.Finished(); end.StopReason != test.want || end.Message == "" || end.Turns != before+test.turns || warned != test.warned {
					t.Errorf("ended with %+v, warned at turn %d", end, warned)
				}
				warnings := kept[*loop.BudgetWarning](f)
				if len(warnings) != again+1 || warnings[again].Budget != budget || warnings[again].Used >= warnings[again].Limit {
					t.Errorf("warnings: %+v", warnings)
				}
				checkPaired(t, f.state.Request().Messages)
				f.add(&loop.UserMessage{Text: "go on"})
			}
		})
	}
}

// No call of a response that uses up the tokens is made.
func TestCallsBeyondABudgetAreNotMade(t *testing.T) {
	f := newFolder(t, loop.Limits{MaxTokens: 10})
	f.add(f.state.Respond(&model.Response{Message: model.Message{Blocks: []model.Block{call("a", "echo")}}, Usage: tool.Usage{OutputTokens: 10}}, offered, f.state.Seq()))
	if end := f.state.Finished(); end == nil || end.StopReason != loop.StopTokenBudget {
		t.Errorf("ended with %+v", end)
	}
	if got := f.read(); !strings.HasPrefix(got[0], "[not run] The run has used up a budget") {
		t.Errorf("the model reads %q", got)
	}
}

// A tool reports its usage and its cost itself. No report makes what the run has spent smaller, or
// too large for the journal.
func TestNoReportOfAToolUndoesABudget(t *testing.T) {
	for name, reports := range map[string][2]tool.Result{
		"tokens that wrap around": {{Usage: tool.Usage{InputTokens: math.MaxUint64 - 7}}},
		"two that wrap around":    {{Usage: tool.Usage{InputTokens: 1 << 63, OutputTokens: 1 << 63}}},
		"infinite costs":          {{Cost: math.MaxFloat64}, {Cost: math.MaxFloat64}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFolder(t, loop.Limits{MaxTokens: 1000, MaxCost: 1000})
			f.add(f.state.Respond(&model.Response{Message: model.Message{Blocks: []model.Block{call("a", "echo"), call("b", "echo")}}, Usage: tool.Usage{OutputTokens: 8}}, offered, f.state.Seq()))
			for i, id := range []string{"r.t1.c0", "r.t1.c1"} {
				f.ended(&loop.CallResult{CallID: id, Tool: "echo", Result: reports[i]})
			}
			end := f.state.Finished()
			if end == nil || end.StopReason != loop.StopTokenBudget && end.StopReason != loop.StopCostBudget {
				t.Fatalf("ended with %+v", end)
			}
			if _, err := json.Marshal(end); err != nil {
				t.Error(err)
			}
		})
	}
}

// A run that completes at the limit is complete.
func TestABudgetDoesNotSpoilAnAnswer(t *testing.T) {
	f := newFolder(t, loop.Limits{MaxTokens: 10, MaxTurns: 1})
	f.add(f.state.Respond(&model.Response{Message: model.Message{Blocks: []model.Block{text("done")}}, StopReason: model.StopEndTurn, Usage: tool.Usage{OutputTokens: 20}}, offered, f.state.Seq()))
	if end := f.state.Finished(); end == nil || end.StopReason != loop.StopEndTurn || len(kept[*loop.BudgetWarning](f)) > 0 {
		t.Errorf("ended with %+v, %d warnings", end, len(kept[*loop.BudgetWarning](f)))
	}
}

// The time budget ends a run whose call never ends. Time in which the run waited only for people is
// free.
func TestWallTime(t *testing.T) {
	started := attended()
	started.Limits.MaxWallTime = 10 * time.Minute
	started.People.Expiry = 0
	f := newFolderOf(t, started)
	begun := f.now.Add(-time.Second)
	f.respond(model.StopToolUse, call("a", "echo"), call("b", "echo"))
	f.failed("r.t1.c0", tool.KindApprovalRequired)
	f.result("r.t1.c1", "ok")
	if next := loop.Next(&f.state); len(next) != 1 || next[0] != (loop.Wait{}) {
		t.Fatalf("while a person is waited for, next is %v", next)
	}
	const idle = 1000 * time.Hour
	f.now = f.now.Add(idle)
	f.add(&loop.DecisionMade{ID: "d1", Verdict: loop.VerdictApprove})
	next := loop.Next(&f.state)
	until := next[len(next)-1].(loop.Wait).Until
	if want := begun.Add(8*time.Minute + idle + time.Second); !until.Equal(want) { // a second went by before the decision was folded
		t.Errorf("the warning comes at %s, want %s", until, want)
	}
	f.now = until
	due := f.state.Due(f.now)
	if len(due) != 1 {
		t.Fatalf("due: %v", due)
	}
	f.add(due[0])
	next = loop.Next(&f.state)
	f.now = next[len(next)-1].(loop.Wait).Until
	if len(f.state.Due(f.now.Add(-1))) > 0 {
		t.Error("due too early")
	}
	for _, p := range f.state.Due(f.now) {
		f.add(p)
	}
	if c := loop.Next(&f.state)[0].(loop.CallTool); c.Cancel == nil {
		t.Fatal("the call under way is not cancelled")
	}
	f.result("r.t1.c0", "stopped")
	want := []*loop.BudgetWarning{{Budget: loop.BudgetWallTime, Used: 480, Limit: 600}}
	if diff := cmp.Diff(want, kept[*loop.BudgetWarning](f)); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if end := f.state.Finished(); end == nil || end.StopReason != loop.StopWallTime {
		t.Errorf("ended with %+v", end)
	}
}

func TestWallTimeAlone(t *testing.T) {
	f := newFolder(t, loop.Limits{MaxWallTime: time.Minute})
	f.respond(model.StopToolUse, call("a", "serial"), call("b", "echo"))
	for _, p := range f.state.Due(f.now.Add(time.Hour)) {
		f.add(p)
	}
	f.result("r.t1.c0", "stopped")
	if end := f.state.Finished(); end == nil || end.StopReason != loop.StopWallTime || len(kept[*loop.BudgetWarning](f)) != 1 {
		t.Errorf("ended with %+v", end)
	}
	if got := f.read(); !strings.HasPrefix(got[1], "[not run] The run ended before this call began: the run was at work for 1m0s") {
		t.Errorf("the model reads %q", got)
	}
}
