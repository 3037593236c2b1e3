package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
)

// Tools of a run ask a person and the run's model. agentd is killed while the question is open, and
// again right after the answer: the tool runs once and gets the answer.
func TestAgentdKilledBetweenQuestionAndAnswer(t *testing.T) {
	h := withAsker(t, "[person, model]")
	h.serve(t)
	executions := filepath.Join(h.workspace, "executions")
	arguments, err := json.Marshal(map[string]string{"message": "Which ones?", "file": executions})
	if err != nil {
		t.Fatal(err)
	}
	m := newMind(t, func(asked thought) (string, string) {
		last, _ := asked.Messages[len(asked.Messages)-1].Content.(string)
		switch {
		case last == "Sum it up.": // the question of the tool
			return "short", ""
		case strings.HasPrefix(last, "the person chose"):
			return "", call("b", "ask_model", `{"message":"Sum it up."}`)
		case strings.HasPrefix(last, "the model said"):
			return "done: " + last, ""
		}
		return "", call("a", "ask_person", string(arguments))
	})
	d := h.agentdServe(t, m.flags()...)
	id, err := d.StartRun(t.Context(), &agentdv1.StartRunRequest{Prompt: "go", People: &agentdv1.People{Attended: true}})
	if err != nil {
		t.Fatal(err)
	}
	asks := func(e *agentdv1.RunEvent) bool { return e.GetDecisionRequested() != nil }
	events := d.story(t, id, 0, asks)
	asked := events[len(events)-1].GetDecisionRequested().GetDecision()
	if asked.GetKind() != agentdv1.DecisionKind_DECISION_KIND_TOOL || asked.GetPlugin() != "askplugin" || asked.GetReason() != "Which ones?" ||
		!strings.Contains(string(asked.GetSchema()), `"color"`) {
		t.Fatalf("the decision is %v", asked)
	}
	d.kill()
	d.live(t)
	answer := &agentdv1.Decision{DecisionId: asked.GetDecisionId(), Verdict: &agentdv1.Decision_Answer{
		Answer: &agentdv1.Answer{Text: `{"color":"red","count":3}`},
	}}
	if _, err := d.Respond(t.Context(), id, "ann", answer); err != nil {
		t.Fatal(err)
	}
	d.kill()
	d.live(t)
	var text string
	replies := 0
	for _, e := range d.story(t, id, 0, nil) {
		if e.GetModelReplied() != nil && e.GetModelReplied().GetError() == nil {
			replies++
		}
		text += e.GetRunFinished().GetText()
	}
	if text != "done: the model said: short" || replies != 1 {
		t.Errorf("the run ends with %q, after %d replies of the model to the tool", text, replies)
	}
	lines, err := os.ReadFile(executions)
	if err != nil || strings.Count(string(lines), "\n") != 1 {
		t.Errorf("the tool was executed: %q (%v), want one line", lines, err)
	}
}
