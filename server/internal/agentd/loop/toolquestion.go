package loop

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// A tool can ask a person or a model while its call runs at toolhost. A question for a person is a
// decision of the run, and a question for a model is a model request of the run. Both end with a
// reply in the state of the call, which the driver sends to toolhost. The reply is in the journal
// before it is sent. So a process that continues the run sends it again, and toolhost ignores a
// second one.

// ToolQuestion is what the tool of a running call asks a person.
type ToolQuestion struct {
	ID     uint32 `json:"question"` // at toolhost, within the call that was sent
	Plugin string `json:"plugin"`   // the plugin that asks
	// Schema is the JSON Schema of the answer, of type object.
	Schema json.RawMessage `json:"schema"`
	// Expires is when toolhost gives the question up. Zero: it is not known.
	Expires time.Time `json:"expire_time,omitzero"`
}

// ModelReplied is the response of the run's model to a question of a tool, or why there is none.
type ModelReplied struct {
	CallID   string            `json:"call_id"`
	Tool     string            `json:"tool"`
	Plugin   string            `json:"plugin"`
	Question uint32            `json:"question"` // see ToolQuestion.ID
	Answer   *tool.ModelAnswer `json:"answer,omitempty"`
	Failure  *Failure          `json:"error,omitempty"`
	Usage    tool.Usage        `json:"usage,omitzero"` // including failed attempts
	Cost     float64           `json:"cost,omitempty"`
}

// Type implements Payload.
func (*ModelReplied) Type() Type { return TypeModelReplied }

// Replies returns the answers to the questions of a running call, by question. The caller must not
// change the map.
func (b *Batch) Replies(callID string) map[uint32]tool.Answer {
	if c := b.find(callID); c != nil && c.running() {
		return c.replies
	}
	return nil
}

// onQuestion returns the pending decision about a question of a call, or nil.
func (p *people) onQuestion(callID string, question uint32) *Pending {
	i := slices.IndexFunc(p.decisions, func(d Pending) bool {
		return d.Kind == DecideTool && d.CallID == callID && d.Question.ID == question
	})
	if i < 0 {
		return nil
	}
	return &p.decisions[i]
}

// waitsForAnswer reports whether a decision about a question of a call is pending.
func (p *people) waitsForAnswer(callID string) bool {
	return slices.ContainsFunc(p.decisions, func(d Pending) bool { return d.Kind == DecideTool && d.CallID == callID })
}

// WaitsForPerson reports whether a call only waits for a person: for the answer to a question of
// its tool, or for a decision in its sub-run or below.
func (s *State) WaitsForPerson(callID string) bool {
	return s.batch.waitsBelow(callID) || s.people.waitsForAnswer(callID)
}

// AskPerson returns the event that follows when the tool of a running call asks a person. It
// returns nil if the question has its reply, or is pending. refused is why toolhost refused the
// last answer; empty: it refused none.
func (s *State) AskPerson(callID string, q *tool.Question, refused string) *DecisionRequested {
	c := s.batch.find(callID)
	if c == nil || !c.running() || s.cancel != nil || s.people.onQuestion(callID, q.ID) != nil {
		return nil
	}
	if _, replied := c.replies[q.ID]; replied && refused == "" {
		return nil
	}
	d := s.people.request(DecideTool, &c.Call, q.Person.Message, s.started.People.Expiry)
	if refused != "" {
		d.Reason += "\n(The last answer was refused: " + refused + ")"
	}
	d.Question = &ToolQuestion{ID: q.ID, Plugin: q.Plugin, Schema: q.Person.Schema, Expires: q.Expires}
	return d
}

// MayComplete returns why the run must not request a model for a tool, or nil: the run is canceled
// or one of its budgets is used up.
func (s *State) MayComplete() *tool.Error {
	if s.cancel != nil {
		return tool.Errorf(tool.KindCancelled, "the run was cancelled")
	}
	if over := s.budget.overrun(&s.started.Limits); over != nil {
		return tool.Errorf(tool.KindRateLimited, "the run has used up a budget: %s", s.budget.exhaustedMessage(&s.started.Limits, over.budget))
	}
	return nil
}

// AnswerTokens returns the limit of a response that a tool requests with a limit of its own. 0
// means the default of the model's provider.
func (s *State) AnswerTokens(wanted int) int {
	most := s.started.Limits.MaxResponseTokens
	if wanted > 0 && (most == 0 || wanted < most) {
		return wanted
	}
	return most
}

func (s *State) applyModelReplied(p *ModelReplied) error {
	c := s.batch.find(p.CallID)
	if c == nil || !c.running() || (p.Answer == nil) == (p.Failure == nil) {
		return fmt.Errorf("event %d answers a question of call %s, which does not ask", s.seq, p.CallID)
	}
	answer := tool.Answer{Model: p.Answer}
	if p.Failure != nil {
		answer = tool.Answer{Err: p.Failure.AsError("")}
	}
	c.reply(p.Question, answer)
	s.budget.usage = s.budget.usage.Add(p.Usage)
	s.budget.cost += p.Cost
	s.budget.spent.addTokens(p.Usage)
	s.budget.spent.cost += p.Cost
	return nil
}

// reply stores the answer to a question. Callers of Replies have the earlier map, so reply replaces
// it.
func (c *callState) reply(question uint32, answer tool.Answer) {
	replies := maps.Clone(c.replies)
	if replies == nil {
		replies = map[uint32]tool.Answer{}
	}
	replies[question] = answer
	c.replies = replies
}

// askAgain removes the reply to a question whose answer toolhost has refused.
func (c *callState) askAgain(question uint32) {
	c.replies = maps.Clone(c.replies)
	delete(c.replies, question)
}

// answerOf returns the answer to a tool that a decision is.
func (d *DecisionMade) answerOf(q *ToolQuestion) tool.Answer {
	switch d.Verdict {
	case VerdictAnswer:
		content, err := AnswerContent(q.Schema, d.Text)
		if err != nil { // fits has refused it
			return tool.Answer{Err: tool.Errorf(tool.KindInternal, "%w", err)}
		}
		return tool.Answer{Person: &tool.PersonAnswer{Action: tool.PersonAccept, Content: content}}
	case VerdictReject:
		return tool.Answer{Person: &tool.PersonAnswer{Action: tool.PersonDecline}}
	default:
		return tool.Answer{Err: tool.Errorf(tool.KindTimeout, "no answer came in time")}
	}
}

// AnswerContent returns the object for a tool that a person's text is: the text itself if it is a
// JSON object, or, if the schema has one property and that is a text, an object with the text.
// toolhost checks the object against the schema.
func AnswerContent(schema json.RawMessage, text string) (json.RawMessage, error) {
	var root struct {
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
	}
	_ = json.Unmarshal(schema, &root) // a schema of another form has no single text
	trimmed := strings.TrimSpace(text)
	if strings.HasPrefix(trimmed, "{") && json.Valid([]byte(trimmed)) {
		return json.RawMessage(trimmed), nil
	}
	for name, property := range root.Properties {
		if len(root.Properties) > 1 || property.Type != "string" {
			break
		}
		return json.Marshal(map[string]string{name: text})
	}
	return nil, errors.New("the answer must be a JSON object that fits the schema of the question")
}
