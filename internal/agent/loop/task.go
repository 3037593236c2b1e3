package loop

import "encoding/json"

// Task describes a run to start. Only Prompt is required.
type Task struct {
	Prompt       string
	RunID        string // 1 to 64 of A-Z a-z 0-9 _ -; empty: generated
	SystemPrompt string // empty: the agent's default
	Session      string // the session of tool calls; empty: the run's id
	Kind         string // a name in Config.Kinds; empty: none
	Tools        ToolChoice
	Limits       Limits  // 0: the agent's default
	People       *People // nil: the agent's default
	Foreground   bool    // the run belongs to this process; Resume skips it

	// Context is the run's initial context, by key. See State.Context.
	Context map[string]json.RawMessage
	// SystemTools are the system tools that the model is offered. Nil means the agent's default.
	SystemTools []string
	// ExplicitCompletion means that the run succeeds only when the model calls attempt_completion.
	// The model gets reminders, and after three responses without a call the run pauses. Nil means
	// the agent's default.
	ExplicitCompletion *bool
	// Traceparent is the W3C trace context of the caller. If it is empty or ill-formed, the run
	// begins a new trace.
	Traceparent string
	// Parent is set for a sub-run, and Effects are then the rules of the parent. Nil Effects follow
	// from Context.
	Parent  *Parent
	Effects *EffectRules
	// Window says when the conversation is compacted. Zero fields mean the agent's defaults.
	Window Window
	// SubRuns is how many levels of sub-runs there may be below the run. 0 means the agent's
	// default; less than 0 means none.
	SubRuns int
}
