package agent_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/agent"
	"github.com/toolhost/toolhost/internal/model"
	"github.com/toolhost/toolhost/tool"
)

// TestDecisions: what the model reads, and what is sent, after each verdict on each kind of decision.
func TestDecisions(t *testing.T) {
	for name, test := range map[string]struct {
		ask     tool.Kind // what the call ends with
		verdict agent.DecisionMade
		sent    string // the id of the next attempt; empty: there is none
		read    string // what the model then reads, at the beginning
	}{
		"approve":         {tool.KindApprovalRequired, agent.DecisionMade{Verdict: agent.VerdictApprove}, "r.t1.c0.a2", "fine"},
		"edit":            {tool.KindApprovalRequired, agent.DecisionMade{Verdict: agent.VerdictApprove, Arguments: []byte(`{"n":1}`)}, "r.t1.c0.a2", `[edited] A person approved this call with other arguments than yours. It was made with: {"n":1}` + "\nfine"},
		"reject":          {tool.KindApprovalRequired, agent.DecisionMade{Verdict: agent.VerdictReject}, "", "[rejected] A person did not allow this call, so it was not made. Do not"},
		"reject, because": {tool.KindApprovalRequired, agent.DecisionMade{Verdict: agent.VerdictReject, By: "ann", Text: "too risky"}, "", "[rejected] ann did not allow this call, so it was not made: too risky. Do not"},
		"expire":          {tool.KindApprovalRequired, agent.DecisionMade{Verdict: agent.VerdictExpired}, "", "[rejected] Nobody approved this call within 1h0m0s"},
		"once more":       {tool.KindOutcomeUnknown, agent.DecisionMade{Verdict: agent.VerdictApprove}, "r.t1.c0.a2", "fine"},
		"told":            {tool.KindOutcomeUnknown, agent.DecisionMade{Verdict: agent.VerdictAnswer, By: "ann", Text: "it is there"}, "", "[outcome] How this call ended was not known; ann looked and says: it is there"},
		"left":            {tool.KindOutcomeUnknown, agent.DecisionMade{Verdict: agent.VerdictReject, Text: "no idea"}, "", "[outcome_unknown]\nA person was asked and did not decide otherwise: no idea."},
		"left alone":      {tool.KindOutcomeUnknown, agent.DecisionMade{Verdict: agent.VerdictExpired}, "", "[outcome_unknown]\nA person was asked"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFolderOf(t, attended())
			f.respond(model.StopToolUse, call("a", "echo"))
			f.failed("r.t1.c0", test.ask)
			if len(f.running()) > 0 || len(f.wanted()) != 1 {
				t.Fatalf("running %q, wanted %q", f.running(), f.wanted())
			}
			test.verdict.ID = "d1"
			at := f.now
			f.add(&test.verdict)
			if test.sent != "" {
				c := agent.Next(&f.state)[0].(agent.CallTool).Call
				want := &tool.Approval{ApprovedBy: "a person", Time: at}
				if test.ask == tool.KindApprovalRequired { // by a toolhost that does not say what it would execute
					want.Arguments = json.RawMessage(c.Arguments)
				}
				if diff := cmp.Diff(want, c.Approval); diff != "" || c.SentID() != test.sent {
					t.Errorf("sent as %s, approval (-want +got):\n%s", c.SentID(), diff)
				}
				if edited := string(test.verdict.Arguments); edited != "" && c.Arguments != edited {
					t.Errorf("sent with %s", c.Arguments)
				}
				f.result("r.t1.c0", "fine")
			}
			if got := f.read()[0]; !strings.HasPrefix(got, test.read) {
				t.Errorf("the model reads %q", got)
			}
		})
	}
}

