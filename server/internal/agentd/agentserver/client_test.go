package agentserver_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/client"
	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/agentserver"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// Events have the same content at a client as at the server, and the same names.
func TestEventsRoundTrip(t *testing.T) {
	usage := tool.Usage{InputTokens: 1, OutputTokens: 2}
	schema := json.RawMessage(`{"type":"object"}`)
	offer := client.StandingChoice{Scope: tool.ScopeSession, Patterns: []tool.ArgumentPattern{{Argument: "a", Any: true}}, Expires: moment}
	pairs := []struct {
		happened loop.Payload
		told     client.RunPayload
	}{
		{&loop.RunStarted{
			Memory: []loop.Memory{{Name: "RULES.md", ToldSize: 7}, {Name: "AGENTS.md", Workspace: true, Problem: "is a pipe"}}, RunID: "r", Prompt: "p", Model: "m", Session: "s", Agent: "k",
			Sampling: model.Sampling{Effort: model.EffortLow}, Fallbacks: []loop.RunModel{{Model: "openai:f"}}, Traceparent: "00-t", Parent: &loop.Parent{RunID: "q", CallID: "q.t1.c0"},
		}, &client.RunStarted{
			MemoryFiles: []client.MemoryFileInfo{{Name: "RULES.md", Size: 7}, {Name: "AGENTS.md", Workspace: true, Problem: "is a pipe"}}, RunID: "r", Prompt: "p", Model: "m", Session: "s", Agent: "k",
			Sampling: client.Sampling{Effort: "low"}, Fallbacks: []string{"openai:f"}, Traceparent: "00-t", ParentRunID: "q", ParentCallID: "q.t1.c0",
		}},
		{
			&loop.UserMessage{Text: "more", Attachments: []loop.Attachment{{Attachment: model.Attachment{Name: "a.png", MIMEType: "image/png", Size: 9, SHA256: "0f"}, Artifact: "h"}}},
			&client.UserMessage{Text: "more", Attachments: []client.AttachmentInfo{{Name: "a.png", MIMEType: "image/png", Size: 9, SHA256: "0f", Artifact: "h"}}},
		},
		{&loop.AssistantMessage{
			Message: model.Message{Role: model.RoleAssistant, Blocks: []model.Block{{Text: &model.Text{Text: "look"}}}}, StopReason: model.StopToolUse,
			Calls: []loop.Call{{ID: "r.t1.c0", Tool: "echo", Arguments: "{bad"}}, Usage: usage, Wasted: usage, Cost: 3,
		}, &client.AssistantMessage{
			Text: "look", StopReason: "tool_use", Calls: []client.ToolCall{{CallID: "r.t1.c0", Tool: "echo", Arguments: []byte("{bad")}}, Usage: usage, WastedUsage: usage, Cost: 3,
		}},
		{&loop.CallStarted{CallID: "c", Tool: "echo", Attempt: 2, Traceparent: "00-u", Ledger: "0a1b"}, &client.CallStarted{CallID: "c", Tool: "echo", Attempt: 2, Traceparent: "00-u", LedgerID: "0a1b"}},
		{
			&loop.CallResult{CallID: "c", Tool: "echo", Result: tool.TextResult("hi"), Answer: "hi, all of it", Plugin: "p", Instance: "p-1", Settled: &tool.Settlement{Verdict: tool.VerdictHappened, Reason: "in the log"}},
			&client.CallResult{CallID: "c", Tool: "echo", Result: tool.TextResult("hi"), Answer: "hi, all of it", Plugin: "p", Instance: "p-1", Settled: &tool.Settlement{Verdict: tool.VerdictHappened, Reason: "in the log"}},
		},
		{
			&loop.CallResult{CallID: "c", Tool: "echo", Result: tool.ErrorResult("[crashed] gone"), Failure: &loop.Failure{Kind: tool.KindCrashed, Message: "gone", RetryAfterMS: 1500, Plugin: "p", Rule: "no", Exit: &tool.Exit{Code: 2}}},
			&client.CallResult{CallID: "c", Tool: "echo", Result: tool.ErrorResult("[crashed] gone"), Err: &tool.Error{Kind: tool.KindCrashed, Message: "gone", RetryAfter: 1500 * time.Millisecond, CallID: "c", Plugin: "p", Rule: "no", Exit: &tool.Exit{Code: 2}}},
		},
		{&loop.CancelRequested{Reason: "late", Stop: loop.StopWallTime}, &client.CancelRequested{Reason: "late", StopReason: "wall_time"}},
		{
			&loop.DecisionRequested{ID: "d1", Kind: loop.DecideApproval, CallID: "c", Tool: "rm", Reason: "it deletes", Options: []string{"a"}, Rule: "ask", Expiry: time.Hour, Final: []byte("{}"), Schema: schema, Diff: "+a", Offers: []loop.Standing{loop.Standing(offer)}},
			&client.DecisionRequested{Decision: client.PendingDecision{
				ID: "d1", Kind: client.DecideApproval, CallID: "c", Tool: "rm", Reason: "it deletes", Options: []string{"a"}, Rule: "ask", Arguments: []byte("{}"), Schema: schema, Diff: "+a", StandingOffers: []client.StandingChoice{offer},
				Requested: moment, Expires: moment.Add(time.Hour),
			}},
		},
		{
			&loop.DecisionRequested{ID: "d2", Kind: loop.DecideTool, Reason: "which?", Question: &loop.ToolQuestion{Plugin: "p", Schema: schema}},
			&client.DecisionRequested{Decision: client.PendingDecision{ID: "d2", Kind: client.DecideTool, Reason: "which?", Plugin: "p", Schema: schema, Requested: moment}},
		},
		{
			&loop.DecisionMade{ID: "d1", Verdict: loop.VerdictApprove, Arguments: json.RawMessage(`{}`), Text: "fine", By: "ann", Principal: "uid:7", Standing: new(loop.Standing(offer))},
			&client.DecisionMade{ID: "d1", Verdict: client.Approve, Arguments: json.RawMessage(`{}`), Text: "fine", DecidedBy: "ann", Principal: "uid:7", Standing: &offer},
		},
		{&loop.DecisionMade{ID: "d1", Verdict: loop.VerdictExpired}, &client.DecisionMade{ID: "d1", Verdict: client.Expired}},
		{&loop.BudgetWarning{Budget: loop.BudgetCost, Used: 1, Limit: 2}, &client.BudgetWarning{Budget: "cost", Used: 1, Limit: 2}},
		{&loop.ContextChange{Keys: []string{"a"}, Refused: map[string]string{"run": "no"}}, &client.ContextChange{Keys: []string{"a"}, Refused: map[string]string{"run": "no"}}},
		{&loop.TodoChange{Todos: json.RawMessage(`["x"]`)}, &client.TodoChange{Todos: json.RawMessage(`["x"]`)}},
		{&loop.SubRunStarted{CallID: "c", RunID: "child", Prompt: "do", Agent: "k"}, &client.SubRunStarted{CallID: "c", RunID: "child", Prompt: "do", Agent: "k"}},
		{&loop.SubRunWaiting{CallID: "c", RunID: "child", Decisions: []string{"child/d1"}}, &client.SubRunWaiting{CallID: "c", RunID: "child", DecisionIDs: []string{"child/d1"}}},
		{&loop.ModelReplied{CallID: "c", Tool: "t", Plugin: "p", Usage: usage, Failure: &loop.Failure{Kind: tool.KindDenied, Message: "no"}}, &client.ModelReplied{CallID: "c", Tool: "t", Plugin: "p", Usage: usage, Err: &tool.Error{Kind: tool.KindDenied, Message: "no", CallID: "c"}}},
		{&loop.StandingApproved{DecisionID: "d", CallID: "c", Tool: "t", ApprovalID: "a", Approver: "uid:7", Expires: moment}, &client.StandingApproved{DecisionID: "d", CallID: "c", Tool: "t", ApprovalID: "a", Approver: "uid:7", Expires: moment}},
		{&loop.StandingApproved{DecisionID: "d", CallID: "c", Tool: "t", Failure: &loop.Failure{Kind: tool.KindConflict, Message: "no"}}, &client.StandingApproved{DecisionID: "d", CallID: "c", Tool: "t", Err: &tool.Error{Kind: tool.KindConflict, Message: "no", CallID: "c"}}},
		{&loop.DecisionExtended{ID: "d1", Expires: moment, Principal: "uid:7"}, &client.DecisionExtended{ID: "d1", Expires: moment, Principal: "uid:7"}},
		{&loop.RunResumed{}, &client.RunResumed{}},
		{&loop.RunResumed{Backup: moment, Ledger: "0a1b"}, &client.RunResumed{Backup: moment}},
		{
			&loop.Compacted{Reason: "full", Cleared: []string{"", ""}, Summary: "short", Replaced: 3, Overflow: true, Failure: "down", Usage: usage, Cost: 5},
			&client.Compacted{Reason: "full", ClearedResults: 2, Summary: "short", ReplacedMessages: 3, Overflow: true, Failure: "down", Usage: usage, Cost: 5},
		},
		{&loop.TextDelta{Text: "lo"}, &client.TextDelta{Text: "lo"}},
		{&loop.ReasoningDelta{Text: "hm"}, &client.ReasoningDelta{Text: "hm"}},
		{&loop.ArgumentDelta{CallID: "c", Tool: "t", Text: "{"}, &client.ArgumentDelta{CallID: "c", Tool: "t", Text: "{"}},
		{&loop.AnswerDelta{Answer: schema}, &client.AnswerDelta{Answer: schema}},
		{&loop.CallStatus{CallID: "c", Tool: "echo", Status: tool.Status{State: tool.StatusDoing, Message: "soon"}}, &client.CallStatus{CallID: "c", Tool: "echo", Status: tool.Status{State: tool.StatusDoing, Message: "soon"}}},
		{&loop.TurnReset{Reason: "again", Attempt: 2}, &client.TurnReset{Reason: "again", Attempt: 2}},
		{&loop.RunFinished{StopReason: loop.StopNoToolCalls, Message: "m", Text: "t", Turns: 1, Calls: 2, Usage: usage, Cost: 4}, &client.RunEnded{StopReason: "no_tool_calls", Message: "m", Text: "t", Turns: 1, Calls: 2, Usage: usage, Cost: 4}},
	}
	fake := &fakeAgent{}
	var want []client.RunEvent
	for i, p := range pairs {
		fake.events = append(fake.events, loop.Event{Seq: uint64(i + 1), Time: moment, Payload: p.happened})
		want = append(want, client.RunEvent{Seq: uint64(i + 1), Time: moment, Type: string(p.happened.Type()), Payload: p.told})
	}
	var got []client.RunEvent
	for e, err := range dialClient(t, fake).WatchRun(t.Context(), "r", 0) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-happened +told):\n%s", diff)
	}
}

