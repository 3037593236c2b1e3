package agent_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// Two tenants use the same id, and each has its own run. Lists and page tokens do not cross
// tenants.
func TestTenantsShareNoIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, turns(response(model.StopEndTurn, text("ok")), response(model.StopEndTurn, text("ok")), response(model.StopEndTurn, text("ok"))), newTools(echo), nil)
		defer f.Close()
		for principal, want := range map[string]string{"red/ada": "red/same", "blue/eve": "blue/same", "uid:7": "same"} {
			id, err := f.StartRun(t.Context(), loop.Task{Prompt: "go for " + principal, RunID: "same", Principal: principal})
			if err != nil || id != want {
				t.Fatalf("%s: %s, %v", principal, id, err)
			}
		}
		synctest.Wait()
		for _, test := range []struct {
			query agent.RunQuery
			want  string
		}{
			{agent.RunQuery{Principal: "red/ada"}, "red/same"}, {agent.RunQuery{Principal: "red/bob"}, ""}, {agent.RunQuery{Tenants: []string{"blue"}}, "blue/same"},
			{agent.RunQuery{Tenants: []string{"green"}}, ""}, {agent.RunQuery{Principal: "uid:7"}, "same"},
		} {
			runs, next, err := f.ListRuns(t.Context(), test.query)
			var ids []string
			for i := range runs {
				ids = append(ids, runs[i].ID)
			}
			if err != nil || next != "" || strings.Join(ids, " ") != test.want {
				t.Errorf("%+v: %v, %q, %v", test.query, ids, next, err)
			}
		}
		for _, query := range []agent.RunQuery{
			{Principal: "red/ada", Token: "blue/same"}, {Tenants: []string{"red"}, Token: "blue/same"}, {Tenants: []string{"red", "green"}, Token: "blue/same"},
		} {
			_, _, foreign := f.ListRuns(t.Context(), query)
			query.Token = "blue/none"
			if _, _, unknown := f.ListRuns(t.Context(), query); foreign == nil || strings.ReplaceAll(foreign.Error(), "same", "none") != unknown.Error() {
				t.Errorf("the token of a foreign run: %v; an unknown one: %v", foreign, unknown)
			}
		}
		for _, id := range []string{"blue/x", "../x", "a/b", "red/red/x", strings.Repeat("x", 65)} {
			if got, err := f.StartRun(t.Context(), loop.Task{Prompt: "go", RunID: id, Principal: "red/ada"}); tool.KindOf(err) != tool.KindInvalidArgument {
				t.Errorf("the id %s gives %s, %v", id, got, err)
			}
		}
		_, err := f.StartRun(t.Context(), loop.Task{Prompt: "go for red/ada", RunID: "same", Principal: "red/bob"})
		if tool.KindOf(err) != tool.KindConflict {
			t.Errorf("another principal joins a run by its id and prompt: %v", err)
		}
	})
}

type actsFor struct{}

// A run calls tools for its principal, and so does its sub-run, also after a restart. A call that
// needs four eyes waits for another principal, however the run's own one responds.
func TestRunActsForItsPrincipal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent []tool.Call
		tools := newTools(func(ctx context.Context, call tool.Call, status func(tool.Status)) tool.Outcome {
			if got := ctx.Value(actsFor{}); got != "red/ada dev" {
				t.Errorf("the call %s is made for %v", call.ID, got)
			}
			if call.Approval == nil || call.Approval.Approver != "red/bob" {
				return tool.Outcome{CallID: call.ID, Err: &tool.Error{Kind: tool.KindApprovalRequired, Message: "two have to see it", FourEyes: true}}
			}
			sent = append(sent, call)
			return echo(ctx, call, status)
		})
		acting := func(c *agent.Config) {
			withPeople(c)
			c.ActFor = func(ctx context.Context, principal string, groups []string) context.Context {
				return context.WithValue(ctx, actsFor{}, principal+" "+strings.Join(groups, ","))
			}
		}
		f := newFixture(t, turns(response(model.StopToolUse, call("a", "echo")), response(model.StopEndTurn, text("ok"))), tools, acting)
		if _, err := f.StartRun(t.Context(), loop.Task{Prompt: "go", RunID: "r", Principal: "red/ada", Groups: []string{"dev"}}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for _, by := range []loop.DecisionMade{{Principal: "red/ada"}, {Principal: "red/ada", By: "bob"}, {By: "bob"}} {
			by.ID, by.Verdict = "d1", loop.VerdictApprove
			if _, err := f.Respond(t.Context(), "red/r", by); tool.KindOf(err) != tool.KindDenied {
				t.Errorf("%+v: %v", by, err)
			}
		}
		f.Close()
		f.open(acting)
		defer f.Close()
		if _, err := f.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Respond(t.Context(), "red/r", loop.DecisionMade{ID: "d1", Verdict: loop.VerdictApprove, Principal: "red/bob"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		run, err := f.GetRun(t.Context(), "red/r")
		if err != nil || !run.Finished() || run.Principal != "red/ada" || len(sent) != 1 {
			t.Errorf("the run is %+v, %v; executed %+v", run, err, sent)
		}
		owner, err := f.OwnerOf(t.Context(), "red/r")
		if diff := cmp.Diff("red/ada", owner); diff != "" || err != nil {
			t.Error(diff, err)
		}
	})
}

// A call whose rule names groups waits for a person in one of them. toolhost gets the groups that
// agentd has verified, and decides.
func TestTheApproverOfARunIsInAGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var approval *tool.Approval
		tools := newTools(func(ctx context.Context, call tool.Call, status func(tool.Status)) tool.Outcome {
			if approval = call.Approval; approval == nil {
				return tool.Outcome{CallID: call.ID, Err: &tool.Error{Kind: tool.KindApprovalRequired, Message: "money", ApproverGroups: []string{"red/leads"}}}
			}
			return echo(ctx, call, status)
		})
		f := newFixture(t, turns(response(model.StopToolUse, call("a", "echo")), response(model.StopEndTurn, text("ok"))), tools, withPeople)
		defer f.Close()
		if _, err := f.StartRun(t.Context(), loop.Task{Prompt: "go", RunID: "r", Principal: "red/ada"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		d, err := f.Decision(t.Context(), "red/r", "d1")
		list, _, listed := f.ListDecisions(t.Context(), agent.DecisionQuery{})
		if err != nil || listed != nil || !cmp.Equal(d.Approvers, []string{"red/leads"}) || len(list) != 1 || !cmp.Equal(list[0].Approvers, d.Approvers) {
			t.Fatalf("the decision is %+v, %v, and listed as %+v, %v", d, err, list, listed)
		}
		for _, groups := range [][]string{{}, {"lead"}} {
			made := loop.DecisionMade{ID: "d1", Verdict: loop.VerdictApprove, Principal: "red/bob", Groups: groups}
			if _, err := f.Decide(t.Context(), "red/r", d.Etag(), made); tool.KindOf(err) != tool.KindDenied {
				t.Errorf("with the groups %q: %v", groups, err)
			}
		}
		if _, err := f.Decide(t.Context(), "red/r", d.Etag(), loop.DecisionMade{ID: "d1", Verdict: loop.VerdictApprove, Principal: "red/bob", Groups: []string{"leads"}}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if approval == nil || approval.Approver != "red/bob" || !cmp.Equal(approval.ApproverGroups, []string{"leads"}) {
			t.Errorf("toolhost gets %+v", approval)
		}
	})
}
