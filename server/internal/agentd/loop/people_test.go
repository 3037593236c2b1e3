package loop_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// What the model reads, and what is sent, after each verdict on each kind of decision.
func TestDecisions(t *testing.T) {
	for name, test := range map[string]struct {
		ask     tool.Kind // the failure of the call
		verdict loop.DecisionMade
		sent    string // the id of the next attempt; empty: no attempt
		read    string // the beginning of what the model reads
	}{
		"approve":         {tool.KindApprovalRequired, loop.DecisionMade{Verdict: loop.VerdictApprove}, "r.t1.c0.a2", "fine"},
		"edit":            {tool.KindApprovalRequired, loop.DecisionMade{Verdict: loop.VerdictApprove, Arguments: []byte(`{"n":1}`)}, "r.t1.c0.a2", `[edited] A person approved this call with other arguments than yours. It was made with: {"n":1}` + "\nfine"},
		"reject":          {tool.KindApprovalRequired, loop.DecisionMade{Verdict: loop.VerdictReject}, "", "[rejected] A person did not allow this call, so it was not made. Do not"},
		"reject, because": {tool.KindApprovalRequired, loop.DecisionMade{Verdict: loop.VerdictReject, By: "ann", Text: "too risky"}, "", "[rejected] ann did not allow this call, so it was not made: too risky. Do not"},
		"expire":          {tool.KindApprovalRequired, loop.DecisionMade{Verdict: loop.VerdictExpired}, "", "[rejected] Nobody approved this call within 1h0m0s"},
		"once more":       {tool.KindOutcomeUnknown, loop.DecisionMade{Verdict: loop.VerdictApprove}, "r.t1.c0.a2", "fine"},
		"told":            {tool.KindOutcomeUnknown, loop.DecisionMade{Verdict: loop.VerdictAnswer, By: "ann", Text: "it is there"}, "", "[outcome] How this call ended was not known; ann looked and says: it is there"},
		"left":            {tool.KindOutcomeUnknown, loop.DecisionMade{Verdict: loop.VerdictReject, Text: "no idea"}, "", "[outcome_unknown]\nA person was asked and did not decide otherwise: no idea."},
		"left alone":      {tool.KindOutcomeUnknown, loop.DecisionMade{Verdict: loop.VerdictExpired}, "", "[outcome_unknown]\nA person was asked"},
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
				c := loop.Next(&f.state)[0].(loop.CallTool).Call
				want := &tool.Approval{ApprovedBy: "a person", Time: at}
				if test.ask == tool.KindApprovalRequired { // toolhost reports no final arguments
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
	ask := call("q", loop.SystemAskUser)
	ask.ToolCall.Arguments = `{"question":"which one?","options":["a","b"]}`
	f.respond(model.StopToolUse, call("a", "echo"), ask, call("b", "echo"), call("c", "echo"))
	f.failed("r.t1.c2", tool.KindApprovalRequired)
	f.failed("r.t1.c0", tool.KindApprovalRequired)
	want := []loop.Pending{
		{DecisionRequested: loop.DecisionRequested{ID: "d1", Kind: loop.DecideQuestion, CallID: "r.t1.c1", Tool: "ask_user", Reason: "which one?", Options: []string{"a", "b"}, Expiry: time.Hour}, Arguments: ask.ToolCall.Arguments},
		{DecisionRequested: loop.DecisionRequested{ID: "d2", Kind: loop.DecideApproval, CallID: "r.t1.c2", Tool: "echo", Reason: "it is approval_required", Rule: "rule", Expiry: time.Hour}, Arguments: "{}"},
		{DecisionRequested: loop.DecisionRequested{ID: "d3", Kind: loop.DecideApproval, CallID: "r.t1.c0", Tool: "echo", Reason: "it is approval_required", Rule: "rule", Expiry: time.Hour}, Arguments: "{}"},
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
	f.add(&loop.DecisionMade{ID: "d3", Verdict: loop.VerdictApprove})
	f.add(&loop.DecisionMade{ID: "d1", Verdict: loop.VerdictAnswer, Text: "the third"})
	if diff := cmp.Diff([]string{"r.t1.c0", "r.t1.c3"}, f.running()); diff != "" {
		t.Errorf("running (-want +got):\n%s", diff)
	}
	f.result("r.t1.c0", "one")
	f.result("r.t1.c3", "four")
	f.add(&loop.DecisionMade{ID: "d2", Verdict: loop.VerdictReject})
	if got := f.read(); got[0] != "one" || got[1] != "the third" || !strings.HasPrefix(got[2], "[rejected]") || got[3] != "four" {
		t.Errorf("the model reads %q", got)
	}
}

// In a headless run everything that needs a person is refused at once, with a message.
func TestNoPersonToAsk(t *testing.T) {
	started := attended()
	started.People = loop.People{}
	f := newFolderOf(t, started)
	ask := call("q", loop.SystemAskUser)
	f.respond(model.StopToolUse, call("a", "echo"), ask, call("b", "echo"))
	f.failed("r.t1.c0", tool.KindApprovalRequired)
	f.failed("r.t1.c2", tool.KindOutcomeUnknown)
	got := f.read()
	// ask_user is not offered, because no person can answer.
	if got[0] != "[approval_required]" || !strings.HasPrefix(got[1], "[not_found]") || got[2] != "[outcome_unknown]" {
		t.Errorf("the model reads %q", got)
	}
}

func TestUnknownOutcomesGoToTheModelByDefault(t *testing.T) {
	started := attended()
	started.People.AskOutcome = false
	f := newFolderOf(t, started)
	f.respond(model.StopToolUse, call("a", "echo"))
	f.failed("r.t1.c0", tool.KindOutcomeUnknown)
	if got := f.read(); got[0] != "[outcome_unknown]" {
		t.Errorf("the model reads %q", got)
	}
}

// A person is not asked repeatedly about the same call.
func TestApprovalThatIsNotEnough(t *testing.T) {
	f := newFolderOf(t, attended())
	f.respond(model.StopToolUse, call("a", "echo"))
	f.failed("r.t1.c0", tool.KindApprovalRequired)
	f.add(&loop.DecisionMade{ID: "d1", Verdict: loop.VerdictApprove})
	f.failed("r.t1.c0", tool.KindApprovalRequired)
	if got := f.read(); got[0] != "[approval_required]" {
		t.Errorf("the model reads %q", got)
	}
}

// Each attempt has its own id.
func TestAttempts(t *testing.T) {
	f := newFolderOf(t, attended())
	f.respond(model.StopToolUse, call("a", "echo"))
	f.failed("r.t1.c0", tool.KindApprovalRequired)
	f.add(&loop.DecisionMade{ID: "d1", Verdict: loop.VerdictApprove})
	f.failed("r.t1.c0", tool.KindOutcomeUnknown)
	f.add(&loop.DecisionMade{ID: "d2", Verdict: loop.VerdictApprove})
	c := loop.Next(&f.state)[0].(loop.CallTool).Call
	if c.SentID() != "r.t1.c0.a3" || c.ID != "r.t1.c0" || c.Approval == nil {
		t.Errorf("sent as %s of %s with %v", c.SentID(), c.ID, c.Approval)
	}
}

// A call that waits for a person stays before the later calls of a serial batch.
func TestWaitingHoldsASerialBatch(t *testing.T) {
	f := newFolderOf(t, attended())
	f.respond(model.StopToolUse, call("a", "serial"), call("b", "echo"))
	f.failed("r.t1.c0", tool.KindApprovalRequired)
	if len(f.running()) > 0 {
		t.Errorf("running: %q", f.running())
	}
	f.add(&loop.DecisionMade{ID: "d1", Verdict: loop.VerdictReject})
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
	f.add(&loop.CancelRequested{Reason: "enough"})
	end := f.state.Finished()
	if end == nil || end.StopReason != loop.StopCancelled || len(f.wanted()) > 0 {
		t.Fatalf("ended with %+v, wanted %q", end, f.wanted())
	}
	f.add(&loop.UserMessage{Text: "go on"})
	got := f.read()
	if !strings.HasPrefix(got[0], "[cancelled]") || got[1] != "[outcome_unknown]" || got[2] != "kept" {
		t.Errorf("the model reads %q", got)
	}
}

// After a cancel, a call that needs a person ends with a result instead.
func TestCancelledRunAsksNoPerson(t *testing.T) {
	f := newFolderOf(t, attended())
	f.respond(model.StopToolUse, call("a", "echo"), call("b", "echo"))
	f.add(&loop.CancelRequested{})
	f.failed("r.t1.c0", tool.KindApprovalRequired)
	f.failed("r.t1.c1", tool.KindOutcomeUnknown)
	if end := f.state.Finished(); end == nil || end.StopReason != loop.StopCancelled || len(kept[*loop.DecisionRequested](f)) > 0 {
		t.Errorf("ended with %+v, asked %v", end, f.wanted())
	}
}

func TestDecisionsThatDoNotFit(t *testing.T) {
	f := newFolderOf(t, attended())
	ask := call("q", loop.SystemAskUser)
	ask.ToolCall.Arguments = `{"question":"well?"}`
	f.respond(model.StopToolUse, call("a", "echo"), ask, call("b", "echo"))
	f.failed("r.t1.c0", tool.KindApprovalRequired)
	f.failed("r.t1.c2", tool.KindOutcomeUnknown)
	for want, d := range map[string]loop.DecisionMade{
		`decision "d9" is not wanted`:          {ID: "d9", Verdict: loop.VerdictApprove},
		"takes [answer reject], not":           {ID: "d1", Verdict: loop.VerdictApprove},
		"answer to decision d1 is empty":       {ID: "d1", Verdict: loop.VerdictAnswer},
		"takes [approve reject], not":          {ID: "d2", Verdict: loop.VerdictAnswer, Text: "x"},
		"takes no arguments":                   {ID: "d2", Verdict: loop.VerdictReject, Arguments: []byte("{}")},
		"decision d2 are no JSON object":       {ID: "d2", Verdict: loop.VerdictApprove, Arguments: []byte("null")},
		"d3 takes no arguments with":           {ID: "d3", Verdict: loop.VerdictApprove, Arguments: []byte("{}")},
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
	next := loop.Next(&f.state)
	wait, ok := next[0].(loop.Wait)
	if !ok || len(next) != 1 {
		t.Fatalf("next is %v", next)
	}
	if due := f.state.Due(wait.Until.Add(-1)); len(due) > 0 {
		t.Errorf("too early: %v", due)
	}
	due := f.state.Due(wait.Until)
	if diff := cmp.Diff([]loop.Payload{&loop.DecisionMade{ID: "d1", Verdict: loop.VerdictExpired}}, due); diff != "" {
		t.Errorf("due (-want +got):\n%s", diff)
	}
}

// A call that is made again after its outcome was unknown supersedes all attempts of which that is
// true, and not the ones that were refused.
func TestRepeatedCallsSupersede(t *testing.T) {
	f := newFolderOf(t, attended())
	f.respond(model.StopToolUse, call("a", "echo"))
	decide := func(id string) { f.add(&loop.DecisionMade{ID: id, Verdict: loop.VerdictApprove}) }
	for _, step := range []struct {
		ends func()
		want []string
	}{
		{func() { f.asks("r.t1.c0", `{"amount":1}`) }, nil},
		{func() { f.failed("r.t1.c0", tool.KindOutcomeUnknown) }, []string{"r.t1.c0.a2"}},
		{func() { f.asks("r.t1.c0", `{"amount":2}`) }, []string{"r.t1.c0.a2"}},
		{func() { f.failed("r.t1.c0", tool.KindOutcomeUnknown) }, []string{"r.t1.c0.a2", "r.t1.c0.a4"}},
	} {
		step.ends()
		decide(f.state.Pending()[0].ID)
		if c := f.sent(); !slices.Equal(c.Supersedes, step.want) {
			t.Errorf("%s supersedes %q, want %q", c.SentID(), c.Supersedes, step.want)
		}
	}
}
