package loop

import (
	"encoding/json"
	"strings"

	"github.com/toolhost/toolhost/tool"
)

// nextSystem returns what is to be done for a call that the state alone can answer; ok is false for any other, which is
// carried out like a plugin's. No record means that the call waits for its siblings.
func (s planner) nextSystem(c *callState) (record Payload, ok bool) {
	switch c.System {
	case SystemAskUser:
		return s.askUser(c), true
	case SystemAttemptCompletion:
		return s.complete(c), true
	case SystemCompact:
		return s.compactCall(c), true
	case SystemNewTask:
		if _, wrong := s.started.parseTask(&c.Call); wrong != "" {
			return errorResult(&c.Call, wrong), true
		}
	case SystemToolSearch:
		if _, wrong := ParseSearch(&c.Call); wrong != "" {
			return errorResult(&c.Call, wrong), true
		}
	}
	return nil, false
}

func (s planner) askUser(c *callState) Payload {
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
	d := s.request(DecideQuestion, &c.Call, in.Question, s.started.People.Expiry)
	d.Options = in.Options
	return d
}

// complete answers an attempt to complete the run, once all other calls of the batch have their results: a model that
// has not seen them cannot know that it is done.
func (s planner) complete(c *callState) Payload {
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

// compactCall answers a wish to have the conversation summed up, which happens when the batch is complete.
func (s planner) compactCall(c *callState) Payload {
	words := "There is nothing yet that a summary could replace."
	if replaceable(s.messages, 1) > 0 {
		words = "What was said before this response is summed up now."
	}
	return &CallResult{CallID: c.ID, Tool: c.Tool, Result: tool.TextResult(words)}
}

// concludeSystem draws the conclusions from a result of one of the agent's own tools.
func (s judge) concludeSystem(c *callState) {
	switch c.System {
	case SystemCompact:
		if !c.result.Result.IsError && replaceable(s.messages, 1) > 0 {
			s.window.summaryWanted = reasonAsked
		}
	case SystemToolSearch:
		s.remember(&c.result.Result)
	}
}
