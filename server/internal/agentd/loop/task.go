package loop

import (
	"encoding/json"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// Task describes a run to start. Only Prompt is required.
type Task struct {
	Prompt       string
	RunID        string // 1 to 64 of A-Z a-z 0-9 _ -; empty: generated
	SystemPrompt string // empty: the agent's default
	Session      string // the session of tool calls; empty: the run's id
	Agent        string // a name in Config.Agents; empty: Config.DefaultAgent
	Model        string // a name in Config.Models; empty: the models of the agent
	Sampling     model.Sampling
	Tools        ToolChoice
	Limits       Limits  // 0: the agent's default
	People       *People // nil: the agent's default
	Foreground   bool    // the run belongs to this process; Resume skips it

	// Attachments go with Prompt.
	Attachments []NewAttachment

	// Principal is the key of the principal that the run belongs to, and Groups are its groups. The
	// component that accepts the connection sets them; a caller cannot. Empty: the agent's own.
	Principal string
	Groups    []string

	// Confined means that the run must stay within its agent. A task is then denied unless every field
	// that the agent defines is unset, as the agent has it, or narrower.
	Confined bool

	// Context is the run's initial context, by key. See State.Context.
	Context map[string]json.RawMessage
	// SystemTools are the system tools that the model is offered. Nil means the agent's default.
	SystemTools []string
	// ExplicitCompletion means that the run succeeds only when the model calls attempt_completion.
	// The model gets reminders, and after three responses without a call the run pauses. Nil means
	// the agent's default.
	ExplicitCompletion *bool
	// ResponseSchema is the JSON Schema of the answer, of type object. Empty: the answer is text.
	ResponseSchema json.RawMessage
	// Traceparent is the W3C trace context of the caller. If it is empty or ill-formed, the run
	// begins a new trace.
	Traceparent string
	// Parent is set for a sub-run, and Effects are then the rules of the parent. Nil Effects follow
	// from Context.
	Parent  *Parent
	Effects *EffectRules
	// Like is the first event of the parent if the sub-run has the agent, the models, the sampling and
	// the delegates of its parent.
	Like *RunStarted
	// Variables are RunStarted.Variables of a sub-run.
	Variables map[string]json.RawMessage
	// Restricted is RunStarted.Restricted of the parent of a sub-run. For all other runs, it follows
	// from Tools. RestrictedSystem is the same for SystemTools.
	Restricted       ToolChoice
	RestrictedSystem []string
	// Ledger is LedgerAtBackup of the parent.
	Ledger string
	// Window says when the conversation is compacted. Zero fields mean the agent's defaults.
	Window Window
	// SubRuns is how many levels of sub-runs there may be below the run. 0 means the agent's
	// default; less than 0 means none.
	SubRuns int
}