func TestSeveralDecisions(t *testing.T) {
	f := newFolderOf(t, attended())
	ask := call("q", agent.SystemAskUser)
	ask.ToolCall.Arguments = `{"question":"which one?","options":["a","b"]}`
	f.respond(model.StopToolUse, call("a", "echo"), ask, call("b", "echo"), call("c", "echo"))
	f.failed("r.t1.c2", tool.KindApprovalRequired)
	f.failed("r.t1.c0", tool.KindApprovalRequired)
	want := []agent.Pending{
		{DecisionRequested: agent.DecisionRequested{ID: "d1", Kind: agent.DecideQuestion, CallID: "r.t1.c1", Tool: "ask_user", Reason: "which one?", Options: []string{"a", "b"}, Expiry: time.Hour}, Arguments: ask.ToolCall.Arguments},
		{DecisionRequested: agent.DecisionRequested{ID: "d2", Kind: agent.DecideApproval, CallID: "r.t1.c2", Tool: "echo", Reason: "it is approval_required", Rule: "rule", Expiry: time.Hour}, Arguments: "{}"},
		{DecisionRequested: agent.DecisionRequested{ID: "d3", Kind: agent.DecideApproval, CallID: "r.t1.c0", Tool: "echo", Reason: "it is approval_required", Rule: "rule", Expiry: time.Hour}, Arguments: "{}"},
	}
	got := f.state.Pending()
	for i := range got {
		if got[i].Expires.Sub(got[i].Requested) != time.Hour {
			t.Errorf("%s expires %s after %s", got[i].ID, got[i].Expires, got[i].Requested)
		}
		got[i].Requested, got[i].Expires = time.Time{}, time.Time{}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pending (-want +got):\n%s", diff)
	}
	f.add(&agent.DecisionMade{ID: "d3", Verdict: agent.VerdictApprove})
	f.add(&agent.DecisionMade{ID: "d1", Verdict: agent.VerdictAnswer, Text: "the third"})
	if diff := cmp.Diff([]string{"r.t1.c0", "r.t1.c3"}, f.running()); diff != "" {
		t.Errorf("running (-want +got):\n%s", diff)
	}
	f.result("r.t1.c0", "one")
	f.result("r.t1.c3", "four")
	f.add(&agent.DecisionMade{ID: "d2", Verdict: agent.VerdictReject})
	if got := f.read(); got[0] != "one" || got[1] != "the third" || !strings.HasPrefix(got[2], "[rejected]") || got[3] != "four" {
		t.Errorf("the model reads %q", got)
	}
}

// TestNobodyToAsk: a headless run is told no at once, in words.
func TestNobodyToAsk(t *testing.T) {
	started := attended()
	started.People = agent.People{}
	f := newFolderOf(t, started)
	ask := call("q", agent.SystemAskUser)
	f.respond(model.StopToolUse, call("a", "echo"), ask, call("b", "echo"))
	f.failed("r.t1.c0", tool.KindApprovalRequired)
	f.failed("r.t1.c2", tool.KindOutcomeUnknown)
	got := f.read()
	// ask_user was not offered: nobody is there to answer.
	if got[0] != "[approval_required]" || !strings.HasPrefix(got[1], "[not_found]") || got[2] != "[outcome_unknown]" {
		t.Errorf("the model reads %q", got)
	}
}

func TestOutcomesAreTheModelsUnlessSomebodyWantsToBeAsked(t *testing.T) {
	started := attended()
	started.People.AskOutcome = false
	f := newFolderOf(t, started)
	f.respond(model.StopToolUse, call("a", "echo"))
	f.failed("r.t1.c0", tool.KindOutcomeUnknown)
	if got := f.read(); got[0] != "[outcome_unknown]" {
		t.Errorf("the model reads %q", got)
	}
}

// TestApprovalThatIsNotEnough: a person is not asked the same again and again.
func TestApprovalThatIsNotEnough(t *testing.T) {
	f := newFolderOf(t, attended())
	f.respond(model.StopToolUse, call("a", "echo"))
	f.failed("r.t1.c0", tool.KindApprovalRequired)
	f.add(&agent.DecisionMade{ID: "d1", Verdict: agent.VerdictApprove})
	f.failed("r.t1.c0", tool.KindApprovalRequired)
	if got := f.read(); got[0] != "[approval_required]" {
		t.Errorf("the model reads %q", got)
	}
}

// TestAttempts: each attempt has an id of its own, also the third.
func TestAttempts(t *testing.T) {
	f := newFolderOf(t, attended())
	f.respond(model.StopToolUse, call("a", "echo"))
	f.failed("r.t1.c0", tool.KindApprovalRequired)
	f.add(&agent.DecisionMade{ID: "d1", Verdict: agent.VerdictApprove})
	f.failed("r.t1.c0", tool.KindOutcomeUnknown)
	f.add(&agent.DecisionMade{ID: "d2", Verdict: agent.VerdictApprove})
	c := agent.Next(&f.state)[0].(agent.CallTool).Call
	if c.SentID() != "r.t1.c0.a3" || c.ID != "r.t1.c0" || c.Approval == nil {
		t.Errorf("sent as %s of %s with %v", c.SentID(), c.ID, c.Approval)
	}
}

