package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/tool"
)

// askedFor is the part of a refused call's error that says what toolhost would execute.
type askedFor struct {
	CallID string `json:"call_id"`
	Text   string `json:"text"`
	Error  *struct {
		Kind      string          `json:"kind"`
		Arguments json.RawMessage `json:"arguments"`
		Digest    string          `json:"arguments_sha256"`
	} `json:"error"`
}

// swindled starts a toolhost with the plugin approvalplugin.
func swindled(t *testing.T, config string) *toolhost {
	t.Helper()
	h := prepare(t)
	if err := os.Symlink(filepath.Join(bin, "approvalplugin"), filepath.Join(h.plugins, "approvalplugin")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(h.home, "toolhost.yaml"), config, 0o600)
	h.serve(t)
	return h
}

// pay calls the tool pay and returns the result or the refusal.
func (h *toolhost) pay(t *testing.T, arguments string, more ...string) askedFor {
	t.Helper()
	r := h.do(t, append([]string{"call", "pay", arguments, "-o", "json"}, more...)...)
	var out askedFor
	if err := json.Unmarshal([]byte(r.stdout), &out); err != nil {
		t.Fatalf("%v\n%s%s", err, r.stdout, r.stderr)
	}
	return out
}

// wantRefused checks that a payment was not executed, and returns what needs approval.
func wantRefused(t *testing.T, got askedFor) (arguments, digest string) {
	t.Helper()
	if got.Error == nil || got.Error.Kind != "approval_required" || len(got.Error.Arguments) == 0 || strings.Contains(got.Text, "paid") {
		t.Fatalf("it ended with %+v", got)
	}
	return string(got.Error.Arguments), got.Error.Digest
}

const inflatedPayment = `{"amount":100,"force":true,"to":"mallory"}`

// A person approves a small payment. Bounds and defaults of the schema would make it a large one.
func TestApprovedArgumentsAreExecuted(t *testing.T) {
	t.Parallel()
	h := swindled(t, "")
	shown, digest := wantRefused(t, h.pay(t, `{"amount":1}`, "--approve"))
	if shown != inflatedPayment {
		t.Fatalf("a person is shown %s", shown)
	}
	h.do(t, "call", "pay", `{"amount":1}`).says(t, inflatedPayment, "--approve="+digest)
	wantRefused(t, h.pay(t, `{"amount":1.0}`, "--approve"))
	wantRefused(t, h.pay(t, `{"amount":1}`, "--approve="+strings.Repeat("0", 64)))
	if got := h.pay(t, `{"amount":"x","amount":1}`, "--approve="+digest); strings.Contains(got.Text, "paid") {
		t.Errorf("a property that stands twice: %+v", got)
	}
	if got := h.pay(t, `{"amount":1}`, "--approve="+digest); got.Text != `paid {"amount":100,"to":"mallory","force":true}` {
		t.Errorf("approved as shown: %+v", got)
	}
	if got := h.pay(t, inflatedPayment, "--approve"); got.Error != nil {
		t.Errorf("what is given as it would be executed needs no second look: %+v", got)
	}
}

// A filter changes the arguments differently each time. toolhost asks it once, shows the result,
// and executes the shown arguments once.
func TestAFilterThatAnswersDifferently(t *testing.T) {
	t.Parallel()
	h := swindled(t, "filters: [{filter: redirect, tools: [pay]}]\n")
	given := `{"amount":500,"force":false,"to":"alice"}`
	wantRefused(t, h.pay(t, given, "--approve"))
	shown, digest := wantRefused(t, h.pay(t, given))
	var want struct{ To string }
	if err := json.Unmarshal([]byte(shown), &want); err != nil || want.To == "alice" || want.To == "" {
		t.Fatalf("shown %s, %v", shown, err)
	}
	// a call with the shown arguments is another call
	wantRefused(t, h.pay(t, `{"amount":501,"force":false,"to":"alice"}`, "--approve="+digest))
	wantRefused(t, h.pay(t, given, "--session", "another", "--approve="+digest))
	if got := h.pay(t, given, "--approve="+digest); !strings.Contains(got.Text, want.To) || !strings.Contains(got.Text, "500") {
		t.Errorf("approved %s, executed %+v", shown, got)
	}
	if again, _ := wantRefused(t, h.pay(t, given, "--approve="+digest)); again == shown {
		t.Error("one approval was good for two payments")
	}
}

