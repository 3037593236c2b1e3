package hosttest

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// maxAnswer bounds the content of an answer to a Fake.
const maxAnswer = 256 << 10

// openQuestion is a question of a Fake's tool that has no answer yet.
type openQuestion struct {
	kind   tool.QuestionKind
	answer chan tool.Answer // of capacity 1
}

// ask is the Asker of a call. The schema of a person's answer is always that of one text.
func (e *execution) ask(ctx context.Context, q *tool.Question) (tool.Answer, error) {
	if !slices.Contains(e.call.Answers, q.Kind()) {
		return tool.Answer{}, tool.Errorf(tool.KindUnsupported, "the caller cannot ask a %s", q.Kind())
	}
	asked := *q
	asked.CallID, asked.Plugin, asked.Tool, asked.Expires = e.call.ID, PluginName, e.tool.Spec.Name, time.Now().Add(time.Hour)
	if asked.Person != nil {
		asked.Person.Schema = json.RawMessage(`{"type":"object","properties":{"answer":{"type":"string"}},"required":["answer"],"additionalProperties":false}`)
	}
	open := openQuestion{q.Kind(), make(chan tool.Answer, 1)}
	e.mutex.Lock()
	e.asked++
	asked.ID = e.asked
	if e.open == nil {
		e.open = map[uint32]openQuestion{}
	}
	e.open[asked.ID] = open
	e.mutex.Unlock()
	e.emit(tool.Event{Question: &asked})
	select {
	case answer := <-open.answer:
		return answer, nil
	case <-ctx.Done():
		e.take(asked.ID, tool.QuestionAbandoned)
		return tool.Answer{}, ctx.Err()
	}
}

// take closes a question. It returns false if the question is not open.
func (e *execution) take(id uint32, reason tool.QuestionEnd) (openQuestion, bool) {
	e.mutex.Lock()
	open, ok := e.open[id]
	delete(e.open, id)
	e.mutex.Unlock()
	if ok {
		e.emit(tool.Event{Closed: &tool.QuestionClosed{ID: id, Reason: reason}})
	}
	return open, ok
}

// AnswerQuestion answers a question of a call.
func (f *Fake) AnswerQuestion(_ context.Context, key tool.CallKey, question uint32, answer tool.Answer) error {
	e, err := f.find(key)
	if err != nil {
		return err
	}
	e.mutex.Lock()
	open, ok := e.open[question]
	e.mutex.Unlock()
	if ok && !fits(open.kind, answer) {
		return tool.Errorf(tool.KindInvalidArgument, "the answer does not fit question %d", question)
	}
	if open, ok = e.take(question, tool.QuestionAnswered); !ok {
		return tool.Errorf(tool.KindNotFound, "there is no open question %d", question)
	}
	open.answer <- answer
	return nil
}

func fits(kind tool.QuestionKind, a tool.Answer) bool {
	switch {
	case a.Err != nil:
		return true
	case a.Roots != nil:
		return kind == tool.QuestionRoots
	case a.Model != nil:
		return kind == tool.QuestionModel
	case a.Person == nil || kind != tool.QuestionPerson || len(a.Person.Content) > maxAnswer:
		return false
	case a.Person.Action != tool.PersonAccept:
		return a.Person.Action != "" && len(a.Person.Content) == 0
	}
	var text struct {
		Answer *string `json:"answer"`
	}
	d := json.NewDecoder(bytes.NewReader(a.Person.Content))
	d.DisallowUnknownFields()
	return d.Decode(&text) == nil && text.Answer != nil
}
