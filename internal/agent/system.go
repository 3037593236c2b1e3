package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/tool"
)

// The names of the agent's own tools. A plugin's tool of the same name takes the place of one, in what the model is
// offered and in what is called.
const (
	SystemAskUser           = "ask_user"           // a question for a person; see DecideQuestion
	SystemAttemptCompletion = "attempt_completion" // ends the run
)

// systemSpecs returns what the model is told of the agent's own tools.
func systemSpecs() []tool.Spec {
	return []tool.Spec{
		{
			Name: SystemAskUser,
			Description: "Ask the user one question and wait for the answer. Use it only for what you cannot find out yourself " +
				"and cannot reasonably assume.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{` +
				`"question":{"type":"string","description":"The question, complete in itself."},` +
				`"options":{"type":"array","items":{"type":"string"},"description":"Answers that you propose. The user may give another."}},` +
				`"required":["question"],"additionalProperties":false}`),
			ReadOnly: true,
		},
		{
			Name: SystemAttemptCompletion,
			Description: "Say that the task is done, and present its result. Call it alone, after you have seen that what you did " +
				"has worked.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{` +
				`"result":{"type":"string","description":"The result of the task, as the user reads it."}},` +
				`"required":["result"],"additionalProperties":false}`),
			ReadOnly: true,
		},
	}
}

// checkSystemTools returns what is wrong with a choice of system tools, or nil.
func checkSystemTools(names []string) error {
	specs := systemSpecs()
	for _, name := range names {
		if !slices.ContainsFunc(specs, func(s tool.Spec) bool { return s.Name == name }) {
			return fmt.Errorf("there is no system tool %q", clip(name))
		}
	}
	return nil
}

// systemTools returns the agent's own tools that a run is offered beside those that plugins have: none that they replace,
// and no questions where nobody is there to answer.
func (r *RunStarted) systemTools(offered []tool.Info) []tool.Spec {
	var specs []tool.Spec
	for _, spec := range systemSpecs() {
		replaced := slices.ContainsFunc(offered, func(info tool.Info) bool { return info.Spec.Name == spec.Name })
		wanted := slices.Contains(r.SystemTools, spec.Name) || r.ExplicitCompletion && spec.Name == SystemAttemptCompletion
		if wanted && !replaced && (spec.Name != SystemAskUser || r.People.Attended) {
			specs = append(specs, spec)
		}
	}
	return specs
}

// nextSystem returns what is to be done for a call that the state alone can answer; ok is false for any other. No record
// means that the call waits for its siblings.
func (s *State) nextSystem(c *callState) (record Payload, ok bool) {
	switch c.System {
	case SystemAskUser:
		return s.askUser(c), true
	case SystemAttemptCompletion:
		return s.complete(c), true
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
	d := s.request(DecideQuestion, &c.Call, in.Question)
	d.Options = in.Options
	return d
}

// complete answers an attempt to complete the run, once all other calls of the batch have their results: a model that
// has not seen them cannot know that it is done.
func (s *State) complete(c *callState) Payload {
	for i := range s.batch {
		other := &s.batch[i]
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

// completed returns the result with which the complete batch ends the run, or nil.
func (s *State) completed() *CallResult {
	for i := range s.batch {
		if c := &s.batch[i]; c.System == SystemAttemptCompletion && !c.result.Result.IsError {
			return c.result
		}
	}
	return nil
}