// After a restart toolhost has lost the shown arguments, and the filter returns other ones.
func TestAnApprovalAcrossARestart(t *testing.T) {
	t.Parallel()
	h := swindled(t, "filters: [{filter: redirect, tools: [pay]}]\n")
	given := `{"amount":500,"force":false,"to":"alice"}`
	shown, digest := wantRefused(t, h.pay(t, given, "--call-id", "p1"))
	h.stop(t)
	h.serve(t)
	if now, _ := wantRefused(t, h.pay(t, given, "--call-id", "p1", "--approve="+digest)); now == shown {
		t.Errorf("shown again: %s", now)
	}
}

// agentd shows the final arguments and executes them. It asks again if edited arguments change.
func TestAPersonSeesTheFinalArguments(t *testing.T) {
	t.Parallel()
	h := swindled(t, "")
	script := filepath.Join(h.home, "script.yaml")
	write(t, script, `
turns:
  - calls: [{id: one, tool: pay, arguments: {amount: 1}}]
  - calls: [{id: two, tool: pay, arguments: {amount: 2}}]
  - text: '{{result "one"}} and {{result "two"}}'
`, 0o600)
	s := h.agentdServe(t, "--model", "scripted:"+script)
	id, err := s.StartRun(t.Context(), &agentdv1.StartRunRequest{Prompt: "pay"})
	if err != nil {
		t.Fatal(err)
	}
	shown := func(after uint64) (*agentdv1.PendingDecision, uint64) {
		t.Helper()
		events := s.story(t, id, after, func(e *agentdv1.RunEvent) bool { return e.GetDecisionRequested() != nil })
		last := events[len(events)-1]
		run, err := s.GetRun(t.Context(), id)
		if err != nil || len(run.GetPendingDecisions()) != 1 {
			t.Fatalf("it waits for %v, %v", run.GetPendingDecisions(), err)
		}
		pending := run.GetPendingDecisions()[0]
		if arguments := last.GetDecisionRequested().GetDecision().GetArguments(); string(arguments) != string(pending.GetArguments()) {
			t.Errorf("the event says %s, and the run %s", arguments, pending.GetArguments())
		}
		return pending, last.GetSeq()
	}
	approve := func(p *agentdv1.PendingDecision, edited string) {
		t.Helper()
		verdict := &agentdv1.Decision_Approve{Approve: &agentdv1.Approve{Arguments: []byte(edited)}}
		if _, err := s.Respond(t.Context(), id, "ada", &agentdv1.Decision{DecisionId: p.GetDecisionId(), Verdict: verdict}); err != nil {
			t.Fatal(err)
		}
	}
	first, seq := shown(0)
	if string(first.GetArguments()) != inflatedPayment {
		t.Fatalf("a person is shown %s", first.GetArguments())
	}
	approve(first, "")
	second, seq := shown(seq)
	small := &agentdv1.Decision_Approve{Approve: &agentdv1.Approve{Arguments: []byte(`{"amount":7,"to":"bob"}`)}}
	if _, err := s.Respond(t.Context(), id, "ada", &agentdv1.Decision{DecisionId: second.GetDecisionId(), Verdict: small}); tool.KindOf(err) != tool.KindInvalidArgument {
		t.Fatalf("arguments that do not fit the schema: %v", err)
	}
	approve(second, `{"amount":100,"to":"bob"}`)
	third, seq := shown(seq)
	if want := `{"amount":100,"force":true,"to":"bob"}`; string(third.GetArguments()) != want {
		t.Fatalf("after the edit a person is shown %s, want %s", third.GetArguments(), want)
	}
	approve(third, "")
	events := s.story(t, id, seq, func(e *agentdv1.RunEvent) bool { return e.GetRunFinished() != nil })
	text := events[len(events)-1].GetRunFinished().GetText()
	for _, want := range []string{`paid {"amount":100,"to":"mallory","force":true}`, `paid {"amount":100,"to":"bob","force":true}`} {
		if !strings.Contains(text, want) {
			t.Errorf("the run ends with %q, want %s", text, want)
		}
	}
}
