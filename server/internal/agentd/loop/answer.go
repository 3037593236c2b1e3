package loop

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/markup"
	"github.com/toolhost/toolhost/tool"
)

// A run with a response schema ends with an answer: a JSON object that fits the schema. Programs
// read it, so what RunFinished.Result has always fits.
//
// The model gives the answer as the text of a response without calls, or as the arguments of the
// system tool final_answer. The driver compares the answer with the schema before it appends the
// response, and the response's event has the verdict. So the state needs no validator, and a run
// that continues in another process, perhaps with another version of the validator, reaches the
// same end. The state only counts: a wrong answer goes back to the model with its problems, at most
// maxRepairs times.

// maxRepairs is how often the model may correct its answer. A model that failed three times with
// the same problems before it rarely succeeds the fourth time.
const maxRepairs = 2

const (
	acceptedAnswer   = "The answer was accepted."
	secondAnswer     = "[not run] A response can give one final answer. The first one counts."
	incompleteAnswer = "[not completed] Another call of the same response failed. Look at its result first."
	cutAnswerMessage = "Your response was cut at its token limit. Write the whole answer again, shorter if possible."
	wrongAnswer      = "[invalid answer] The answer was not accepted: %s\nCorrect it, and give the whole answer again."
	noAnswer         = "the answer of this run is a JSON object that fits its schema, and the response had none."
	notRepaired      = "the answer did not fit the response schema, also after %d repairs: %s"
)

// Answer is the verdict on the answer that a response gives.
type Answer struct {
	// CallID is the call of final_answer whose arguments are the answer. Empty: the text of the
	// response is the answer.
	CallID string `json:"call_id,omitempty"`
	// Problem tells the model why the answer does not fit the schema. Empty: it fits.
	Problem string `json:"problem,omitempty"`
}

// answering is what a run with a response schema knows of its answer. The zero value has none.
type answering struct {
	verdict *Answer         // on the last response, until its calls have results
	result  json.RawMessage // the answer that ends the run; nil: none
	repairs int             // wrong answers since the run (re)started
}

// AnswerIn returns the text of the answer that a response gives: the arguments of its first call of
// final_answer, whose index among the calls it returns, or else the text of a response without
// calls, with the index -1. The text is without thoughts before it and without the one code fence
// around it, which models add although the answer is the whole text. ok is false if the response
// gives no answer.
func AnswerIn(m *model.Message) (text string, index int, ok bool) {
	var whole strings.Builder
	calls := 0
	for _, block := range m.Blocks {
		switch {
		case block.ToolCall != nil && block.ToolCall.Name == SystemFinalAnswer:
			return cmp.Or(strings.TrimSpace(block.ToolCall.Arguments), "{}"), calls, true
		case block.ToolCall != nil:
			calls++
		case block.Text != nil:
			whole.WriteString(block.Text.Text) // a provider may cut the text between any two characters
		}
	}
	text = strings.TrimSpace(markup.Unfenced(markup.Plain(whole.String())))
	return text, -1, calls == 0 && strings.TrimSpace(whole.String()) != ""
}

// structured reports whether the run ends with an answer that fits a schema.
func (r *RunStarted) structured() bool { return len(r.ResponseSchema) > 0 }

// AnswersBySchema returns the system tools without final_answer, for a request that has the
// response schema itself.
func AnswersBySchema(offered []tool.Spec) []tool.Spec {
	return slices.DeleteFunc(offered, func(spec tool.Spec) bool { return spec.Name == SystemFinalAnswer })
}

// finalAnswerSpec returns the spec of final_answer for a schema.
func finalAnswerSpec(schema json.RawMessage) tool.Spec {
	return tool.Spec{
		Name: SystemFinalAnswer,
		Description: "Give the answer of the task, and end the work on it. The arguments are the answer; no other text is read. " +
			"Call it alone, after you have seen that what you did has worked.",
		InputSchema: schema,
		ReadOnly:    true,
	}
}

// judgeText decides what a response without calls means for a run with a response schema.
func (s *State) judgeText() {
	problem := noAnswer
	if s.answering.verdict != nil {
		problem = s.answering.verdict.Problem
	}
	if problem == "" {
		text, _, _ := AnswerIn(&s.conversation.messages[len(s.conversation.messages)-1])
		s.acceptAnswer(text)
		return
	}
	if s.rejectAnswer(problem); s.stop == "" {
		s.conversation.pushUser(textBlock(fmt.Sprintf(wrongAnswer, problem)))
	}
}

// answerCall returns the result of a call of final_answer after all other calls have results. A
// model that has not seen the results cannot know that its answer is right.
func (s *State) answerCall(c *callState) Payload {
	switch {
	case s.answering.verdict == nil || s.answering.verdict.CallID != c.ID:
		return errorResult(&c.Call, secondAnswer)
	case s.answering.verdict.Problem != "":
		return errorResult(&c.Call, fmt.Sprintf(wrongAnswer, s.answering.verdict.Problem))
	}
	for i := range s.batch.list {
		other := &s.batch.list[i]
		if other.System == SystemFinalAnswer {
			continue
		}
		if other.result == nil {
			return nil
		}
		if other.result.Result.IsError {
			return errorResult(&c.Call, incompleteAnswer)
		}
	}
	return &CallResult{CallID: c.ID, Tool: c.Tool, Result: tool.TextResult(acceptedAnswer)}
}

// concludeAnswer applies the result of a call of final_answer to the run.
func (s *State) concludeAnswer() {
	if s.answering.verdict == nil || s.answering.verdict.CallID == "" || s.stop != "" {
		return
	}
	c := s.batch.find(s.answering.verdict.CallID)
	switch {
	case c == nil:
	case s.answering.verdict.Problem != "":
		s.rejectAnswer(s.answering.verdict.Problem)
	case !c.result.Result.IsError:
		s.acceptAnswer(cmp.Or(strings.TrimSpace(c.Arguments), "{}"))
	}
}

// acceptAnswer ends the run with an answer that fits the schema.
func (s *State) acceptAnswer(text string) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(text)); err != nil {
		s.rejectAnswer(err.Error()) // a journal that agentd did not write
		return
	}
	s.answering.result = compact.Bytes()
	s.stop, s.text = StopCompleted, compact.String()
}

// rejectAnswer counts a wrong answer, and ends the run if the model may not correct it again.
func (s *State) rejectAnswer(problem string) {
	if s.answering.repairs++; s.answering.repairs > maxRepairs {
		s.stop, s.stopMessage = StopInvalidAnswer, fmt.Sprintf(notRepaired, maxRepairs, problem)
	}
}

// answersAlone reports whether the last response only gives an answer that fits.
func (s *State) answersAlone() bool {
	return len(s.batch.list) == 1 && s.answering.verdict != nil && s.answering.verdict.Problem == "" && s.answering.verdict.CallID == s.batch.list[0].ID
}
