package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
)

// reviewed are rules by which a person sees each change of a file, and one file that no call may
// write.
const reviewed = `
policy:
  rules:
    - {name: never, when: 'tool.name == "write_file" && arguments.path == "denied.txt"', then: deny}
    - {name: files, when: 'tool.name in ["edit_file", "write_file"]', then: require_approval, reason: files are reviewed}
`

// A person who approves a change of a file sees the rule, the schema and what would change. For
// that nothing is executed. If the file changes before the approval, edit_file fails.
func TestADiffIsShownAndNothingIsExecuted(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	write(t, filepath.Join(h.home, "toolhost.yaml"), reviewed, 0o600)
	h.serve(t)
	note := filepath.Join(h.workspace, "note.txt")
	write(t, note, "feed the cat\n", 0o600)
	script := filepath.Join(h.home, "script.yaml")
	write(t, script, `
turns:
  - calls: [{id: one, tool: edit_file, arguments: {path: note.txt, edits: [{old_text: cat, new_text: dog}]}}]
  - calls: [{id: two, tool: edit_file, arguments: {path: note.txt, edits: [{old_text: dog, new_text: cow}]}}]
  - calls: [{id: three, tool: write_file, arguments: {path: denied.txt, content: x}}]
  - text: '{{result "one"}}; {{result "two"}}; {{result "three"}}'
`, 0o600)
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
	approve := func(p *agentdv1.PendingDecision) {
		t.Helper()
		verdict := &agentdv1.Decision_Approve{Approve: &agentdv1.Approve{}}
		if _, err := s.Respond(t.Context(), id, "ada", &agentdv1.Decision{DecisionId: p.GetDecisionId(), Verdict: verdict}); err != nil {
			t.Fatal(err)
		}
	}
	content := func(want string) {
		t.Helper()
		if data, err := os.ReadFile(note); err != nil || string(data) != want {
			t.Errorf("the file holds %q, %v; want %q", data, err, want)
		}
	}
	first, seq := wanted(0)
	if want := "--- note.txt\n+++ note.txt\n@@ -1,1 +1,1 @@\n-feed the cat\n+feed the dog\n"; first.GetDiff() != want {
		t.Errorf("the diff is %q, want %q", first.GetDiff(), want)
	}
	if first.GetRule() != "files" || !strings.Contains(first.GetReason(), "files are reviewed") || !strings.Contains(string(first.GetSchema()), `"old_text"`) {
		t.Errorf("the decision is %v", first)
	}
	content("feed the cat\n")
	approve(first)
	second, seq := wanted(seq)
	if !strings.Contains(second.GetDiff(), "-feed the dog\n+feed the cow\n") {
		t.Errorf("the diff is %q", second.GetDiff())
	}
	content("feed the dog\n")
	write(t, note, "feed the hen\n", 0o600)
	approve(second)
	events := s.story(t, id, seq, func(e *agentdv1.RunEvent) bool { return e.GetRunFinished() != nil })
	text := events[len(events)-1].GetRunFinished().GetText()
	for _, want := range []string{`changed "note.txt"`, "occurs 0 times", "not allowed"} {
		if !strings.Contains(text, want) {
			t.Errorf("the run ends with %q, want %q", text, want)
		}
	}
	content("feed the hen\n")
}
