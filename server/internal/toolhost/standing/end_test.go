package standing_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/standing"
	"github.com/toolhost/toolhost/tool"
)

func everyApproval(*tool.StandingApproval) bool { return true }

func TestEndedApprovalsAreForgotten(t *testing.T) {
	r := newRig(t)
	a := r.create(t, nil)
	if _, err := r.End(t.Context(), tool.ApprovalExpired, everyApproval); err != nil {
		t.Fatal(err)
	}
	if err := r.Reported(t.Context(), a.ID); err != nil {
		t.Fatal(err)
	}
	*r.clock = now.Add(31 * 24 * time.Hour)
	b := r.create(t, func(q *tool.ApprovalRequest, a *tool.StandingApproval) {
		q.RequestID, a.Expires = "later", r.clock.Add(time.Hour)
	})
	all := r.All(everyApproval)
	if len(all) != 1 || all[0].ID != b.ID {
		t.Errorf("%s is remembered: %+v", a.ID, all)
	}
}

// One tenant that ends many approvals does not push out those of another one, whose repeated
// requests would then create again what was revoked.
func TestATenantForgetsItsOwnApprovals(t *testing.T) {
	r := newRig(t)
	end := func(principal, id string) tool.StandingApproval {
		t.Helper()
		*r.clock = r.clock.Add(time.Second)
		a := r.create(t, func(q *tool.ApprovalRequest, a *tool.StandingApproval) {
			q.RequestID, q.Principal, a.Principal = id, principal, principal
		})
		ended, _, err := r.Revoke(t.Context(), a.ID, principal)
		if err != nil {
			t.Fatal(err)
		}
		return ended
	}
	want := []string{end("blue/ada", "first").ID}
	for i := range 20 {
		a := end("red/ada", fmt.Sprint(i))
		if i >= 16 {
			want = append(want, a.ID)
		}
	}
	slices.Reverse(want)
	for range 2 {
		var got []string
		for _, a := range r.All(everyApproval) {
			got = append(got, a.ID)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("remembered (-want +got):\n%s", diff)
		}
		r.Close()
		r, want = open(t, r.path, "one"), slices.Delete(want, 3, 4) // there is room for one end
	}
}

// A lower bound shortens approvals in force and new ones, also in the file, and a higher one
// lengthens none.
func TestShorten(t *testing.T) {
	r := newRig(t)
	long := r.create(t, nil)
	short := r.create(t, func(q *tool.ApprovalRequest, a *tool.StandingApproval) {
		q.RequestID, a.Expires = "decision-2", now.Add(10*time.Minute)
	})
	_, changed := r.Next()
	got := r.Shorten(30 * time.Minute)
	if len(got) != 1 || got[0].ID != long.ID || !got[0].Expires.Equal(now.Add(30*time.Minute)) {
		t.Fatalf("shortened: %+v", got)
	}
	<-changed
	if got := r.Shorten(0); len(got) > 0 {
		t.Errorf("without a bound, %+v changed", got)
	}
	r.Shorten(30 * time.Minute)
	new := r.create(t, func(q *tool.ApprovalRequest, _ *tool.StandingApproval) { q.RequestID = "decision-3" })
	if !new.Expires.Equal(now.Add(30 * time.Minute)) {
		t.Errorf("a new one expires at %v", new.Expires)
	}
	if err := r.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.Close()
	r = reopen(t, r.path, "one", now.Add(15*time.Minute))
	if got, ok := r.Match(call(below, nil)); !ok || got.ID != long.ID || r.InForce(short.ID) {
		t.Errorf("after 15 minutes, %+v approves", got)
	}
	*r.clock = now.Add(30 * time.Minute)
	if got, ok := r.Match(call(below, nil)); ok {
		t.Errorf("after 30 minutes, %+v approves", got)
	}
}

// An approval stands for the rule that the person was asked because of, not for another rule that
// has its name now.
func TestAnotherRuleOfTheSameName(t *testing.T) {
	r := newRig(t)
	create := func(request, name, digest string) tool.StandingApproval {
		t.Helper()
		p := proposal(func(q *tool.ApprovalRequest, a *tool.StandingApproval) { q.RequestID, a.Rule = request, name })
		p.RuleSHA256 = digest
		a, _, err := r.Create(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	changed, same, none := create("1", "reviews", "r1"), create("2", "drafts", "d1"), create("3", "", "")
	r.Close()
	r = open(t, r.path, "one")
	for digest, want := range map[string]bool{"r1": true, "r2": false, "": false} {
		if _, ok := r.Match(call(below, func(c *standing.Call) { c.Rule, c.RuleSHA256 = "reviews", digest })); ok != want {
			t.Errorf("the rule with the digest %q is approved: %v", digest, ok)
		}
	}
	ended, err := r.EndOtherRules(t.Context(), func(rule string) string { return map[string]string{"reviews": "r2", "drafts": "d1"}[rule] })
	if err != nil || len(ended) != 1 || ended[0].ID != changed.ID || ended[0].End != tool.ApprovalChanged {
		t.Errorf("ended: %+v, %v", ended, err)
	}
	if r.InForce(changed.ID) || !r.InForce(same.ID) || !r.InForce(none.ID) {
		t.Errorf("in force: %v, %v, %v", r.InForce(changed.ID), r.InForce(same.ID), r.InForce(none.ID))
	}
}

// An end stays unreported, however long and across restarts, until it is reported.
func TestUnreportedEnds(t *testing.T) {
	r := newRig(t)
	a := r.create(t, nil)
	if _, _, err := r.Revoke(t.Context(), a.ID, "red/ada"); err != nil {
		t.Fatal(err)
	}
	r.Close()
	r = reopen(t, r.path, "one", now.Add(60*24*time.Hour))
	if got := r.Unreported(); len(got) != 1 || got[0].ID != a.ID || got[0].RevokedBy != "red/ada" {
		t.Fatalf("unreported: %+v", got)
	}
	for range 2 { // again: nothing changes
		if err := r.Reported(t.Context(), a.ID); err != nil {
			t.Fatal(err)
		}
	}
	r.Close()
	if r = open(t, r.path, "one"); len(r.Unreported()) > 0 || len(r.All(everyApproval)) != 1 {
		t.Errorf("unreported: %+v; remembered: %+v", r.Unreported(), r.All(everyApproval))
	}
}
