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

// startFor starts a run of a principal.
func (f *fixture) startFor(principal string) error {
	_, err := f.StartRun(f.t.Context(), loop.Task{Prompt: "go", Principal: principal})
	return err
}

// wantFull checks that an error names the quota and says when to try again.
func wantFull(t *testing.T, err error, wait time.Duration, words ...string) {
	t.Helper()
	e := tool.AsError(err)
	if err == nil || e.Kind != tool.KindRateLimited || e.RetryAfter != wait {
		t.Fatalf("the error is %+v, want one to try again in %s", e, wait)
	}
	for _, w := range words {
		if !strings.Contains(e.Message, w) {
			t.Errorf("the error %q does not contain %q", e.Message, w)
		}
	}
}

// A full quota of starts or of runs at work refuses only its own tenant or principal.
func TestQuotasOfRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := func(ctx context.Context, call tool.Call, _ func(tool.Status)) tool.Outcome {
			<-ctx.Done()
			return tool.Outcome{CallID: call.ID, Err: tool.AsError(context.Cause(ctx))}
		}
		m := turns(response(model.StopToolUse, call("a", "echo")), response(model.StopToolUse, call("a", "echo")), response(model.StopToolUse, call("a", "echo")), response(model.StopToolUse, call("a", "echo")))
		f := newFixture(t, m, newTools(hang), func(c *agent.Config) {
			c.Quotas = agent.Quotas{
				Tenant: agent.Quota{StartsPerMinute: 3}, Principal: agent.Quota{Runs: 1},
				Principals: map[string]agent.Quota{"blue/eve": {Runs: 2}},
			}
		})
		defer func() {
			f.Close()
			for id := range f.tools.executions() {
				_ = f.tools.CancelCall(context.Background(), tool.CallKey{ID: id}, "")
			}
		}()
		if err := f.startFor("red/ada"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		wantFull(t, f.startFor("red/ada"), time.Second, "the principal red/ada has 1 runs at work", "quota is 1")
		for _, principal := range []string{"red/bob", "blue/eve", "blue/eve", "red/cid"} {
			if err := f.startFor(principal); err != nil {
				t.Fatalf("%s: %v", principal, err)
			}
			synctest.Wait()
		}
		wantFull(t, f.startFor("red/dan"), time.Minute, "the tenant red has started 3 runs", "3 starts in a minute")
		if err := f.startFor("green/gil"); err != nil {
			t.Errorf("another tenant: %v", err)
		}
		time.Sleep(time.Minute)
		if err := f.startFor("red/dan"); err != nil {
			t.Errorf("a minute later: %v", err)
		}
		synctest.Wait()
	})
}

// What a tenant spends in a day is in the store: the quota holds for another agent, too, until the
// day is over. A run at work ends before its next model request.
func TestQuotaOfTheDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limited := func(c *agent.Config) { c.Quotas.Tenants = map[string]agent.Quota{"red": {TokensPerDay: 10}} }
		spends := response(model.StopToolUse, call("a", "echo"))
		spends.Usage = tool.Usage{InputTokens: 8, OutputTokens: 4}
		f := newFixture(t, turns(spends, response(model.StopEndTurn, text("ok")), response(model.StopEndTurn, text("ok"))), newTools(echo), limited)
		id, err := f.StartRun(t.Context(), loop.Task{Prompt: "go", Principal: "red/ada"})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		run, err := f.GetRun(t.Context(), id)
		if err != nil || run.StopReason != loop.StopTokenBudget || run.Turns != 1 {
			t.Fatalf("the run is %+v, %v", run, err)
		}
		f.Close()
		f.open(limited)
		defer f.Close()
		day := 24 * time.Hour
		left := time.Until(time.Now().Truncate(day).Add(day))
		wantFull(t, f.startFor("red/bob"), left, "the tenant red has used 12 tokens today", "10 tokens per day")
		_, err = f.SendMessage(t.Context(), id, "and now?")
		wantFull(t, err, left, "the tenant red")
		if err := f.startFor("blue/eve"); err != nil {
			t.Errorf("another tenant: %v", err)
		}
		time.Sleep(left)
		if err := f.startFor("red/bob"); err != nil {
			t.Errorf("the next day: %v", err)
		}
		synctest.Wait()
	})
}

// Runs that wait only for a person, and runs that have ended, are not at work.
func TestQuotaOfRunsThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tools := newTools(func(_ context.Context, call tool.Call, _ func(tool.Status)) tool.Outcome {
			return tool.Outcome{CallID: call.ID, Err: needsApproval(`{"path":"a"}`)}
		})
		m := turns(
			response(model.StopToolUse, call("a", "echo")), response(model.StopToolUse, call("a", "echo")),
			response(model.StopEndTurn, text("done")), response(model.StopEndTurn, text("done")),
		)
		f := newFixture(t, m, tools, func(c *agent.Config) {
			c.Quotas = agent.Quotas{Tenant: agent.Quota{Runs: 1}, Principal: agent.Quota{Runs: 1}}
		})
		for i := range 4 { // two wait, two end
			if err := f.startFor("red/ada"); err != nil {
				t.Fatalf("run %d: %v", i, err)
			}
			synctest.Wait()
		}
	})
}
