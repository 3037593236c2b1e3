package hosttest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/tool"
)

// asking opens a call of the tool ask, and returns it with the question.
func asking(t *testing.T, h Host, id string, kind tool.QuestionKind) (tool.Execution, *tool.Question) {
	t.Helper()
	c := named(id, "ask", fmt.Sprintf(`{"kind":%q,"message":"Which one?"}`, kind))
	c.Answers = []tool.QuestionKind{tool.QuestionPerson, tool.QuestionModel}
	e := open(t, h, c, true)
	for {
		ev, err := e.Next(bounded(t))
		switch {
		case err != nil:
			t.Fatal(err)
		case ev.Started != nil && !slices.Contains(ev.Started.Asks, kind):
			t.Errorf("the call starts with the permission to ask %v", ev.Started.Asks)
		case ev.Ended != nil:
			t.Fatalf("the call ended without a question: %+v", ev.Ended)
		case ev.Question != nil:
			q := ev.Question
			if q.ID == 0 || q.CallID != id || q.Plugin != PluginName || q.Tool != "ask" || q.Kind() != kind || q.Expires.IsZero() {
				t.Errorf("the question is %+v", q)
			}
			return e, q
		}
	}
}

// ended returns the outcome of a call with a question, which must close first for a reason.
func ended(t *testing.T, e tool.Execution, q *tool.Question, want tool.QuestionEnd) tool.Outcome {
	t.Helper()
	closed := tool.QuestionEnd("")
	for _, ev := range drain(t, e) {
		if ev.Closed != nil && ev.Closed.ID == q.ID {
			closed = ev.Closed.Reason
		}
		if ev.Ended != nil {
			if closed != want {
				t.Errorf("the question closed with %q, want %q", closed, want)
			}
			return *ev.Ended
		}
	}
	return tool.Outcome{}
}

func person(action tool.PersonAction, content string) tool.Answer {
	return tool.Answer{Person: &tool.PersonAnswer{Action: action, Content: json.RawMessage(content)}}
}

// A question for a person stays open until an answer fits, and takes one answer.
func testAskPerson(t *testing.T, h Host) {
	key := tool.CallKey{ID: "ask-1"}
	e, q := asking(t, h, key.ID, tool.QuestionPerson)
	if q.Person.Message != "Which one?" || !json.Valid(q.Person.Schema) {
		t.Errorf("a person is asked %+v", q.Person)
	}
	for name, wrong := range map[string]tool.Answer{
		"nothing":               {},
		"no action":             person("", ""),
		"no content":            person(tool.PersonAccept, ""),
		"another type":          person(tool.PersonAccept, `{"answer":7}`),
		"an undeclared value":   person(tool.PersonAccept, `{"answer":"a","more":1}`),
		"content of a decline":  person(tool.PersonDecline, `{"answer":"a"}`),
		"the answer of a model": {Model: &tool.ModelAnswer{Content: []tool.Content{tool.Text("a")}}},
		"too much":              person(tool.PersonAccept, `{"answer":"`+strings.Repeat("x", 1<<20)+`"}`),
	} {
		if err := h.AnswerQuestion(bounded(t), key, q.ID, wrong); tool.KindOf(err) != tool.KindInvalidArgument {
			t.Errorf("%s: got %v, want invalid_argument", name, err)
		}
	}
	if err := h.AnswerQuestion(bounded(t), key, q.ID, person(tool.PersonAccept, `{"answer":"the \u001b[31m red one"}`)); err != nil {
		t.Fatal(err)
	}
	if err := h.AnswerQuestion(bounded(t), key, q.ID, person(tool.PersonDecline, "")); tool.KindOf(err) != tool.KindNotFound {
		t.Errorf("a second answer: got %v, want not_found", err)
	}
	out := ended(t, e, q, tool.QuestionAnswered)
	if got, want := out.Result.Text(), `accept {"answer":"the \u001b[31m red one"}`; out.Err != nil || got != want {
		t.Errorf("the tool got %q (%v), want %q", got, out.Err, want)
	}
	e, q = asking(t, h, "ask-2", tool.QuestionPerson)
	if err := h.AnswerQuestion(bounded(t), tool.CallKey{ID: "ask-2"}, q.ID, person(tool.PersonDecline, "")); err != nil {
		t.Fatal(err)
	}
	if out := ended(t, e, q, tool.QuestionAnswered); out.Result.Text() != "decline " {
		t.Errorf("the tool got %q, want a decline", out.Result.Text())
	}
}

