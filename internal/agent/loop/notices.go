package loop

import (
	"encoding/json"

	"github.com/toolhost/toolhost/tool"
)

// Budget names something that a run has only so much of.
type Budget string

// The budgets.
const (
	BudgetTurns    Budget = "turns"
	BudgetCalls    Budget = "calls"
	BudgetTokens   Budget = "tokens"
	BudgetCost     Budget = "cost"
	BudgetWallTime Budget = "wall_time" // in seconds
	BudgetOutput   Budget = "output"    // in bytes
	BudgetFailures Budget = "failures"
)

// BudgetWarning says, once for each budget since the run (re)started, that 80 % of it are used.
type BudgetWarning struct {
	Budget Budget  `json:"budget"`
	Used   float64 `json:"used"`
	Limit  float64 `json:"limit"`
}

// ContextChange says which keys of the run's context the last calls changed.
type ContextChange struct {
	Keys []string `json:"keys,omitempty"` // sorted
	// Refused says by key why a change was not made.
	Refused map[string]string `json:"refused,omitempty"`
}

// TodoChange says that the run's list of things to do, the context's key "todos", has changed.
type TodoChange struct {
	Todos json.RawMessage `json:"todos"` // as it is now
}

// SubRunStarted says that a call is carried out by a run of its own.
type SubRunStarted struct {
	CallID string `json:"call_id"`
	RunID  string `json:"run_id"` // of the sub-run, which has its own journal
	Prompt string `json:"prompt"`
}

// Compacted says that the conversation was made smaller: what the model reads from now on is less than what the journal
// has. First the results of Cleared become a short note each; then, if Summary is not empty, it takes the place of the
// first Replaced messages.
type Compacted struct {
	Reason   string   `json:"reason,omitempty"`   // why, in words
	Cleared  []string `json:"cleared,omitempty"`  // ids of calls, as the conversation pairs them
	Summary  string   `json:"summary,omitempty"`  // what the replaced messages said
	Replaced int      `json:"replaced,omitempty"` // how many messages, from the first
	// Overflow says that the model could not read the conversation as it was.
	Overflow bool `json:"overflow,omitempty"`
	// Failure says why no summary could be had. Empty, unless nothing was made smaller.
	Failure string `json:"failure,omitempty"`
	// Usage and Cost are those of the response that sums up.
	Usage tool.Usage `json:"usage,omitzero"`
	Cost  float64    `json:"cost,omitempty"`
}

// RunResumed says that nobody was at work on the run since the event before: the process that was had ended. It is noted
// where that matters, in runs with a bound on their time.
type RunResumed struct{}

// Parent is the call that a sub-run was started for.
type Parent struct {
	RunID  string `json:"run_id"`
	CallID string `json:"call_id"`
}

// Type implements Payload.
func (*BudgetWarning) Type() Type { return TypeBudgetWarning }

// Type implements Payload.
func (*ContextChange) Type() Type { return TypeContextChange }

// Type implements Payload.
func (*TodoChange) Type() Type { return TypeTodoChange }

// Type implements Payload.
func (*SubRunStarted) Type() Type { return TypeSubRunStarted }

// Type implements Payload.
func (*Compacted) Type() Type { return TypeCompacted }

// Type implements Payload.
func (*RunResumed) Type() Type { return TypeRunResumed }
