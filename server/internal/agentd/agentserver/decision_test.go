package agentserver_test

import (
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
)

func TestRespond(t *testing.T) {
	fake := &fakeAgent{}
	_, conn := dial(t, fake)
	client, ctx := agentdv1.NewAgentServiceClient(conn), t.Context()
	resp, err := client.Respond(ctx, &agentdv1.RespondRequest{RunId: "r", DecidedBy: "ann", Decisions: []*agentdv1.Decision{
		{DecisionId: "d1", Verdict: &agentdv1.Decision_Approve{Approve: &agentdv1.Approve{Arguments: []byte(`{"a":1}`), Reason: "ok"}}},
		{DecisionId: "d2", Verdict: &agentdv1.Decision_Reject{Reject: &agentdv1.Reject{Reason: "no"}}},
		{DecisionId: "d3", Verdict: &agentdv1.Decision_Answer{Answer: &agentdv1.Answer{Text: "this"}}},
	}})
	if err != nil || resp.GetSeq() != 8 {
		t.Fatal(resp, err)
	}
	want := []loop.DecisionMade{
		{ID: "d1", Verdict: loop.VerdictApprove, Arguments: []byte(`{"a":1}`), Text: "ok", By: "ann"},
		{ID: "d2", Verdict: loop.VerdictReject, Text: "no", By: "ann"},
		{ID: "d3", Verdict: loop.VerdictAnswer, Text: "this", By: "ann"},
	}
	for i := range want {
		want[i].Principal, want[i].Groups = authn.UserName(os.Getuid()), []string{}
	}
	if diff := cmp.Diff(want, fake.made); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
	if _, err := client.Respond(ctx, &agentdv1.RespondRequest{RunId: "r", Decisions: []*agentdv1.Decision{{DecisionId: "d1"}}}); status.Code(err) != codes.InvalidArgument {
		t.Errorf("a decision without a verdict: %v", err)
	}
	if _, err := client.Respond(ctx, &agentdv1.RespondRequest{RunId: "x"}); status.Code(err) != codes.NotFound {
		t.Errorf("an unknown run: %v", err)
	}
}

