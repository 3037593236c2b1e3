package loop

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/tool"
)

// Delegate is an agent to which a run may delegate.
type Delegate struct {
	Name string `json:"name"` // in the configuration
	// Description tells the model what the agent is for. May be empty.
	Description string `json:"description,omitempty"`
}

// checkDelegate returns a message for the model if the run cannot delegate to an agent.
func (r *RunStarted) checkDelegate(name string) string {
	known := slices.ContainsFunc(r.Delegates, func(d Delegate) bool { return d.Name == name })
	switch {
	case known, len(r.Delegates) == 0 && name == "":
		return ""
	case len(r.Delegates) == 0:
		return "There are no agents to choose from; leave agent out."
	}
	names := make([]string, len(r.Delegates))
	for i, d := range r.Delegates {
		names[i] = d.Name
	}
	if name == "" {
		return "Name the agent that does the task: " + strings.Join(names, ", ") + "."
	}
	return fmt.Sprintf("There is no agent %q for this task; there are %s.", Clip(name), strings.Join(names, ", "))
}

// delegatingSpec returns the spec of new_task for a run with delegates: the model has to choose one
// of them.
func (r *RunStarted) delegatingSpec(spec tool.Spec) tool.Spec {
	var about strings.Builder
	names := make([]string, len(r.Delegates))
	about.WriteString("The agent that does the task.")
	for i, d := range r.Delegates {
		names[i] = d.Name
		if d.Description != "" {
			about.WriteString(" " + d.Name + ": " + strings.TrimRight(d.Description, ". \n") + ".")
		}
	}
	spec.Description = "Hand a self-contained part of the work to another agent, which has its own instructions and tools and knows nothing " +
		"of this conversation. You get its final answer and nothing else. Several calls in one response work at the same time."
	var schema struct {
		Type                 string                     `json:"type"`
		Properties           map[string]json.RawMessage `json:"properties"`
		Required             []string                   `json:"required"`
		AdditionalProperties bool                       `json:"additionalProperties"`
	}
	if json.Unmarshal(spec.InputSchema, &schema) != nil {
		return spec // impossible: the schema is a constant
	}
	schema.Properties["agent"], _ = json.Marshal(map[string]any{"type": "string", "enum": names, "description": about.String()})
	schema.Properties["tools"], _ = json.Marshal(map[string]any{
		"type": "array", "items": map[string]any{"type": "string"}, "description": "Names of the only tools that it may use. Default: all that the agent has.",
	})
	schema.Required = append([]string{"agent"}, schema.Required...)
	spec.InputSchema, _ = json.Marshal(schema) // texts always marshal
	return spec
}
