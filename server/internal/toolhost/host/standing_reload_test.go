package host_test

import (
	"strings"
	"testing"
	"time"

	waiting "github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/server/internal/toolhost/policy"
	"github.com/toolhost/toolhost/tool"
)

// acts returns the acts that the audit log has about an approval, with their reasons.
func (r *standingRig) acts(t *testing.T, id string) (acts, reasons []string) {
	for _, line := range r.lines(t) {
		if line["target"] == id {
			reason, _ := line["reason"].(string)
			acts, reasons = append(acts, line["act"].(string)), append(reasons, reason)
		}
	}
	return acts, reasons
}

// restart closes the host and starts another one with the same records.
func (r *standingRig) restart(t *testing.T, change func(*host.Config)) {
	t.Helper()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r.rig = newRig(t, []hosttest.Tool{r.tool(nil)}, func(c *host.Config) {
		c.Approvals, c.Audit = r.approvals, r.log
		if change != nil {
			change(c)
		}
	})
}

// A lower approvals.longest shortens the approvals that exist, when it comes into force and at a
// start.
func TestLowerLongestShortensApprovals(t *testing.T) {
	lower := host.Settings{Approvals: host.ApprovalLimits{Longest: 30 * time.Minute}}
	for name, apply := range map[string]func(*standingRig){
		"reload": func(r *standingRig) { r.Reconfigure(lower, nothingReplaced) },
		"start":  func(r *standingRig) { r.restart(t, func(c *host.Config) { c.Settings = lower }) },
	} {
		r := newStandingRig(t, nil)
		a := r.approve(t, nil)
		apply(r)
		if now, _ := r.approvals.Get(a.ID); !now.Expires.Equal(a.Created.Add(30 * time.Minute)) {
			t.Errorf("%s: created at %v, it expires at %v", name, a.Created, now.Expires)
		}
		waiting.Holds(t, "the audit log has the new expiry", func() bool {
			acts, reasons := r.acts(t, a.ID)
			return len(acts) == 2 && acts[1] == "shorten standing approval" && strings.Contains(reasons[1], "approvals.longest is 30m")
		})
	}
}

// An approval for a rule does not approve calls for another rule that has its name now, and does
// not come back with the former rule. Another reason makes no other rule.
func TestChangedRuleEndsTheApproval(t *testing.T) {
	rule := func(when, reason string) host.Settings {
		return host.Settings{Policy: rulesOf(t, policy.Rule{Name: "reviews", When: when, Then: policy.RequireApproval, Reason: reason})}
	}
	first, other := `arguments.path.startsWith("docs/")`, `arguments.path.startsWith("docs/") && arguments.mode == 1`
	r := newStandingRig(t, func(c *host.Config) { c.Settings = rule(first, "docs are read by many") })
	a := r.approve(t, nil)
	call := func() tool.Outcome { return outcome(t, r.rig, writing(`{"path":"docs/b","content":"y"}`, nil)) }
	r.Reconfigure(rule(first, "others read docs"), nothingReplaced)
	if got := call(); got.Err != nil {
		t.Fatalf("with another reason: %v", got.Err)
	}
	r.Reconfigure(rule(other, ""), nothingReplaced)
	if got := call(); got.Err == nil || got.Err.Kind != tool.KindApprovalRequired {
		t.Errorf("with another expression: %+v", got)
	}
	waiting.Holds(t, "the approval has ended", func() bool { now, _ := r.approvals.Get(a.ID); return now.End == tool.ApprovalChanged })
	r.Reconfigure(rule(first, ""), nothingReplaced)
	if got := call(); got.Err == nil || got.Err.Kind != tool.KindApprovalRequired {
		t.Errorf("with the first rule again: %+v", got)
	}
}

// If toolhost is killed between the end of an approval and its line in the audit log, the next
// start writes the line, once.
func TestTheNextStartReportsAnEnd(t *testing.T) {
	r := newStandingRig(t, nil)
	a := r.approve(t, nil)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, first, err := r.approvals.Revoke(t.Context(), a.ID, "red/olga"); !first || err != nil {
		t.Fatal(first, err)
	}
	for range 2 {
		r.restart(t, nil)
		acts, reasons := r.acts(t, a.ID)
		if len(acts) != 2 || acts[1] != "end standing approval" || !strings.Contains(reasons[1], "revoked by red/olga") {
			t.Errorf("the audit log has %q, because of %q", acts, reasons)
		}
	}
}