func TestPendingDecisions(t *testing.T) {
	fake := &fakeAgent{run: agent.Run{ID: "r", Waiting: true, Cost: .25, Parent: &loop.Parent{RunID: "p", CallID: "p.t1.c0"}, Pending: []loop.Pending{
		{
			DecisionRequested: loop.DecisionRequested{
				ID: "d1", Kind: loop.DecideApproval, CallID: "r.t1.c0", Tool: "rm", Reason: "it deletes", Rule: "ask", Expiry: time.Hour,
			},
			Arguments: `{"path":"x"}`, Requested: moment, Expires: moment.Add(time.Hour),
		},
		{DecisionRequested: loop.DecisionRequested{ID: "d2", Kind: loop.DecideQuestion, Reason: "which?", Options: []string{"a", "b"}}, Requested: moment},
		{DecisionRequested: loop.DecisionRequested{ID: "d3", Kind: loop.DecideOutcome}, Requested: moment},
		{DecisionRequested: loop.DecisionRequested{ID: "d4", Kind: loop.DecidePause}, Requested: moment},
	}}}
	_, conn := dial(t, fake)
	at := timestamppb.New(moment)
	want := &agentdv1.Run{RunId: "r", State: agentdv1.RunState_RUN_STATE_WAITING, Cost: .25, ParentRunId: "p", ParentCallId: "p.t1.c0", PendingDecisions: []*agentdv1.PendingDecision{
		{
			DecisionId: "d1", Kind: agentdv1.DecisionKind_DECISION_KIND_APPROVAL, CallId: "r.t1.c0", Tool: "rm", Arguments: []byte(`{"path":"x"}`),
			Reason: "it deletes", Rule: "ask", RequestTime: at, ExpireTime: timestamppb.New(moment.Add(time.Hour)),
		},
		{DecisionId: "d2", Kind: agentdv1.DecisionKind_DECISION_KIND_QUESTION, Reason: "which?", Options: []string{"a", "b"}, RequestTime: at},
		{DecisionId: "d3", Kind: agentdv1.DecisionKind_DECISION_KIND_OUTCOME, RequestTime: at},
		{DecisionId: "d4", Kind: agentdv1.DecisionKind_DECISION_KIND_PAUSE, RequestTime: at},
	}}
	got, err := agentdv1.NewAgentServiceClient(conn).GetRun(t.Context(), &agentdv1.GetRunRequest{RunId: "r"})
	if diff := cmp.Diff(want, got.GetRun(), protocmp.Transform(), protocmp.IgnoreFields(&agentdv1.Run{}, "start_time", "update_time", "usage")); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestListFilters(t *testing.T) {
	fake := &fakeAgent{}
	_, conn := dial(t, fake)
	client, ctx := agentdv1.NewAgentServiceClient(conn), t.Context()
	states := []agentdv1.RunState{agentdv1.RunState_RUN_STATE_RUNNING, agentdv1.RunState_RUN_STATE_WAITING, agentdv1.RunState_RUN_STATE_FINISHED, agentdv1.RunState_RUN_STATE_INTERRUPTED}
	if _, err := client.ListRuns(ctx, &agentdv1.ListRunsRequest{PageSize: 3, PageToken: "t", States: states, ParentRunId: "p"}); err != nil {
		t.Fatal(err)
	}
	want := agent.RunQuery{Size: 3, Token: "t", Parent: "p", States: []agent.RunState{agent.RunRunning, agent.RunWaiting, agent.RunEnded, agent.RunInterrupted}}
	if diff := cmp.Diff(want, fake.query); diff != "" {
		t.Errorf("query (-want +got):\n%s", diff)
	}
	if _, err := client.ListRuns(ctx, &agentdv1.ListRunsRequest{States: []agentdv1.RunState{77}}); status.Code(err) != codes.InvalidArgument {
		t.Errorf("an unknown state: %v", err)
	}
}

// The remaining events of a run, on the wire.
func TestReportedDecision(t *testing.T) {
	at := timestamppb.New(moment)
	fake := &fakeAgent{}
	add := func(p loop.Payload) {
		fake.events = append(fake.events, loop.Event{Seq: uint64(len(fake.events) + 1), Time: moment, Payload: p})
	}
	add(&loop.RunStarted{RunID: "r", Parent: &loop.Parent{RunID: "p", CallID: "p.t1.c0"}})
	add(&loop.CallStarted{CallID: "r.t1.c0", Tool: "rm", Attempt: 2})
	add(&loop.DecisionRequested{ID: "d1", Kind: loop.DecidePause, Reason: "stuck", Expiry: time.Hour})
	add(&loop.DecisionMade{ID: "d1", Verdict: loop.VerdictApprove, Arguments: []byte("{}"), Text: "go", By: "ann", Principal: "uid:7"})
	add(&loop.DecisionMade{ID: "d2", Verdict: loop.VerdictReject})
	add(&loop.DecisionMade{ID: "d3", Verdict: loop.VerdictAnswer})
	add(&loop.DecisionMade{ID: "d4", Verdict: loop.VerdictExpired})
	add(&loop.BudgetWarning{Budget: loop.BudgetCost, Used: 8, Limit: 10})
	add(&loop.TodoChange{Todos: []byte(`["a"]`)})
	add(&loop.ContextChange{Keys: []string{"k"}, Refused: map[string]string{"run": "no"}})
	add(&loop.SubRunStarted{CallID: "r.t1.c1", RunID: "child", Prompt: "do"})
	add(&loop.Compacted{Reason: "full", Cleared: []string{"a", "b"}, Summary: "so far", Replaced: 7})
	add(&loop.CancelRequested{Reason: "late", Stop: loop.StopWallTime})
	add(&loop.RunFinished{StopReason: loop.StopWallTime, Cost: 9})
	want := []*agentdv1.RunEvent{
		{Event: &agentdv1.RunEvent_RunStarted{RunStarted: &agentdv1.RunStarted{RunId: "r", ParentRunId: "p", ParentCallId: "p.t1.c0"}}},
		{Event: &agentdv1.RunEvent_CallStarted{CallStarted: &agentdv1.CallStarted{CallId: "r.t1.c0", Tool: "rm", Attempt: 2}}},
		{Event: &agentdv1.RunEvent_DecisionRequested{DecisionRequested: &agentdv1.DecisionRequested{Decision: &agentdv1.PendingDecision{
			DecisionId: "d1", Kind: agentdv1.DecisionKind_DECISION_KIND_PAUSE, Reason: "stuck", RequestTime: at, ExpireTime: timestamppb.New(moment.Add(time.Hour)),
		}}}},
		{Event: &agentdv1.RunEvent_DecisionMade{DecisionMade: &agentdv1.DecisionMade{
			DecisionId: "d1", Verdict: agentdv1.Verdict_VERDICT_APPROVE, Arguments: []byte("{}"), Text: "go", DecidedBy: "ann", Principal: "uid:7",
		}}},
		{Event: &agentdv1.RunEvent_DecisionMade{DecisionMade: &agentdv1.DecisionMade{DecisionId: "d2", Verdict: agentdv1.Verdict_VERDICT_REJECT}}},
		{Event: &agentdv1.RunEvent_DecisionMade{DecisionMade: &agentdv1.DecisionMade{DecisionId: "d3", Verdict: agentdv1.Verdict_VERDICT_ANSWER}}},
		{Event: &agentdv1.RunEvent_DecisionMade{DecisionMade: &agentdv1.DecisionMade{DecisionId: "d4", Verdict: agentdv1.Verdict_VERDICT_EXPIRED}}},
		{Event: &agentdv1.RunEvent_BudgetWarning{BudgetWarning: &agentdv1.BudgetWarning{Budget: "cost", Used: 8, Limit: 10}}},
		{Event: &agentdv1.RunEvent_TodoChange{TodoChange: &agentdv1.TodoChange{Todos: []byte(`["a"]`)}}},
		{Event: &agentdv1.RunEvent_ContextChange{ContextChange: &agentdv1.ContextChange{Keys: []string{"k"}, Refused: map[string]string{"run": "no"}}}},
		{Event: &agentdv1.RunEvent_SubRunStarted{SubRunStarted: &agentdv1.SubRunStarted{CallId: "r.t1.c1", RunId: "child", Prompt: "do"}}},
		{Event: &agentdv1.RunEvent_Compacted{Compacted: &agentdv1.Compacted{Reason: "full", ClearedResults: 2, Summary: "so far", ReplacedMessages: 7}}},
		{Event: &agentdv1.RunEvent_CancelRequested{CancelRequested: &agentdv1.CancelRequested{Reason: "late", StopReason: agentdv1.StopReason_STOP_REASON_WALL_TIME}}},
		{Event: &agentdv1.RunEvent_RunFinished{RunFinished: &agentdv1.RunFinished{StopReason: agentdv1.StopReason_STOP_REASON_WALL_TIME, Cost: 9}}},
	}
	_, conn := dial(t, fake)
	stream, err := agentdv1.NewAgentServiceClient(conn).WatchRun(t.Context(), &agentdv1.WatchRunRequest{RunId: "r"})
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		resp, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		w.Seq, w.Time = uint64(i+1), at
		if diff := cmp.Diff(w, resp.GetEvent(), protocmp.Transform(), protocmp.IgnoreFields(&agentdv1.RunFinished{}, "usage")); diff != "" {
			t.Errorf("event %d (-want +got):\n%s", i+1, diff)
		}
	}
}
