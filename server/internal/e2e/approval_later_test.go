package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
)

// A person approves a call, and later calls in the same folder. agentd is killed right after the
// decision. The approval is created once, later calls in the folder need no person and say why, a
// call elsewhere needs one, and so does every call after the approval is revoked.
func TestLaterCallsAreApprovedByToolhost(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	write(t, filepath.Join(h.home, "toolhost.yaml"), reviewed, 0o600)
	h.serve(t)
	script := filepath.Join(h.home, "script.yaml")
	var turns strings.Builder
	for i, path := range []string{"docs/a.txt", "docs/b.txt", "docs/deep/c.txt", "other.txt", "docs/d.txt"} {
		fmt.Fprintf(&turns, "  - calls: [{id: c%d, tool: write_file, arguments: {path: %s, content: text %d}}]\n", i, path, i)
	}
	write(t, script, "turns:\n"+turns.String()+"  - text: done\n", 0o600)
	s := h.agentdServe(t, "--model", "scripted:"+script)
	id, err := s.StartRun(t.Context(), &agentdv1.StartRunRequest{Prompt: "go"})
	if err != nil {
		t.Fatal(err)
	}
	wanted := func(after uint64) (*agentdv1.PendingDecision, uint64) {
		t.Helper()
		events := s.story(t, id, after, func(e *agentdv1.RunEvent) bool { return e.GetDecisionRequested() != nil })
		last := events[len(events)-1]
		return last.GetDecisionRequested().GetDecision(), last.GetSeq()
	}
	approve := func(p *agentdv1.PendingDecision, standing *agentdv1.StandingChoice) {
		t.Helper()
		verdict := &agentdv1.Decision_Approve{Approve: &agentdv1.Approve{Standing: standing}}
		if _, err := s.Respond(t.Context(), id, "ada", &agentdv1.Decision{DecisionId: p.GetDecisionId(), Verdict: verdict}); err != nil {
			t.Fatal(err)
		}
	}
	first, seq := wanted(0)
	offers := first.GetStandingOffers()
	if len(offers) != 3 || len(offers[1].GetPatterns()) != 2 || offers[1].GetPatterns()[1].GetPathPrefix() != "docs" || !offers[1].GetPatterns()[0].GetAny() {
		t.Fatalf("the offers are %v", offers)
	}
	offers[1].Scope = agentdv1.StandingScope_STANDING_SCOPE_RUN
	approve(first, offers[1])
	s.kill()
	s.live(t)
	fourth, seq := wanted(seq)
	if !strings.Contains(string(fourth.GetArguments()), "other.txt") {
		t.Fatalf("it waits for %v", fourth)
	}
	var approval string
	by := map[string]string{} // the metadata of results about standing approvals, by call
	for _, e := range s.story(t, id, 0, func(e *agentdv1.RunEvent) bool { return e.GetSeq() == seq }) {
		if a := e.GetStandingApproved(); a != nil {
			if approval != "" || a.GetError() != nil {
				t.Errorf("another approval: %v", a)
			}
			approval = a.GetApprovalId()
		}
		if r := e.GetCallResult(); r != nil {
			by[strings.TrimPrefix(r.GetCallId(), id+".")] = string(r.GetResult().GetMetadata()["toolhost.standing_approval"])
		}
	}
	if approval == "" || by["t1.c0"] != "" || !strings.Contains(by["t2.c0"], approval) || !strings.Contains(by["t3.c0"], approval) {
		t.Errorf("the approval %q, and the results say %q", approval, by)
	}
	h.do(t, "approvals", "list").says(t, approval, "write_file")
	if listed := h.do(t, "approvals", "list", "-o", "json"); strings.Count(listed.stdout, `"write_file"`) != 1 {
		t.Errorf("toolhost lists %s", listed.stdout)
	}
	mine := []string{"--addr", "unix://" + filepath.Join(h.home, "a.sock")}
	if listed := h.agentdOf(t, "", append([]string{"inbox", "mine", "-o", "json"}, mine...)...); !strings.Contains(listed, `{"decision":{"name":"`+id+"/"+first.GetDecisionId()+`"`) || !strings.Contains(listed, `{"approval":{"id":"`+approval+`"`) {
		t.Errorf("agentd lists as mine %s", listed)
	}
	if revoked := h.agentdOf(t, "", append([]string{"inbox", "revoke", approval}, mine...)...); !strings.Contains(revoked, "revoked") {
		t.Errorf("agentd says %s", revoked)
	}
	approve(fourth, nil)
	fifth, seq := wanted(seq)
	if !strings.Contains(string(fifth.GetArguments()), "docs/d.txt") {
		t.Fatalf("after the revocation it waits for %v", fifth)
	}
	approve(fifth, nil)
	s.story(t, id, seq, func(e *agentdv1.RunEvent) bool { return e.GetRunFinished() != nil })
	for i, path := range []string{"docs/a.txt", "docs/b.txt", "docs/deep/c.txt", "other.txt", "docs/d.txt"} {
		if data, err := os.ReadFile(filepath.Join(h.workspace, path)); err != nil || string(data) != fmt.Sprintf("text %d", i) {
			t.Errorf("%s holds %q, %v", path, data, err)
		}
	}
}
