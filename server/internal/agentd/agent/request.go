package agent

import (
	"encoding/json"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// requested is what a caller asks for with StartRun. Its digest is in the journal, so that a
// repeated request is told from another one with the same run id. The journal itself cannot tell:
// it has what the configuration made of the request at that time.
//
// The run id is left out, and so is what belongs to the connection or differs each time a client
// sends the same request: the principal, its rights and the trace. The names and the order of the
// keys are in every digest of a journal. A new field needs omitzero, or all digests change.
type requested struct {
	Prompt             string                     `json:"prompt"`
	SystemPrompt       string                     `json:"system_prompt,omitempty"`
	Session            string                     `json:"session,omitempty"`
	Agent              string                     `json:"agent,omitempty"`
	Model              string                     `json:"model,omitempty"`
	Sampling           model.Sampling             `json:"sampling,omitzero"`
	Tools              loop.ToolChoice            `json:"tools,omitzero"`
	Limits             loop.Limits                `json:"limits,omitzero"`
	People             *loop.People               `json:"people,omitempty"`
	Attachments        []loop.NewAttachment       `json:"attachments,omitempty"`
	Context            map[string]json.RawMessage `json:"context,omitempty"`
	SystemTools        []string                   `json:"system_tools,omitzero"` // an empty list means none
	ExplicitCompletion *bool                      `json:"explicit_completion,omitempty"`
	ResponseSchema     json.RawMessage            `json:"response_schema,omitempty"`
	Window             loop.Window                `json:"window,omitzero"`
	SubRuns            int                        `json:"sub_runs,omitempty"`
}

// digestOfRequest returns the digest of a task, or nothing for a sub-run, whose call identifies it.
// The white space of JSON changes no digest.
func digestOfRequest(task *loop.Task) (string, error) {
	if task.Parent != nil {
		return "", nil
	}
	r := requested{
		Prompt: task.Prompt, SystemPrompt: task.SystemPrompt, Session: task.Session, Agent: task.Agent, Model: task.Model, Sampling: task.Sampling,
		Tools: task.Tools, Limits: task.Limits, People: task.People, Context: task.Context, SystemTools: task.SystemTools,
		ExplicitCompletion: task.ExplicitCompletion, ResponseSchema: task.ResponseSchema, Window: task.Window, SubRuns: task.SubRuns,
	}
	for _, f := range task.Attachments {
		if len(f.Data) > 0 {
			f.SHA256, f.Data = digestOf(f.Data), nil
		}
		r.Attachments = append(r.Attachments, f)
	}
	text, err := json.Marshal(r)
	if err != nil {
		return "", err
	}
	return digestOf(text), nil
}
