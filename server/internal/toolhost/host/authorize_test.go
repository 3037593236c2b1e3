package host_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/server/internal/toolhost/policy"
	"github.com/toolhost/toolhost/tool"
)

// The rules decide on the final arguments. No call that they refuse reaches a plugin, and the audit
// log has the decisions.
func TestPolicy(t *testing.T) {
	rules, err := policy.Compile([]policy.Rule{
		{Name: "no-big-writes", When: `tool.name == "write" && arguments.bytes > 100`, Then: policy.Deny, Reason: "too much"},
		{Name: "small-is-fine", When: `tool.name == "write" && arguments.bytes <= 10`, Then: policy.Allow},
		{Name: "ask-for-reads", When: `tool.name == "read" && session == "guarded"`, Then: policy.RequireApproval},
		{Name: "not-theirs", When: `tool.name == "read" && has(context.tenant) && context.tenant != "acme"`, Then: policy.Deny, Reason: "not yours"},
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.Open(audit.Config{File: file})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	ran := map[string]int{}
	run := func(_ context.Context, c tool.Call, _ func(tool.Event)) (tool.Result, error) {
		ran[c.ID]++
		return tool.TextResult("done"), nil
	}
	schema := json.RawMessage(`{"type":"object","properties":{"bytes":{"type":"integer"}}}`)
	r := newRig(t, []hosttest.Tool{
		{Spec: tool.Spec{Name: "write", Description: "Writes.", Dangerous: true, InputSchema: schema}, Run: run},
		{Spec: tool.Spec{Name: "read", Description: "Reads.", ReadOnly: true}, Run: run},
	}, func(c *host.Config) { c.Policy, c.Audit = rules, log })
	ada := &tool.Approval{ApprovedBy: "Ada", Reason: "sure"}
	var lines []string
	for _, tc := range []struct {
		call tool.Call
		kind tool.Kind
		rule string
		line string
	}{
		{tool.Call{ID: "a", Tool: "write", Arguments: []byte(`{"bytes":500}`), Approval: ada}, tool.KindDenied, "no-big-writes", "denied no-big-writes too much "},
		// the repaired arguments
		{tool.Call{ID: "b", Tool: "write", Arguments: []byte(`{"bytes":"5"}`)}, "", "", "allowed small-is-fine  "},
		{tool.Call{ID: "c", Tool: "write", Arguments: []byte(`{"bytes":50}`)}, tool.KindApprovalRequired, "", "approval_required  the tool is dangerous, and no rule says otherwise "},
		{tool.Call{ID: "c", Tool: "write", Arguments: []byte(`{"bytes":50}`), Approval: ada}, "", "", "approved  the tool is dangerous, and no rule says otherwise Ada"},
		{tool.Call{ID: "d", Tool: "write"}, tool.KindDenied, "no-big-writes", `denied no-big-writes the rule "no-big-writes" could not be evaluated`},
		{tool.Call{ID: "e", Tool: "read"}, "", "", ""},
		{tool.Call{ID: "f", Tool: "read", Session: "guarded"}, tool.KindApprovalRequired, "ask-for-reads", "approval_required ask-for-reads  "},
		{tool.Call{ID: "g", Tool: "read", Context: map[string]json.RawMessage{"tenant": []byte(`"acme"`)}}, "", "", ""},
		{tool.Call{ID: "h", Tool: "read", Context: map[string]json.RawMessage{"tenant": []byte(`"globex"`)}}, tool.KindDenied, "not-theirs", "denied not-theirs not yours "},
	} {
		if tc.line != "" {
			lines = append(lines, tc.call.ID+" "+tc.line)
		}
		before := ran[tc.call.ID]
		got := outcome(t, r, tc.call)
		switch {
		case tc.kind == "" && (got.Err != nil || ran[tc.call.ID] != before+1):
			t.Errorf("%s ended with %+v and ran %d times", tc.call.ID, got, ran[tc.call.ID]-before)
		case tc.kind != "" && (got.Err == nil || got.Err.Kind != tc.kind || got.Err.Rule != tc.rule || ran[tc.call.ID] != before):
			t.Errorf("%s ended with %+v and ran %d times", tc.call.ID, got.Err, ran[tc.call.ID]-before)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	for text := range strings.Lines(string(data)) {
		var line struct {
			CallID                 string `json:"call_id"`
			Decision, Rule, Reason string
			ApprovedBy             string `json:"approved_by"`
		}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err)
		}
		kept = append(kept, strings.Join([]string{line.CallID, line.Decision, line.Rule, line.Reason, line.ApprovedBy}, " "))
		if strings.Contains(text, `"bytes":`) {
			t.Errorf("arguments are in the log: %s", text)
		}
	}
	if diff := cmp.Diff(lines, kept, cmp.Comparer(func(a, b string) bool { return strings.HasPrefix(b, a) || strings.HasPrefix(a, b) })); diff != "" {
		t.Errorf("the audit log (-want +got):\n%s", diff)
	}
}

// The audit log does not show a call as executed that the policy allowed and the rate limit
// refused.
func TestAuditLogSaysWhatCameTooSoon(t *testing.T) {
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.Open(audit.Config{File: file, All: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	limited := hosttest.Tool{
		Spec: tool.Spec{Name: "limited", Description: "Is called once.", RateLimitPerMinute: 1},
		Run: func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) {
			return tool.TextResult("ok"), nil
		},
	}
	r := newRig(t, []hosttest.Tool{limited}, func(c *host.Config) { c.Audit = log })
	var want []string
	for _, id := range []string{"a", "b"} {
		c := call("limited", "{}")
		c.ID = id
		got := outcome(t, r, c)
		want = append(want, id+" allowed")
		if id == "b" {
			want = append(want, id+" rate_limited")
		}
		if limited := got.Err != nil && got.Err.Kind == tool.KindRateLimited; limited != (id == "b") {
			t.Errorf("%s ended with %+v", id, got)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for text := range strings.Lines(string(data)) {
		var line struct {
			CallID   string `json:"call_id"`
			Decision string `json:"decision"`
		}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err)
		}
		got = append(got, line.CallID+" "+line.Decision)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the audit log (-want +got):\n%s", diff)
	}
}

// A call whose decision must be recorded, and cannot be, is not executed. Other calls are.
func TestAuditLogThatFails(t *testing.T) {
	log, err := audit.Open(audit.Config{File: filepath.Join(t.TempDir(), "audit.jsonl")})
	if err != nil {
		t.Fatal(err)
	}
	log.Close()
	r := newRig(t, hosttest.Tools(), func(c *host.Config) { c.Audit = log })
	c := call("danger", "{}")
	c.Approval = &tool.Approval{ApprovedBy: "Ada"}
	if got := outcome(t, r, c); got.Err == nil || got.Err.Kind != tool.KindUnavailable {
		t.Errorf("the approved call ended with %+v", got)
	}
	if got := outcome(t, r, call("echo", `{"text":"x"}`)); got.Err != nil {
		t.Errorf("the plain call ended with %+v", got.Err)
	}
}

// No plugin previews a call that the policy will deny. No plugin gets secrets for the preview of a
// call that the policy may still deny or hold for an approval.
func TestPolicyComesBeforePreviews(t *testing.T) {
	rules, err := policy.Compile([]policy.Rule{
		{Name: "no-guests", When: `session == "guest"`, Then: policy.Deny},
		{Name: "no-secrets", When: `session == "checked" && arguments.text == "no"`, Then: policy.Deny},
		{Name: "ask", When: `session == "asked"`, Then: policy.RequireApproval},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		session        string
		plain, secrets bool // whether a tool without secrets and one with secrets may preview
	}{
		{"guest", false, false}, {"checked", true, false}, {"asked", true, false}, {"free", true, true},
	} {
		for name, want := range map[string]bool{"plain": tt.plain, "keyed": tt.secrets} {
			synctest.Test(t, func(t *testing.T) {
				plain, keyed := needing("plain"), needing("keyed", "KEY")
				plain.Spec.PartialArguments, keyed.Spec.PartialArguments = true, true
				r, _ := newSecretRig(t, count, func(c *host.Config) { c.Policy = rules }, plain, keyed)
				c := call(name, `{`)
				c.Session = tt.session
				e, err := r.Open(t.Context(), c, false)
				if err != nil {
					t.Fatal(err)
				}
				defer e.Close()
				synctest.Wait()
				if looked := r.started() > 0; looked != want {
					t.Errorf("%s in the session %s: it looked is %v", name, tt.session, looked)
				}
			})
		}
	}
}
