package loop

import (
	"encoding/json"
	"strings"

	"github.com/toolhost/toolhost/tool"
)

// nextSystem returns the next event of a call that the reducer can answer without the driver. ok is
// false for all other calls. A nil event means that the call waits for the other calls of the
// response.
func (s *State) nextSystem(c *callState) (record Payload, ok bool) {
	switch c.System {
	case SystemAskUser:
		return s.askUser(c), true
	case SystemAttemptCompletion:
		return s.complete(c), true
	case SystemFinalAnswer:
		return s.answerCall(c), true
	case SystemCompact:
		return s.compactCall(c), true
	case SystemNewTask:
		in, wrong := s.started.parseTask(&c.Call)
		if wrong == "" {
			_, wrong = s.conversation.passOn(in.Attachments)
		}
		if wrong != "" {
			return errorResult(&c.Call, wrong), true
		}
	case SystemToolSearch:
		if _, wrong := ParseSearch(&c.Call); wrong != "" {
			return errorResult(&c.Call, wrong), true
		}
	}
	return nil, false
}

func (s *State) askUser(c *callState) Payload {
	var in struct {
		Question string   `json:"question"`
		Options  []string `json:"options"`
	}
	if err := json.Unmarshal([]byte(c.Arguments), &in); err != nil || strings.TrimSpace(in.Question) == "" {
		return errorResult(&c.Call, `[invalid_argument] The arguments must be {"question": "…"}, with "options" as a list of strings if you propose answers.`)
	}
	if !s.started.People.Attended {
		return errorResult(&c.Call, headlessAsk)
	}
	d := s.people.request(DecideQuestion, &c.Call, in.Question, s.started.People.Expiry)
	d.Options = in.Options
	return d
}

// complete answers an attempt_completion call after all other calls have results. A model that has
// not seen the results cannot know that the task is done.
func (s *State) complete(c *callState) Payload {
	for i := range s.batch.list {
		other := &s.batch.list[i]
		if other.result == nil && other.System != SystemAttemptCompletion {
			return nil
		}
		if other.result != nil && other.result.Result.IsError {
			return errorResult(&c.Call, "[not completed] Another call of the same response failed. Look at its result first.")
		}
	}
	var in struct {
		Result string `json:"result"`
	}
	if err := json.Unmarshal([]byte(c.Arguments), &in); err != nil || strings.TrimSpace(in.Result) == "" {
		return errorResult(&c.Call, `[invalid_argument] The arguments must be {"result": "…"}.`)
	}
	return &CallResult{CallID: c.ID, Tool: c.Tool, Result: tool.TextResult(in.Result)}
}

// compactCall answers a compact_conversation call. The compaction follows when the batch is
// complete.
func (s *State) compactCall(c *callState) Payload {
	words := "There is nothing yet that a summary could replace."
	if replaceable(s.conversation.messages, 1) > 0 {
		words = "What was said before this response is summed up now."
	}
	return &CallResult{CallID: c.ID, Tool: c.Tool, Result: tool.TextResult(words)}
}

// concludeSystem applies the result of a system tool to the state.
func (s *State) concludeSystem(c *callState) {
	switch c.System {
	case SystemCompact:
		if !c.result.Result.IsError && replaceable(s.conversation.messages, 1) > 0 {
			s.window.summaryWanted = reasonAsked
		}
	case SystemToolSearch:
		s.searched.remember(&c.result.Result)
	}
}
