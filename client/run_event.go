package client

import (
	"encoding/json"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// RunEvent is an event of a run.
//
// Durable events are stored in the journal; each has its own Seq. Transient events (TextDelta,
// ReasoningDelta, ArgumentDelta, AnswerDelta, CallStatus, TurnReset) are sent only to clients that
// are watching when they occur. They have the Seq of the next durable event, and an Index from 1.
type RunEvent struct {
	Seq     uint64
	Index   uint64 // 0 for durable events
	Time    time.Time
	Type    string // the name of the kind of event in agentd.v1, such as "run_started"
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
	Agent        string   // the named agent; empty: none
	Fallbacks    []string // the models that respond if Model cannot, as provider:name
	Sampling     Sampling
	ParentRunID  string // empty: a client started the run
	ParentCallID string // the call that this sub-run carries out
	Traceparent  string
	// ResponseSchema is the JSON Schema of the answer. Empty: the answer is text.
	ResponseSchema json.RawMessage
	Attachments    []AttachmentInfo // of the prompt
	MemoryFiles    []MemoryFileInfo // in the instructions, in order
}

// MemoryFileInfo describes a memory file: a text such as AGENTS.md that a run has in its
// instructions.
type MemoryFileInfo struct {
	Name      string // without a folder of the operator
	Workspace bool   // the file was in the workspace, and its text is data for the model
	Size      int64  // of the text, in bytes
	Problem   string // why a file of the workspace was not used; empty: it was
}

// UserMessage is a message from the user.
type UserMessage struct {
	Text        string
	Attachments []AttachmentInfo
}

// TextDelta is a piece of the text that the model generates. Transient.
type TextDelta struct{ Text string }

// ReasoningDelta is a piece of the model's reasoning, as far as the provider shows it. Transient.
type ReasoningDelta struct{ Text string }

// ArgumentDelta is a piece of the arguments of a call that the model is writing. The pieces of a
// call, in order, are the text of its arguments. The call may never be made. Transient.
type ArgumentDelta struct {
	CallID string
	Tool   string // as the model wrote it
	Text   string
}

// AnswerDelta is the answer of a run with a response schema, as far as the model has written it: a
// JSON object that may not fit the schema yet. Each replaces the one before it. Transient.
type AnswerDelta struct{ Answer json.RawMessage }

// AssistantMessage is a complete response of the model.
type AssistantMessage struct {
	Text        string
	Calls       []ToolCall // the calls that the model requests
	StopReason  string     // why the model stopped, such as "end_turn" or "tool_use"
	Usage       tool.Usage
	WastedUsage tool.Usage // tokens of failed attempts before this response
	Cost        float64    // includes the cost of WastedUsage
	Model       string     // the model that responded, as provider:name
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
	Answer   string           // what the user reads, if it differs from the text of Result
	Settled  *tool.Settlement // what the tool said about an unknown outcome; nil: it was not asked
}

// TurnReset discards all transient events since the last durable event. Transient.
type TurnReset struct {
	Reason  string
	Attempt int    // the attempt that follows, from 2
	Model   string // the model that gets the request next, if it is another one
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
	DecidedBy string          // the name that the client gave
	Principal string          // the key of the principal that decided; empty: none did
	Standing  *StandingChoice // the later calls that were approved too; nil: none
}

// DecisionExtended says that a decision waits longer.
type DecisionExtended struct {
	ID        string
	Expires   time.Time
	Principal string // the key of the principal that moved the end
}

// BudgetWarning says that the run has used 80 % of a limit.
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
	Agent  string // the named agent of the sub-run; empty: none
}

// SubRunWaiting lists the decisions that a sub-run waits for, as RUN/DECISION. None means that it
// no longer waits.
type SubRunWaiting struct {
	CallID      string
	RunID       string
	DecisionIDs []string
}

// ModelReplied says that a tool has used the model of the run during its call.
type ModelReplied struct {
	CallID string
	Tool   string
	Plugin string
	Usage  tool.Usage
	Cost   float64
	Err    *tool.Error // why the model did not reply; nil: it replied
}

// StandingApproved says that toolhost has created a standing approval that a person chose together
// with an approval, or why it has not.
type StandingApproved struct {
	DecisionID string
	CallID     string
	Tool       string
	ApprovalID string      // empty: there is none
	Approver   string      // the key of the principal that approved
	Expires    time.Time   // when the approval ends
	Err        *tool.Error // why there is none; nil: there is one
}

// RunResumed says that agentd continues a run whose agentd process had ended.
type RunResumed struct {
	Backup time.Time // when the backup was made from which the run was restored; zero: it was not
}

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
	// Result is the answer of a run with a response schema: a JSON object that fits the schema, as the
	// model wrote it, without white space. It is set if and only if such a run succeeded.
	Result json.RawMessage
}

func (*RunStarted) runPayload()        {}
func (*UserMessage) runPayload()       {}
func (*TextDelta) runPayload()         {}
func (*ReasoningDelta) runPayload()    {}
func (*ArgumentDelta) runPayload()     {}
func (*AnswerDelta) runPayload()       {}
func (*AssistantMessage) runPayload()  {}
func (*CallStarted) runPayload()       {}
func (*CallStatus) runPayload()        {}
func (*CallResult) runPayload()        {}
func (*TurnReset) runPayload()         {}
func (*CancelRequested) runPayload()   {}
func (*DecisionRequested) runPayload() {}
func (*DecisionMade) runPayload()      {}
func (*DecisionExtended) runPayload()  {}
func (*BudgetWarning) runPayload()     {}
func (*ContextChange) runPayload()     {}
func (*TodoChange) runPayload()        {}
func (*SubRunStarted) runPayload()     {}
func (*SubRunWaiting) runPayload()     {}
func (*ModelReplied) runPayload()      {}
func (*StandingApproved) runPayload()  {}
func (*RunResumed) runPayload()        {}
func (*Compacted) runPayload()         {}
func (*RunEnded) runPayload()          {}
