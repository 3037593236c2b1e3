package loop_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// asks ends a call with toolhost's request to approve its final arguments.
func (f *folder) asks(id, final string) (digest string) {
	sum := sha256.Sum256([]byte(final))
	digest = hex.EncodeToString(sum[:])
	f.fails(id, &loop.Failure{Kind: tool.KindApprovalRequired, Message: "dangerous", Final: json.RawMessage(final), FinalSHA256: digest})
	return digest
}

func (f *folder) fails(id string, failure *loop.Failure) {
	f.t.Helper()
	f.add(f.state.Settle(&loop.CallResult{CallID: id, Tool: "echo", Failure: failure, Result: tool.ErrorResult("[" + string(failure.Kind) + "]")}))
}

// sent returns the call in progress.
func (f *folder) sent() loop.Call { return loop.Next(&f.state)[0].(loop.CallTool).Call }

// People decide on the final arguments, and approve exactly these. If toolhost changes them later,
// it has to ask again.
func TestFinalArguments(t *testing.T) {
	f := newFolderOf(t, attended())
	f.respond(model.StopToolUse, call("a", "echo"))
	digest := f.asks("r.t1.c0", `{"amount":100}`)
	if got := f.state.Pending()[0].Arguments; got != `{"amount":100}` {
		t.Fatalf("a person is shown %s", got)
	}
	// Sending the shown arguments back is not an edit.
	f.add(&loop.DecisionMade{ID: "d1", Verdict: loop.VerdictApprove, By: "ann", Principal: "uid:7", Arguments: []byte(`{"amount":100}`)})
	want := &tool.Approval{Approver: "uid:7", ApprovedBy: "ann", Time: f.now, ArgumentsSHA256: digest}
	c := f.sent()
	want.Time = c.Approval.Time
	if diff := cmp.Diff(want, c.Approval); diff != "" || c.Arguments != "{}" {
		t.Errorf("sent with %s, approval (-want +got):\n%s", c.Arguments, diff)
	}
	// toolhost changed the final arguments, so the run requests a new decision about them.
	f.asks("r.t1.c0", `{"amount":500}`)
	if got := f.state.Pending()[0].Arguments; got != `{"amount":500}` {
		t.Fatalf("a person is shown %s", got)
	}
	// Edited: toolhost may not change the arguments. If it does, a person decides again.
	f.add(&loop.DecisionMade{ID: "d2", Verdict: loop.VerdictApprove, Arguments: []byte(`{"amount":7}`)})
	if c := f.sent(); string(c.Approval.Arguments) != `{"amount":7}` || c.Approval.ArgumentsSHA256 != "" || c.Arguments != `{"amount":7}` {
		t.Errorf("sent with %s and %+v", c.Arguments, c.Approval)
	}
	digest = f.asks("r.t1.c0", `{"amount":70}`)
	f.add(&loop.DecisionMade{ID: "d3", Verdict: loop.VerdictApprove})
	if c := f.sent(); c.Approval.ArgumentsSHA256 != digest || c.Approval.Arguments != nil || c.Arguments != `{"amount":7}` {
		t.Errorf("sent with %s and %+v", c.Arguments, c.Approval)
	}
	// A toolhost that asks again about approved arguments gets no second decision.
	f.asks("r.t1.c0", `{"amount":70}`)
	if got := f.read(); got[0] != "[edited] A person approved this call with other arguments than yours. It was made with: {\"amount\":70}\n[approval_required]" {
		t.Errorf("the model reads %q", got)
	}
}

// Arguments that cannot be shown are never offered for approval.
func TestFinalArgumentsThatCannotBeShown(t *testing.T) {
	f := newFolderOf(t, attended())
	f.respond(model.StopToolUse, call("a", "echo"))
	f.fails("r.t1.c0", &loop.Failure{Kind: tool.KindApprovalRequired, Message: "too large", FinalSHA256: "0"})
	if got := f.read(); got[0] != "[approval_required]" {
		t.Errorf("the model reads %q", got)
	}
}

// A person who approved a call is asked again if the call would move its session, and only that
// approval names the move.
func TestApprovalOfAMove(t *testing.T) {
	f := newFolderOf(t, attended())
	f.respond(model.StopToolUse, call("a", "echo"))
	digest := f.asks("r.t1.c0", `{"amount":100}`)
	f.add(&loop.DecisionMade{ID: "d1", Verdict: loop.VerdictApprove})
	if c := f.sent(); c.Approval.SessionMove != "" {
		t.Errorf("sent with %+v", c.Approval)
	}
	moves := &loop.Failure{Kind: tool.KindApprovalRequired, Message: "the files stay behind", Final: json.RawMessage(`{"amount":100}`), FinalSHA256: digest, SessionMove: "4f1c"}
	f.fails("r.t1.c0", moves)
	if p := f.state.Pending(); len(p) != 1 || p[0].Reason != "the files stay behind" {
		t.Fatalf("a person is asked %+v", p)
	}
	f.add(&loop.DecisionMade{ID: "d2", Verdict: loop.VerdictApprove})
	if c := f.sent(); c.Approval.SessionMove != "4f1c" || c.Approval.ArgumentsSHA256 != digest {
		t.Errorf("sent with %+v", c.Approval)
	}
	f.fails("r.t1.c0", moves) // no second decision about the same
	if got := f.read(); got[0] != "[approval_required]" {
		t.Errorf("the model reads %q", got)
	}
}
