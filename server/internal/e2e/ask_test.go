package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/tool"
)

// withAsker returns a toolhost that does not run yet, with the plugin askplugin and what it may
// ask.
func withAsker(t *testing.T, permitted string) *toolhost {
	t.Helper()
	h := prepare(t)
	if err := os.Symlink(filepath.Join(bin, "askplugin"), filepath.Join(h.plugins, "askplugin")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(h.home, "toolhost.yaml"), "plugin:\n  askplugin: {ask: "+permitted+"}\n", 0o600)
	return h
}

// openAsking begins a call of askplugin whose caller answers everything, and returns its question.
func openAsking(t *testing.T, c *client.Client, id, name, message, file string) (tool.Execution, *tool.Question) {
	t.Helper()
	arguments, err := json.Marshal(map[string]string{"message": message, "file": file})
	if err != nil {
		t.Fatal(err)
	}
	e, err := c.Open(t.Context(), tool.Call{
		ID: id, Tool: name, Arguments: arguments, Answers: []tool.QuestionKind{tool.QuestionPerson, tool.QuestionModel},
	}, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	for {
		ev, err := e.Next(t.Context())
		switch {
		case err != nil:
			t.Fatal(err)
		case ev.Ended != nil:
			t.Fatalf("the call ended without a question: %q, %v", ev.Ended.Result.Text(), ev.Ended.Err)
		case ev.Question != nil:
			return e, ev.Question
		}
	}
}

func endOf(t *testing.T, e tool.Execution) *tool.Outcome {
	t.Helper()
	for {
		ev, err := e.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if ev.Ended != nil {
			return ev.Ended
		}
	}
}

var threeReds = tool.Answer{Person: &tool.PersonAnswer{Action: tool.PersonAccept, Content: json.RawMessage(`{"color":"red","count":3}`)}}

// A client answers the questions of a real plugin, for a person and for a model. Without the
// operator's permission, or at a caller without a person, the tool gets unsupported.
func TestAskedByAPlugin(t *testing.T) {
	h := withAsker(t, "[person, model]")
	h.serve(t)
	c := h.dial(t)
	e, q := openAsking(t, c, "", "ask_person", "Which ones?", "")
	if q.Plugin != "askplugin" || q.Person.Message != "Which ones?" {
		t.Errorf("the question is %+v", q)
	}
	key := tool.CallKey{ID: q.CallID}
	wrong := tool.Answer{Person: &tool.PersonAnswer{Action: tool.PersonAccept, Content: json.RawMessage(`{"color":"red","count":"many"}`)}}
	if err := c.AnswerQuestion(t.Context(), key, q.ID, wrong); tool.KindOf(err) != tool.KindInvalidArgument || !strings.Contains(err.Error(), "count") {
		t.Errorf("an answer that does not fit: got %v", err)
	}
	if err := c.AnswerQuestion(t.Context(), key, q.ID, threeReds); err != nil {
		t.Fatal(err)
	}
	if out := endOf(t, e); out.Result.Text() != `the person chose {"color":"red","count":3}` {
		t.Errorf("the tool said %q (%v)", out.Result.Text(), out.Err)
	}
	e, q = openAsking(t, c, "", "ask_model", "Sum it up.", "")
	answer := tool.Answer{Model: &tool.ModelAnswer{Model: "m", Content: []tool.Content{tool.Text("short")}}}
	if err := c.AnswerQuestion(t.Context(), tool.CallKey{ID: q.CallID}, q.ID, answer); err != nil {
		t.Fatal(err)
	}
	if out := endOf(t, e); out.Result.Text() != "the model said: short" {
		t.Errorf("the tool said %q (%v)", out.Result.Text(), out.Err)
	}
	r := h.do(t, "call", "ask_person", `{"message":"Which ones?"}`, "--stream")
	if r.code != 3 || !strings.Contains(r.stderr, "may ask a person") || !strings.Contains(r.stderr, "unsupported") {
		t.Errorf("a command without a terminal ended with %d and says %q", r.code, r.stderr)
	}
}

func TestAskingNeedsPermission(t *testing.T) {
	h := withAsker(t, "[model]")
	h.serve(t)
	out, err := h.dial(t).Call(t.Context(), tool.Call{
		Tool: "ask_person", Arguments: []byte(`{"message":"Which ones?"}`), Answers: []tool.QuestionKind{tool.QuestionPerson},
	})
	if tool.KindOf(err) != tool.KindUnsupported {
		t.Errorf("got %q, %v, want unsupported", out.Result.Text(), err)
	}
}

// A toolhost that is killed while a question is open does not execute the call again, although its
// tool is read_only.
func TestToolhostKilledWithAnOpenQuestion(t *testing.T) {
	h := withAsker(t, "[person]")
	h.serve(t)
	file := filepath.Join(h.workspace, "executions")
	_, q := openAsking(t, h.dial(t), "once", "ask_person", "Delete all?", file)
	if err := h.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-h.exited
	h.serve(t)
	c := h.dial(t)
	arguments, err := json.Marshal(map[string]string{"message": "Delete all?", "file": file})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Call(t.Context(), tool.Call{ID: "once", Tool: "ask_person", Arguments: arguments}); tool.KindOf(err) != tool.KindOutcomeUnknown {
		t.Errorf("the repeated call: got %v, want outcome_unknown", err)
	}
	if err := c.AnswerQuestion(t.Context(), tool.CallKey{ID: "once"}, q.ID, threeReds); tool.KindOf(err) != tool.KindNotFound {
		t.Errorf("an answer: got %v, want not_found", err)
	}
	executions, err := os.ReadFile(file)
	if err != nil || strings.Count(string(executions), "\n") != 1 {
		t.Errorf("the tool was executed %q (%v)", executions, err)
	}
}
