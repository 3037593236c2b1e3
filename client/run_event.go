package client

import (
	"encoding/json"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// RunEvent is an event of a run.
//
// Durable events are stored in the journal; each has its own Seq. Transient events (TextDelta,
// CallStatus, TurnReset) are sent only to clients that are watching when they occur. They have the
// Seq of the next durable event, and an Index from 1.
type RunEvent struct {
	Seq     uint64
	Index   uint64 // 0 for durable events
	Time    time.Time
	Payload RunPayload
}

// RunPayload is the content of a RunEvent: a pointer to one of the event types of this package,
// such as *RunStarted. Later versions may add types.
type RunPayload interface{ runPayload() }

// RunStarted says that the run started.
type RunStarted struct {
	RunID        string
	Prompt       string
	Model        string // provider:name
	Session      string
	Kind         string // empty: none
	ParentRunID  string // empty: a client started the run
	ParentCallID string // the call that this sub-run carries out
	Traceparent  string
}

// UserMessage is a message from the user.
type UserMessage struct{ Text string }

// TextDelta is a piece of the text that the model generates. Transient.
type TextDelta struct{ Text string }

// AssistantMessage is a complete response of the model.
type AssistantMessage struct {
	Text        string
	Calls       []ToolCall // the calls that the model requests
	StopReason  string     // why the model stopped, such as "end_turn" or "tool_use"
	Usage       tool.Usage
	WastedUsage tool.Usage // tokens of failed attempts before this response
	Cost        float64    // includes the cost of WastedUsage
}

// ToolCall is a call that the model requests.
type ToolCall struct {
	CallID    string
	Tool      string
	Arguments json.RawMessage // as the model wrote them; may not be valid JSON
}

// CallStarted says that agentd sent a call to toolhost.
type CallStarted struct {
	CallID      string
	Tool        string
	Attempt     int // from 1
	Traceparent string
	LedgerID    string // of the toolhost, for calls with side effects
}

// CallStatus is a status of a running call, for people. Transient.
type CallStatus struct {
	CallID string
	Tool   string
	Status tool.Status
}

// CallResult is the result of a call.
type CallResult struct {
	CallID   string
	Tool     string
	Result   tool.Result // what the model reads
	Err      *tool.Error // the infrastructure failure; nil: none
	Plugin   string
	Instance string
}

// TurnReset discards all text deltas and call statuses since the last durable event. Transient.
type TurnReset struct {
	Reason  string
	Attempt int // the attempt that follows, from 2
}

// CancelRequested says that the run was asked to stop.
type CancelRequested struct {
	Reason     string
	StopReason StopReason // with which the run ends; empty: cancelled
}

// DecisionRequested says that the run needs a decision.
type DecisionRequested struct{ Decision PendingDecision }

// DecisionMade says that a decision was made, or that it expired.
type DecisionMade struct {
	ID        string
	Verdict   Verdict
	Text      string          // the reason or the answer
	Arguments json.RawMessage // other arguments with which a call was approved; empty: the requested ones
	DecidedBy string
}

// BudgetWarning says that 80 % of a limit are used.
type BudgetWarning struct {
	Budget      string // turns, calls, tokens, cost, wall_time (seconds), output (bytes) or failures
	Used, Limit float64
}

// ContextChange says that the run's context changed.
type ContextChange struct {
	Keys    []string
	Refused map[string]string // reasons of refused changes, by key
}

// TodoChange contains the new todo list, as JSON.
type TodoChange struct{ Todos json.RawMessage }

// SubRunStarted says that a sub-run started to carry out a call.
type SubRunStarted struct {
	CallID string
	RunID  string
	Prompt string
}

// SubRunWaiting lists the decisions that a sub-run waits for, as RUN/DECISION. None means that it
// no longer waits.
type SubRunWaiting struct {
	CallID      string
	RunID       string
	DecisionIDs []string
}

// RunResumed says that agentd continues a run whose agentd process had ended.
type RunResumed struct{}

// Compacted says that agentd shortened the conversation that the model reads.
type Compacted struct {
	Reason           string
	ClearedResults   int
	Summary          string // replaces the oldest messages; empty: none were replaced
	ReplacedMessages int
	Overflow         bool   // the conversation exceeded the context window
	Failure          string // why the model did not produce a summary
	Usage            tool.Usage
	Cost             float64
}

// RunEnded says that the run ended.
type RunEnded struct {
	StopReason StopReason
	Message    string
	Text       string // the last text of the model, or the result of a tool with return_direct
	Turns      int
	Calls      int
	Usage      tool.Usage
	Cost       float64
}

func (*RunStarted) runPayload()        {}
func (*UserMessage) runPayload()       {}
func (*TextDelta) runPayload()         {}
func (*AssistantMessage) runPayload()  {}
func (*CallStarted) runPayload()       {}
func (*CallStatus) runPayload()        {}
func (*CallResult) runPayload()        {}
func (*TurnReset) runPayload()         {}
func (*CancelRequested) runPayload()   {}
func (*DecisionRequested) runPayload() {}
func (*DecisionMade) runPayload()      {}
func (*BudgetWarning) runPayload()     {}
func (*ContextChange) runPayload()     {}
func (*TodoChange) runPayload()        {}
func (*SubRunStarted) runPayload()     {}
func (*SubRunWaiting) runPayload()     {}
func (*RunResumed) runPayload()        {}
func (*Compacted) runPayload()         {}
func (*RunEnded) runPayload()          {}