// A client reads the same summary that the server sent, and the server reads the same decisions
// that a client sent.
func TestRunsAreUnderstood(t *testing.T) {
	fake := &fakeAgent{run: agent.Run{
		ID: "r", Prompt: "p", Model: "m", StartTime: moment, UpdateTime: moment, LastSeq: 4, Turns: 1, Calls: 2, Cost: 3, Waiting: true, Foreground: true,
		Usage: tool.Usage{InputTokens: 1}, Parent: &loop.Parent{RunID: "q", CallID: "q.c"}, Settled: loop.Settlements{Happened: 1, Repeated: 2, Unknown: 3},
		Pending: []loop.Pending{{
			DecisionRequested: loop.DecisionRequested{ID: "d1", Kind: loop.DecideOutcome, CallID: "c", Tool: "rm", Reason: "?", Expiry: time.Hour},
			RunID:             "child", Arguments: "{}", Requested: moment, Expires: moment.Add(time.Hour),
		}},
	}}
	want := client.Run{
		ID: "r", Prompt: "p", Model: "m", Started: moment, Updated: moment, LastSeq: 4, Turns: 1, Calls: 2, Cost: 3, State: client.RunWaiting, Foreground: true,
		Usage: tool.Usage{InputTokens: 1}, ParentRunID: "q", ParentCallID: "q.c", Settlements: client.Settlements{Happened: 1, Repeated: 2, Unknown: 3},
		Pending: []client.PendingDecision{{
			ID: "d1", Kind: client.DecideOutcome, CallID: "c", Tool: "rm", Reason: "?", RunID: "child", Arguments: []byte("{}"), Requested: moment, Expires: moment.Add(time.Hour),
		}},
	}
	c := dialClient(t, fake)
	run, err := c.GetRun(t.Context(), "r")
	if diff := cmp.Diff(want, run); err != nil || diff != "" {
		t.Errorf("%v (-is +understood):\n%s", err, diff)
	}
	if _, err := c.Respond(t.Context(), "r", "ann",
		client.Decision{ID: "d1", Verdict: client.Approve, Arguments: json.RawMessage(`{}`), Text: "fine"},
		client.Decision{ID: "d2", Verdict: client.Reject, Text: "no"}, client.Decision{ID: "d3", Verdict: client.Answer, Text: "blue"},
	); err != nil {
		t.Fatal(err)
	}
	own := authn.UserName(os.Getuid())
	made := []loop.DecisionMade{
		{ID: "d1", Verdict: loop.VerdictApprove, Arguments: json.RawMessage(`{}`), Text: "fine", By: "ann", Principal: own},
		{ID: "d2", Verdict: loop.VerdictReject, Text: "no", By: "ann", Principal: own}, {ID: "d3", Verdict: loop.VerdictAnswer, Text: "blue", By: "ann", Principal: own},
	}
	for i := range made {
		made[i].Groups = []string{} // the user of the test is in none
	}
	if diff := cmp.Diff(made, fake.made); diff != "" {
		t.Errorf("decisions (-made +heard):\n%s", diff)
	}
}

