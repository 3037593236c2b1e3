package commands

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// What a model, a tool or a caller wrote does not control the terminal of who looks at the inbox.
func TestTheInboxCannotSteerTheTerminal(t *testing.T) {
	const bad = "a\x1b[2Jb\u202ec\x07\r\nd"
	d := client.InboxDecision{Name: bad + "/d1", Tenant: bad, Principal: bad, Waiting: true, NotAllowed: "", PendingDecision: client.PendingDecision{
		ID: bad, RunID: bad, Tool: bad, DisplayName: bad, Plugin: bad, Arguments: json.RawMessage(bad), Reason: bad, Options: []string{bad}, Rule: bad, Diff: "+" + bad, Schema: json.RawMessage(bad),
	}}
	made := d
	made.Waiting, made.Made = false, client.DecisionMade{Verdict: client.Reject, Principal: bad, Text: bad, DecidedBy: bad}
	refused := d
	refused.NotAllowed = bad
	holds := d
	holds.ID, holds.Agent, holds.Session, holds.Context = "", bad, bad, bad
	inJSON := holds
	inJSON.Context = `{"a\u001b[2J":"b\u202e\u0007"}`
	for _, kind := range []client.DecisionKind{client.DecideApproval, client.DecideQuestion, client.DecideOutcome, client.DecidePause, client.DecideTool} {
		var out bytes.Buffer
		p := cli.Process{Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }}
		for _, one := range []client.InboxDecision{d, made, refused, holds, inJSON} {
			one.Kind = kind
			if err := showDecision(p, &one); err != nil {
				t.Fatal(err)
			}
			if err := printInbox(p, []client.InboxDecision{one}, false); err != nil {
				t.Fatal(err)
			}
		}
		of := made
		of.Kind = kind
		if err := printMine(p, []client.InboxDecision{of}, []tool.StandingApproval{{
			ID: bad, Tool: bad, Principal: bad, Scope: tool.ScopeRun, Run: bad, Arguments: json.RawMessage(`{"a\u001b[2J":"b\u202e\u0007"}`), Patterns: []tool.ArgumentPattern{{Argument: bad, Origin: bad}},
		}}, false); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(out.String(), "\x1b\x07\r\u202e") {
			t.Errorf("%s: the terminal gets %q", kind, out.String())
		}
	}
}

// An end is shown as what it is: a No, before and after it.
func TestAnEndIsANo(t *testing.T) {
	d := client.InboxDecision{Name: "r/d1", Waiting: true, PendingDecision: client.PendingDecision{ID: "d1", RunID: "r", Kind: client.DecideApproval, Tool: "pay", Expires: time.Now().Add(time.Hour)}}
	question, ended := d, d
	question.Kind = client.DecideQuestion
	ended.Waiting, ended.Made = false, client.DecisionMade{Verdict: client.Expired}
	for want, d := range map[string]client.InboxDecision{"without a decision it is a No in ": d, "without a decision it is left open in ": question, "which counts as a No": ended} {
		var out bytes.Buffer
		if err := showDecision(cli.Process{Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }}, &d); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("it says %q, %v, want %q", out.String(), err, want)
		}
	}
	var out bytes.Buffer
	text := newTextDisplay(cli.Process{Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }})
	if err := text.decided(&ended.Made); err != nil || !strings.Contains(out.String(), "rejected: nobody decided in time") {
		t.Errorf("it says %q, %v", out.String(), err)
	}
}
