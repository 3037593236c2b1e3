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
	"github.com/toolhost/toolhost/tool"
)

// under is a fake toolhost with a ledger, and configures an agent to know it.
func under(ledger string, run func(context.Context, tool.Call, func(tool.Status)) tool.Outcome, people loop.People) (*fakeTools, func(*agent.Config)) {
	tools := newTools(run)
	tools.ledger = ledger
	return tools, func(c *agent.Config) {
		c.Tools, c.LedgerID, c.People = tools, func() string { return tools.ledger }, people
	}
}

// hang executes a call until it is cancelled.
func hang(ctx context.Context, call tool.Call, _ func(tool.Status)) tool.Outcome {
	<-ctx.Done()
	return tool.Outcome{CallID: call.ID, Err: &tool.Error{Kind: tool.KindCancelled, Message: "cancelled"}}
}

// movedRun begins a run with a call under the ledger "old", kills the agent, and continues the run
// under another ledger.
func movedRun(t *testing.T, people loop.People, then string) (f *fixture, before, after *fakeTools) {
	t.Helper()
	m := turns(response(model.StopToolUse, call("a", "serial"), call("b", "echo")), response(model.StopEndTurn, text("done")))
	before, first := under("old", hang, people)
	f = newFixture(t, m, before, first)
	t.Cleanup(func() { endCalls(before) })
	f.start(loop.Task{})
	synctest.Wait()
	f.Close()
	after, second := under(then, echo, people)
	f.open(second)
	return f, before, after
}

func endCalls(f *fakeTools) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.calls {
		c.cancel(nil)
	}
}

// A run continues with a toolhost that does not have the ledger of its calls. Calls with side
// effects that have begun are not executed there. Calls without side effects, and calls that have
// not begun, are.
func TestCallIsNotMadeUnderAnotherLedger(t *testing.T) {
	for name, c := range map[string]struct {
		people loop.People
		then   string
	}{
		"nobody to ask":         {loop.People{}, "other"},
		"a lost file":           {loop.People{}, "new"},
		"a person who is asked": {loop.People{Attended: true, AskOutcome: true}, "other"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, _, after := movedRun(t, c.people, c.then)
				defer f.Close()
				if err := f.ResumeRun(t.Context(), "r"); err != nil {
					t.Fatal(err)
				}
				if c.people.Attended {
					synctest.Wait()
					run, err := f.GetRun(t.Context(), "r")
					if err != nil || len(run.Pending) != 1 || run.Pending[0].Kind != loop.DecideOutcome || !strings.Contains(run.Pending[0].Reason, "old") {
						t.Fatalf("the run waits for %+v, %v", run.Pending, err)
					}
					if _, err := f.Respond(t.Context(), "r", loop.DecisionMade{ID: run.Pending[0].ID, Verdict: loop.VerdictReject}); err != nil {
						t.Fatal(err)
					}
				}
				results := make(map[string]*loop.CallResult)
				for _, e := range f.watch(0) {
					if r, ok := e.Payload.(*loop.CallResult); ok {
						results[r.Tool] = r
					}
				}
				if lost := results["serial"]; lost == nil || lost.Failure == nil || lost.Failure.Kind != tool.KindOutcomeUnknown {
					t.Errorf("the call with side effects ended with %+v", lost)
				}
				if safe := results["echo"]; safe == nil || safe.Failure != nil {
					t.Errorf("the call without side effects ended with %+v", safe)
				}
				if got := after.executions(); got["r.t1.c0"] != 0 || got["r.t1.c1"] != 1 {
					t.Errorf("the other toolhost executed %v", got)
				}
			})
		})
	}
}

// A call that has begun is joined where its ledger is. A later call belongs to the new ledger.
func TestSameLedgerJoinsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, before, _ := movedRun(t, loop.People{}, "other")
		f.Close()
		f.open(func(c *agent.Config) {
			c.Tools, c.LedgerID = before, func() string { return "old" }
		})
		defer f.Close()
		if err := f.ResumeRun(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		endCalls(before)
		if end := f.end(); end.StopReason != loop.StopEndTurn {
			t.Errorf("the run ended with %+v", end)
		}
		if got := before.executions(); got["r.t1.c0"] != 1 {
			t.Errorf("executed %v", got)
		}
	})
}

// If a toolhost does not know a call, that says nothing about a call that was sent to another
// toolhost.
func TestCancelAfterTheLedgerChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _, after := movedRun(t, loop.People{}, "other")
		defer f.Close()
		if err := f.CancelRun(t.Context(), "r", "enough"); err != nil {
			t.Fatal(err)
		}
		for _, e := range f.watch(0) {
			if r, ok := e.Payload.(*loop.CallResult); ok && r.Tool == "serial" && (r.Failure == nil || r.Failure.Kind != tool.KindOutcomeUnknown) {
				t.Errorf("the call ended with %+v", r)
			}
		}
		if got := after.executions()["r.t1.c0"]; got != 0 {
			t.Errorf("it was executed %d times", got)
		}
	})
}

// An attempt that has not begun is sent to the toolhost where the run continues.
func TestApprovedCallNamesTheLedgerOfItsAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		people := loop.People{Attended: true, AskOutcome: true, Expiry: time.Hour}
		m := turns(response(model.StopToolUse, call("a", "serial")), response(model.StopEndTurn, text("done")))
		before, first := under("old", careful, people)
		f := newFixture(t, m, before, first)
		f.start(loop.Task{})
		synctest.Wait()
		f.Close()
		after, second := under("other", careful, people)
		f.open(second)
		defer f.Close()
		if _, err := f.Respond(t.Context(), "r", loop.DecisionMade{ID: "d1", Verdict: loop.VerdictApprove, By: "ann"}); err != nil {
			t.Fatal(err)
		}
		if end := f.end(); end.StopReason != loop.StopEndTurn {
			t.Errorf("the run ended with %+v", end)
		}
		if got := after.executions(); got["r.t1.c0.a2"] != 1 || len(got) != 1 {
			t.Errorf("executed %v", got)
		}
	})
}