// A task has the same content at the server as at the client.
func TestTasksAreUnderstood(t *testing.T) {
	cost, own := 0.5, authn.UserName(os.Getuid())
	pairs := []struct {
		sent  client.Task
		heard loop.Task
	}{
		{client.Task{RunID: "r"}, loop.Task{RunID: "r", Principal: own}},
		{
			client.Task{RunID: "r", SubRuns: new(0), SystemTools: []string{}, Completion: client.CompletionEndTurn},
			loop.Task{RunID: "r", SubRuns: -1, SystemTools: []string{}, ExplicitCompletion: new(false), Principal: own},
		},
		{client.Task{
			Prompt: "p", RunID: "r", SystemPrompt: "s", Session: "x", Agent: "k", Model: "m", Sampling: client.Sampling{Temperature: new(0.5), TopP: new(0.9), Effort: "high"}, Traceparent: "00-t",
			Tools:  client.ToolChoice{Names: []string{"a"}, Categories: []string{"b"}, Tags: []string{"c"}, Plugins: []string{"d"}, Excluded: []string{"e"}, Dangerous: new(false), MaxCostPerUse: &cost, MaxTools: 3},
			Limits: client.RunLimits{Turns: 1, Calls: 2, ResponseTokens: 3, Tokens: 4, Cost: 5, WallTime: 6, Output: 7, Failures: 8, Timeouts: 9, Repeats: 10},
			People: &client.People{Attended: true, Expiry: time.Hour, AskOutcome: true}, Context: map[string]json.RawMessage{"k": json.RawMessage("1")},
			SystemTools: []string{"new_task"}, Completion: client.CompletionExplicit, Window: client.Window{Tokens: 1, ClearAt: .2, SummarizeAt: .3, Keep: 4}, SubRuns: new(2),
			Attachments: []client.Attachment{{Name: "a.txt", MIMEType: "text/plain", Data: []byte("a")}, {Artifact: "h", Session: "x"}},
		}, loop.Task{
			Prompt: "p", RunID: "r", SystemPrompt: "s", Session: "x", Agent: "k", Model: "m", Sampling: model.Sampling{Temperature: new(0.5), TopP: new(0.9), Effort: model.EffortHigh}, Traceparent: "00-t",
			Tools:  loop.ToolChoice{Names: []string{"a"}, Categories: []string{"b"}, Tags: []string{"c"}, Plugins: []string{"d"}, Excluded: []string{"e"}, Dangerous: new(false), MaxCostPerUse: &cost, MaxTools: 3},
			Limits: loop.Limits{MaxTurns: 1, MaxCalls: 2, MaxResponseTokens: 3, MaxTokens: 4, MaxCost: 5, MaxWallTime: 6, MaxOutput: 7, MaxFailures: 8, MaxTimeouts: 9, MaxRepeats: 10},
			People: &loop.People{Attended: true, Expiry: time.Hour, AskOutcome: true}, Context: map[string]json.RawMessage{"k": json.RawMessage("1")},
			SystemTools: []string{"new_task"}, ExplicitCompletion: new(true), Window: loop.Window{Tokens: 1, ClearAt: .2, SummarizeAt: .3, Keep: 4}, SubRuns: 2,
			Attachments: []loop.NewAttachment{{Name: "a.txt", MIMEType: "text/plain", Data: []byte("a")}, {Artifact: "h", Session: "x"}}, Principal: own,
		}},
	}
	fake := &fakeAgent{}
	c := dialClient(t, fake)
	for _, p := range pairs {
		if _, err := c.StartRun(t.Context(), p.sent); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(p.heard, fake.task); diff != "" {
			t.Errorf("task (-sent +heard):\n%s", diff)
		}
	}
}

