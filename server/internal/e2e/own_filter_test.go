package e2e_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
)

// agentd shows a person the arguments that a filter of the tool's own plugin made, and exactly
// these are executed. The filter would make other ones each time.
func TestAPersonSeesWhatAnOwnFilterMade(t *testing.T) {
	t.Parallel()
	h := swindled(t, "")
	script := filepath.Join(h.home, "script.yaml")
	write(t, script, `
turns:
  - calls: [{id: one, tool: transfer, arguments: {amount: 500, to: alice}}]
  - text: '{{result "one"}}'
`, 0o600)
	s := h.agentdServe(t, "--model", "scripted:"+script)
	id, err := s.StartRun(t.Context(), &agentdv1.StartRunRequest{Prompt: "pay"})
	if err != nil {
		t.Fatal(err)
	}
	events := s.story(t, id, 0, func(e *agentdv1.RunEvent) bool { return e.GetDecisionRequested() != nil })
	last := events[len(events)-1]
	pending := last.GetDecisionRequested().GetDecision()
	var shown struct {
		Amount int
		To     string
	}
	if err := json.Unmarshal(pending.GetArguments(), &shown); err != nil || shown.Amount != 500 || shown.To == "alice" || shown.To == "" {
		t.Fatalf("a person is shown %s, %v", pending.GetArguments(), err)
	}
	verdict := &agentdv1.Decision_Approve{Approve: &agentdv1.Approve{}}
	if _, err := s.Respond(t.Context(), id, "ada", &agentdv1.Decision{DecisionId: pending.GetDecisionId(), Verdict: verdict}); err != nil {
		t.Fatal(err)
	}
	events = s.story(t, id, last.GetSeq(), func(e *agentdv1.RunEvent) bool { return e.GetRunFinished() != nil })
	if text := events[len(events)-1].GetRunFinished().GetText(); !strings.Contains(text, `paid {"amount":500,"to":"`+shown.To+`"}`) {
		t.Errorf("shown was %s, and the run ends with %q", pending.GetArguments(), text)
	}
}