// TestWaitingHoldsASerialBatch: a call that waits for a person keeps its place before those after it.
func TestWaitingHoldsASerialBatch(t *testing.T) {
	f := newFolderOf(t, attended())
	f.respond(model.StopToolUse, call("a", "serial"), call("b", "echo"))
	f.failed("r.t1.c0", tool.KindApprovalRequired)
	if len(f.running()) > 0 {
		t.Errorf("running: %q", f.running())
	}
	f.add(&agent.DecisionMade{ID: "d1", Verdict: agent.VerdictReject})
	if diff := cmp.Diff([]string{"r.t1.c1"}, f.running()); diff != "" {
		t.Errorf("running (-want +got):\n%s", diff)
	}
}

func TestCancelWhilePeopleAreAsked(t *testing.T) {
	f := newFolderOf(t, attended())
	f.respond(model.StopToolUse, call("a", "echo"), call("b", "echo"), call("c", "echo"))
	f.failed("r.t1.c0", tool.KindApprovalRequired)
	f.failed("r.t1.c1", tool.KindOutcomeUnknown)
	f.result("r.t1.c2", "kept")
	f.add(&agent.CancelRequested{Reason: "enough"})
	end := f.state.Finished()
	if end == nil || end.StopReason != agent.StopCancelled || len(f.wanted()) > 0 {
		t.Fatalf("ended with %+v, wanted %q", end, f.wanted())
	}
	f.add(&agent.UserMessage{Text: "go on"})
	got := f.read()
	if !strings.HasPrefix(got[0], "[cancelled]") || got[1] != "[outcome_unknown]" || got[2] != "kept" {
		t.Errorf("the model reads %q", got)
	}
}

// TestNobodyIsAskedForACancelledRun: what comes in after the request to stop is a result.
func TestNobodyIsAskedForACancelledRun(t *testing.T) {
	f := newFolderOf(t, attended())
	f.respond(model.StopToolUse, call("a", "echo"), call("b", "echo"))
	f.add(&agent.CancelRequested{})
	f.failed("r.t1.c0", tool.KindApprovalRequired)
	f.failed("r.t1.c1", tool.KindOutcomeUnknown)
	if end := f.state.Finished(); end == nil || end.StopReason != agent.StopCancelled || len(kept[*agent.DecisionRequested](f)) > 0 {
		t.Errorf("ended with %+v, asked %v", end, f.wanted())
	}
}

func TestDecisionsThatDoNotFit(t *testing.T) {
	f := newFolderOf(t, attended())
	ask := call("q", agent.SystemAskUser)
	ask.ToolCall.Arguments = `{"question":"well?"}`
	f.respond(model.StopToolUse, call("a", "echo"), ask, call("b", "echo"))
	f.failed("r.t1.c0", tool.KindApprovalRequired)
	f.failed("r.t1.c2", tool.KindOutcomeUnknown)
	for want, d := range map[string]agent.DecisionMade{
		`decision "d9" is not wanted`:          {ID: "d9", Verdict: agent.VerdictApprove},
		"takes [answer reject], not":           {ID: "d1", Verdict: agent.VerdictApprove},
		"answer to decision d1 is empty":       {ID: "d1", Verdict: agent.VerdictAnswer},
		"takes [approve reject], not":          {ID: "d2", Verdict: agent.VerdictAnswer, Text: "x"},
		"takes no arguments":                   {ID: "d2", Verdict: agent.VerdictReject, Arguments: []byte("{}")},
		"decision d2 are no JSON object":       {ID: "d2", Verdict: agent.VerdictApprove, Arguments: []byte("null")},
		"d3 takes no arguments with":           {ID: "d3", Verdict: agent.VerdictApprove, Arguments: []byte("{}")},
		`takes [approve reject answer], not "`: {ID: "d3", Verdict: "shrug"},
	} {
		if err := f.state.Check(&d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestExpiry(t *testing.T) {
	f := newFolderOf(t, attended())
	f.respond(model.StopToolUse, call("a", "echo"))
	f.failed("r.t1.c0", tool.KindApprovalRequired)
	next := agent.Next(&f.state)
	wait, ok := next[0].(agent.Wait)
	if !ok || len(next) != 1 {
		t.Fatalf("next is %v", next)
	}
	if due := f.state.Due(wait.Until.Add(-1)); len(due) > 0 {
		t.Errorf("too early: %v", due)
	}
	due := f.state.Due(wait.Until)
	if diff := cmp.Diff([]agent.Payload{&agent.DecisionMade{ID: "d1", Verdict: agent.VerdictExpired}}, due); diff != "" {
		t.Errorf("due (-want +got):\n%s", diff)
	}
}
