package loop

import "encoding/json"

// Task is what a run is to do. Only Prompt must be set.
type Task struct {
	Prompt       string
	RunID        string // 1 to 64 of A-Z a-z 0-9 _ -; empty: the agent makes one
	SystemPrompt string // empty: the agent's
	Session      string // in which tools are called; empty: the run's id
	Kind         string // a name of Config.Kinds, whose choice holds where Tools sets nothing; empty: none
	Tools        ToolChoice
	Limits       Limits  // 0: the agent's
	People       *People // nil: the agent's
	Foreground   bool    // the run belongs to this process: Resume leaves it alone

	// Context are the first values of the run's context, by key. See State.Context.
	Context map[string]json.RawMessage
	// SystemTools are the agent's own tools that the model is offered. Nil means the agent's choice.
	SystemTools []string
	// ExplicitCompletion says that the run ends well only when the model calls attempt_completion: it is reminded of
	// that, and after three responses without a call the run pauses. Nil: as the agent's.
	ExplicitCompletion *bool
	// Traceparent is the W3C trace context in which the run is started. Empty, or ill-formed: the run begins a trace.
	Traceparent string
	// Parent is set for a sub-run, and Effects are then the rules of the run above it. Nil: they follow from Context.
	Parent  *Parent
	Effects *EffectRules
	// Window says when the conversation is made smaller. 0: the agent's.
	Window Window
	// SubRuns is how many levels of sub-runs there may be below the run. 0: the agent's; less: none.
	SubRuns int
}