// A caller can answer for a model, also with an error.
func testAskModel(t *testing.T, h Host) {
	e, q := asking(t, h, "model-1", tool.QuestionModel)
	if m := q.Model; m.MaxTokens != 7 || len(m.Messages) != 1 || m.Messages[0].Role != tool.ModelUser || m.Messages[0].Content[0].Text != "Which one?" {
		t.Errorf("a model is asked %+v", q.Model)
	}
	answer := tool.Answer{Model: &tool.ModelAnswer{Model: "m1", Content: []tool.Content{tool.Text("this")}, StopReason: "end_turn"}}
	if err := h.AnswerQuestion(bounded(t), tool.CallKey{ID: "model-1"}, q.ID, answer); err != nil {
		t.Fatal(err)
	}
	if out := ended(t, e, q, tool.QuestionAnswered); out.Result.Text() != "m1: this" {
		t.Errorf("the tool got %q", out.Result.Text())
	}
	e, q = asking(t, h, "model-2", tool.QuestionModel)
	refused := tool.Answer{Err: tool.Errorf(tool.KindRateLimited, "the budget is used up")}
	if err := h.AnswerQuestion(bounded(t), tool.CallKey{ID: "model-2"}, q.ID, refused); err != nil {
		t.Fatal(err)
	}
	if out := ended(t, e, q, tool.QuestionAnswered); out.Result.Text() != "rate_limited" {
		t.Errorf("the tool got %q", out.Result.Text())
	}
}

// A tool whose caller answers nothing gets the error at once.
func testAskWithoutCaller(t *testing.T, h Host) {
	for kind, answers := range map[string][]tool.QuestionKind{"person": {tool.QuestionModel}, "model": nil} {
		c := call("ask", fmt.Sprintf(`{"kind":%q,"message":"Which one?"}`, kind))
		c.Answers = answers
		if out := do(t, h, c); out.Err != nil || out.Result.Text() != "unsupported" {
			t.Errorf("a %s is asked: the tool got %q (%v), want unsupported", kind, out.Result.Text(), out.Err)
		}
	}
}

// Answers without an open question are refused.
func testAnswerNothing(t *testing.T, h Host) {
	answer := person(tool.PersonDecline, "")
	if out := do(t, h, named("quiet", "echo", `{"text":"a"}`)); out.Err != nil {
		t.Fatal(out.Err)
	}
	e, q := asking(t, h, "cancelled", tool.QuestionPerson)
	for name, at := range map[string]struct {
		key      tool.CallKey
		question uint32
		want     tool.Kind
	}{
		"no such call":       {tool.CallKey{ID: "none"}, 1, tool.KindNotFound},
		"no question":        {tool.CallKey{ID: "quiet"}, 1, tool.KindNotFound},
		"another question":   {tool.CallKey{ID: "cancelled"}, q.ID + 1, tool.KindNotFound},
		"another session":    {tool.CallKey{ID: "cancelled", Session: "other"}, q.ID, tool.KindNotFound},
		"an id that is none": {tool.CallKey{ID: "a b"}, q.ID, tool.KindInvalidArgument},
	} {
		if err := h.AnswerQuestion(bounded(t), at.key, at.question, answer); tool.KindOf(err) != at.want {
			t.Errorf("%s: got %v, want %s", name, err, at.want)
		}
	}
	e.Cancel("enough")
	if out := ended(t, e, q, tool.QuestionAbandoned); out.Err == nil || out.Err.Kind != tool.KindCancelled {
		t.Errorf("the call ended with %v, want cancelled", out.Err)
	}
	if err := h.AnswerQuestion(bounded(t), tool.CallKey{ID: "cancelled"}, q.ID, answer); tool.KindOf(err) != tool.KindNotFound {
		t.Errorf("after the cancel: got %v, want not_found", err)
	}
}
