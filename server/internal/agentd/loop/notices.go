package loop

import (
	"encoding/json"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// Budget names one of the limits of a run.
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

// BudgetWarning says that 80 % of a budget are used. It occurs once per budget since the run
// started or restarted.
type BudgetWarning struct {
	Budget Budget  `json:"budget"`
	Used   float64 `json:"used"`
	Limit  float64 `json:"limit"`
}

// ContextChange says which keys of the run's context the last calls changed.
type ContextChange struct {
	Keys []string `json:"keys,omitempty"` // sorted
	// Refused says, by key, why a change was refused.
	Refused map[string]string `json:"refused,omitempty"`
}

// TodoChange says that the run's to-do list, the context's key "todos", has changed.
type TodoChange struct {
	Todos json.RawMessage `json:"todos"` // as it is now
}

// SubRunStarted says that a sub-run carries out a call.
type SubRunStarted struct {
	CallID string `json:"call_id"`
	RunID  string `json:"run_id"` // of the sub-run, which has its own journal
	Prompt string `json:"prompt"`
	Agent  string `json:"agent,omitempty"` // the agent that the call named; empty: none
}

// Compacted says that the conversation was shortened: from now on the model reads less than the
// journal contains. First a short note replaces each result in Cleared. Then Summary, if not empty,
// replaces the first Replaced messages.
type Compacted struct {
	Reason   string   `json:"reason,omitempty"`   // why
	Cleared  []string `json:"cleared,omitempty"`  // the providers' ids of the calls
	Summary  string   `json:"summary,omitempty"`  // in place of the replaced messages
	Replaced int      `json:"replaced,omitempty"` // the number of messages, from the first
	// Overflow means that the conversation did not fit the model.
	Overflow bool `json:"overflow,omitempty"`
	// Failure says why there is no summary. It is set only if nothing was shortened.
	Failure string `json:"failure,omitempty"`
	// Usage and Cost are those of the summary.
	Usage tool.Usage `json:"usage,omitzero"`
	Cost  float64    `json:"cost,omitempty"`
}

// RunResumed says that no process worked on the run between the event before and this one. It is
// recorded in runs with a time budget, and in unfinished runs of a journal that was restored from a
// backup.
type RunResumed struct {
	// Backup is when the backup was made. Zero: the journal was not restored.
	Backup time.Time `json:"backup,omitzero"`
	// Ledger is the id of the ledger that has the calls of the run until the backup. The run may
	// have made more calls before its journal was lost, and makes them again under the same ids. So
	// it sends its calls under this ledger from now on: a toolhost that has the ledger answers the
	// calls that it knows, and any other toolhost executes none of them. Empty: not restored.
	Ledger string `json:"ledger,omitempty"`
}

// Parent is the call that a sub-run carries out.
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