// A server in the process of its only client does not ask whose a run is. Runs that it starts
// belong to the process, and a cancellation needs no name.
func TestForeground(t *testing.T) {
	fake := &fakeAgent{owners: map[string]string{"r": "red/ada"}}
	_, conn := dialTo(t, agentserver.Config{Agent: fake, Foreground: true})
	rpc := agentdv1.NewAgentServiceClient(conn)
	if _, err := rpc.StartRun(t.Context(), &agentdv1.StartRunRequest{Prompt: "p"}); err != nil || !fake.task.Foreground {
		t.Errorf("the task is %+v, %v", fake.task, err)
	}
	if _, err := rpc.CancelRun(t.Context(), &agentdv1.CancelRunRequest{RunId: "broken", Reason: "late"}); err != nil || fake.text != "late" {
		t.Errorf("the reason is %q, %v", fake.text, err)
	}
}

// A process that serves an agent to itself is its own user there. Close ends a watch and waits for
// the server.
func TestServeLocal(t *testing.T) {
	l, err := agentserver.ServeLocal(&fakeAgent{owners: map[string]string{"r": "red/ada"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if me, err := l.WhoAmI(t.Context()); err != nil || me.Principal != authn.UserName(os.Getuid()) {
		t.Errorf("the caller is %+v, %v", me, err)
	}
	closed := make(chan error, 1)
	var last error
	for _, err := range l.WatchRun(t.Context(), "r", 2000) { // an endless run
		if last = err; err == nil {
			go func() { closed <- l.Close() }() // ends the watch; the test waits for it
		}
	}
	if err := <-closed; err != nil || last == nil {
		t.Errorf("Close: %v; the watch ended with %v", err, last)
	}
	if _, err := l.GetRun(t.Context(), "r"); err == nil {
		t.Error("a closed client answers")
	}
}
