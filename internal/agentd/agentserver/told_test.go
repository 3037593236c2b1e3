package agentserver_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/access/authn"
	"github.com/toolhost/toolhost/internal/agentd/agent"
	"github.com/toolhost/toolhost/internal/agentd/agentserver"
	"github.com/toolhost/toolhost/internal/agentd/loop"
	"github.com/toolhost/toolhost/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// Events have the same content at a client as at the server.
func TestEventsRoundTrip(t *testing.T) {
	usage := tool.Usage{InputTokens: 1, OutputTokens: 2}
	payloads := []loop.Payload{
		&loop.RunStarted{Memory: []loop.Memory{{Name: "RULES.md", ToldSize: 7}, {Name: "AGENTS.md", Workspace: true, Problem: "is a pipe"}}, RunID: "r", Prompt: "p", Model: "m", Session: "s", Agent: "k", Sampling: model.Sampling{Effort: model.EffortLow}, Fallbacks: []loop.RunModel{{Model: "openai:f"}}, Traceparent: "00-t", Parent: &loop.Parent{RunID: "q", CallID: "q.t1.c0"}},
		&loop.UserMessage{Text: "more", Attachments: []loop.Attachment{{
			Attachment: model.Attachment{Name: "a.png", MIMEType: "image/png", Size: 9, SHA256: "0f"}, Artifact: "h",
		}}},
		&loop.AssistantMessage{
			Message:    model.Message{Role: model.RoleAssistant, Blocks: []model.Block{{Text: &model.Text{Text: "look"}}}},
			Calls:      []loop.Call{{ID: "r.t1.c0", Tool: "echo", Arguments: "{bad"}},
			StopReason: model.StopToolUse, Usage: usage, Wasted: usage, Cost: 3,
		},
		&loop.CallStarted{CallID: "c", Tool: "echo", Attempt: 2, Traceparent: "00-u", Ledger: "0a1b"},
		&loop.CallResult{CallID: "c", Tool: "echo", Result: tool.TextResult("hi"), Plugin: "p", Instance: "p-1"},
		&loop.CallResult{
			CallID: "c", Tool: "echo", Result: tool.ErrorResult("[crashed] gone"),
			Failure: &loop.Failure{Kind: tool.KindCrashed, Message: "gone", RetryAfterMS: 1500, Plugin: "p", Rule: "no", Exit: &tool.Exit{Code: 2}},
		},
		&loop.CancelRequested{Reason: "late", Stop: loop.StopWallTime},
		&loop.DecisionRequested{ID: "d1", Kind: loop.DecideApproval, CallID: "c", Tool: "rm", Reason: "it deletes", Options: []string{"a"}, Rule: "ask", Expiry: time.Hour},
		&loop.DecisionRequested{ID: "d2", Kind: loop.DecidePause, Reason: "stuck"},
		&loop.DecisionMade{ID: "d1", Verdict: loop.VerdictApprove, Arguments: json.RawMessage(`{}`), Text: "fine", By: "ann", Principal: "uid:7"},
		&loop.DecisionMade{ID: "d1", Verdict: loop.VerdictExpired},
		&loop.BudgetWarning{Budget: loop.BudgetCost, Used: 1, Limit: 2},
		&loop.ContextChange{Keys: []string{"a"}, Refused: map[string]string{"run": "no"}},
		&loop.TodoChange{Todos: json.RawMessage(`["x"]`)},
		&loop.SubRunStarted{CallID: "c", RunID: "child", Prompt: "do"},
		&loop.SubRunWaiting{CallID: "c", RunID: "child", Decisions: []string{"child/d1"}},
		&loop.RunResumed{},
		&loop.Compacted{Reason: "full", Cleared: []string{"", ""}, Summary: "short", Replaced: 3, Overflow: true, Failure: "down", Usage: usage, Cost: 5},
		&loop.TextDelta{Text: "lo"},
		&loop.CallStatus{CallID: "c", Tool: "echo", Status: tool.Status{State: tool.StatusDoing, Message: "soon"}},
		&loop.TurnReset{Reason: "again", Attempt: 2},
		&loop.RunFinished{StopReason: loop.StopNoToolCalls, Message: "m", Text: "t", Turns: 1, Calls: 2, Usage: usage, Cost: 4},
	}
	fake := &fakeAgent{}
	for i, p := range payloads {
		fake.events = append(fake.events, loop.Event{Seq: uint64(i + 1), Time: moment, Payload: p})
	}
	_, conn := dial(t, fake)
	stream, err := agentdv1.NewAgentServiceClient(conn).WatchRun(t.Context(), &agentdv1.WatchRunRequest{RunId: "r"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range fake.events {
		resp, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		got, ok := agentserver.ToEvent(resp.GetEvent())
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("%s (-happened +understood):\n%s", want.Payload.Type(), diff)
		}
	}
	if e, ok := agentserver.ToEvent(&agentdv1.RunEvent{Seq: 1}); ok {
		t.Errorf("an unknown event is %+v", e)
	}
}

// Conversion loses nothing: a client reads the same summary that the server sent, and the server
// reads the same decisions that a client sent.
func TestRunsAreUnderstood(t *testing.T) {
	run := agent.Run{
		ID: "r", Prompt: "p", Model: "m", StartTime: moment, UpdateTime: moment, LastSeq: 4, Turns: 1, Calls: 2, Cost: 3, Waiting: true,
		Usage: tool.Usage{InputTokens: 1}, Parent: &loop.Parent{RunID: "q"},
		Pending: []loop.Pending{{
			DecisionRequested: loop.DecisionRequested{ID: "d1", Kind: loop.DecideOutcome, CallID: "c", Tool: "rm", Reason: "?", Expiry: time.Hour},
			RunID:             "child", Arguments: "{}", Requested: moment, Expires: moment.Add(time.Hour),
		}},
	}
	fake := &fakeAgent{run: run}
	_, conn := dial(t, fake)
	client := agentdv1.NewAgentServiceClient(conn)
	resp, err := client.GetRun(t.Context(), &agentdv1.GetRunRequest{RunId: "r"})
	if diff := cmp.Diff(run, agentserver.ToRun(resp.GetRun())); err != nil || diff != "" {
		t.Errorf("%v (-is +understood):\n%s", err, diff)
	}
	if newer := agentserver.ToRun(&agentdv1.Run{State: agentdv1.RunState_RUN_STATE_FINISHED, StopReason: 99}); !newer.Finished() {
		t.Error("a run that ended for an unknown reason is at work")
	}
	made := []loop.DecisionMade{
		{ID: "d1", Verdict: loop.VerdictApprove, Arguments: json.RawMessage(`{}`), Text: "fine"},
		{ID: "d2", Verdict: loop.VerdictReject, Text: "no"}, {ID: "d3", Verdict: loop.VerdictAnswer, Text: "blue"},
	}
	req := &agentdv1.RespondRequest{RunId: "r"}
	for _, d := range made {
		m, err := agentserver.FromDecision(d)
		if err != nil {
			t.Fatal(err)
		}
		req.Decisions = append(req.Decisions, m)
	}
	if _, err := client.Respond(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	for i := range made {
		made[i].Principal = authn.UserName(os.Getuid())
	}
	if diff := cmp.Diff(made, fake.made); diff != "" {
		t.Errorf("decisions (-made +heard):\n%s", diff)
	}
	if _, err := agentserver.FromDecision(loop.DecisionMade{ID: "d1", Verdict: loop.VerdictExpired}); err == nil {
		t.Error("somebody decided that nobody decides")
	}
}

// A task has the same content at the server as at the client.
func TestTasksAreUnderstood(t *testing.T) {
	no, cost := false, 0.5
	tasks := []loop.Task{
		{RunID: "r"},
		{RunID: "r", SubRuns: -1, SystemTools: []string{}, ExplicitCompletion: new(false)},
		{
			Prompt: "p", RunID: "r", SystemPrompt: "s", Session: "x", Agent: "k", Model: "m", Sampling: model.Sampling{Temperature: new(0.5), TopP: new(0.9), Effort: model.EffortHigh}, Traceparent: "00-t",
			Tools: loop.ToolChoice{
				Names: []string{"a"}, Categories: []string{"b"}, Tags: []string{"c"}, Plugins: []string{"d"}, Excluded: []string{"e"}, Dangerous: &no, MaxCostPerUse: &cost, MaxTools: 3,
			},
			Limits: loop.Limits{
				MaxTurns: 1, MaxCalls: 2, MaxResponseTokens: 3, MaxTokens: 4, MaxCost: 5, MaxWallTime: 6, MaxOutput: 7, MaxFailures: 8, MaxTimeouts: 9, MaxRepeats: 10,
			},
			People: &loop.People{Attended: true, Expiry: time.Hour, AskOutcome: true}, Context: map[string]json.RawMessage{"k": json.RawMessage("1")},
			SystemTools: []string{"new_task"}, ExplicitCompletion: new(true), Window: loop.Window{Tokens: 1, ClearAt: .2, SummarizeAt: .3, Keep: 4}, SubRuns: 2,
		},
	}
	fake := &fakeAgent{}
	_, conn := dial(t, fake)
	for _, want := range tasks {
		if _, err := agentdv1.NewAgentServiceClient(conn).StartRun(t.Context(), agentserver.FromTask(want)); err != nil {
			t.Fatal(err)
		}
		want.Principal = authn.UserName(os.Getuid())
		if diff := cmp.Diff(want, fake.task); diff != "" {
			t.Errorf("task (-wanted +heard):\n%s", diff)
		}
	}
}
