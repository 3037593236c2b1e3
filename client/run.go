package client

import (
	"encoding/json"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// Task is a task for an agent. Only Prompt is required; every other zero value means agentd's
// default.
type Task struct {
	Prompt       string
	RunID        string                     // 1 to 64 of A-Z a-z 0-9 _ -; empty: agentd generates one
	SystemPrompt string                     // instructions for the model
	Agent        string                     // a name in `agents` of agentd.yaml
	Model        string                     // a name in `models` of agentd.yaml; empty: the models of the agent
	Sampling     Sampling                   // overrides the sampling of the agent
	Session      string                     // the toolhost session; empty: the id of the run
	Context      map[string]json.RawMessage // initial context values; `run`, `turn` and `session` are agentd's
	Tools        ToolChoice
	Limits       RunLimits
	Window       Window
	Completion   Completion
	People       *People
	// ResponseSchema is the JSON Schema of the answer, whose type is "object". The run then succeeds
	// only with an answer that fits it; see RunEnded.Result. Empty: the answer is text.
	ResponseSchema json.RawMessage
	// SystemTools are the names of agentd's own tools that the model may call. nil means agentd's
	// default, an empty slice none.
	SystemTools []string
	// SubRuns is the maximum depth of sub-runs. nil means agentd's default, 0 none.
	SubRuns     *int
	Traceparent string // the W3C trace context in which the run starts
	// Attachments go with Prompt. The model must read their types.
	Attachments []Attachment
}

// Sampling says how a model chooses its words. A field that is not set means the setting of the
// agent, or else the provider's default.
type Sampling struct {
	Temperature *float64 // 0 to 2
	TopP        *float64 // 0 to 1
	Effort      string   // how much a reasoning model thinks: none, low, medium or high
}

// ToolChoice selects the tools that the model may call: those that match every field that is set.
type ToolChoice struct {
	Names         []string
	Categories    []string
	Tags          []string
	Plugins       []string // the tools of one of these plugins
	Excluded      []string // names of tools that the model may not call
	Dangerous     *bool    // true: only dangerous tools; false: only others
	MaxCostPerUse *float64 // tools that cost at most this much per use
	MaxTools      int      // how many tools the model is shown at a time
}

// RunLimits limits the resources of a run.
type RunLimits struct {
	Turns          int           // model responses
	Calls          int           // tool calls
	ResponseTokens int           // tokens of one model response
	Tokens         int64         // input and output tokens in all
	Cost           float64       // in the currency of agentd's price table
	WallTime       time.Duration // working time, without time that waits only for people
	Output         int64         // bytes of text in all tool results
	Failures       int           // consecutive failed calls
	Timeouts       int           // consecutive timeouts of one tool
	Repeats        int           // consecutive repeated results
}

// Window says how large the context window of the model is, and when agentd compacts the
// conversation.
type Window struct {
	Tokens      int64
	ClearAt     float64 // the fraction of the window at which old results are cleared
	SummarizeAt float64 // the fraction of the window at which the model summarizes
	Keep        int     // how many of the latest responses stay unchanged
}

// People says whether people take part in a run.
type People struct {
	Attended   bool          // whether a person sees pending decisions and may respond
	Expiry     time.Duration // after which a decision counts as rejected; 0: 24 hours
	AskOutcome bool          // whether a person decides after a call with an unknown outcome
}

// Completion says when a run has succeeded.
type Completion string

// The values of Completion. The zero value means agentd's default.
const (
	CompletionExplicit Completion = "explicit" // when the model calls attempt_completion
	CompletionEndTurn  Completion = "end_turn" // when the model responds without a call
)

// Run is the summary of a run.
type Run struct {
	ID          string
	Prompt      string
	Model       string // provider:name
	State       RunState
	StopReason  StopReason // empty: the run has not ended
	Interrupted bool       // the run has not ended, and no agentd is working on it
	Started     time.Time
	Updated     time.Time // when the last event occurred
	LastSeq     uint64
	Turns       int // model responses
	Calls       int // tool calls
	Usage       tool.Usage
	Cost        float64           // in the currency of agentd's price table
	Pending     []PendingDecision // set by GetRun only
	ParentRunID string            // the run of which this is a sub-run; empty: none
	// ParentCallID is the call that this sub-run carries out.
	ParentCallID string
	// Parked is why no agentd goes on with the interrupted run by itself. A message, a decision or a
	// cancellation makes one go on. Empty: the run is not parked.
	Parked      string
	Foreground  bool // the run belongs to the process that started it, and no server works on it
	Settlements Settlements
}

// Settlements counts the calls of a run whose outcome was unknown, by what their tools said.
type Settlements struct {
	Happened int // the call had happened
	Repeated int // the call had not happened, and agentd made it again
	Unknown  int // the tool does not know
}

// RunState is the state of a run. Later versions may add states. Empty: the journal of the run
// cannot be read.
type RunState string

// The states of a run.
const (
	RunRunning     RunState = "running"     // an agentd is working on the run
	RunWaiting     RunState = "waiting"     // the run waits for a person
	RunInterrupted RunState = "interrupted" // no agentd is working on the run
	RunFinished    RunState = "finished"    // the run has ended; a message makes it continue
)

// StopReason says why a run ended: "end_turn", "completed", "return_direct", "cancelled",
// "max_turns" and so on, as listed in the enumeration StopReason of agentd.v1, in lower case.
type StopReason string

// RunFilter selects runs. The zero value selects all.
type RunFilter struct {
	States      []RunState // runs in one of these states; empty: all
	ParentRunID string     // only sub-runs of this run; empty: all
	Tenants     []string   // only runs of these tenants; empty: of all that the caller may see
}

// DecisionKind says what a person has to decide.
type DecisionKind string

// The kinds of decisions and the verdicts that fit.
const (
	DecideApproval DecisionKind = "approval" // whether a call is executed: Approve, Reject
	DecideQuestion DecisionKind = "question" // a question from the model: Answer, Reject
	DecideOutcome  DecisionKind = "outcome"  // a call with an unknown outcome: Approve executes it again, Answer says how it ended, Reject
	DecidePause    DecisionKind = "pause"    // whether a paused run continues: Approve, Reject
	DecideTool     DecisionKind = "tool"     // a question of the tool of a running call: Answer with a JSON object that fits Schema, Reject
)

// PendingDecision is a decision that a run waits for.
type PendingDecision struct {
	ID          string // for Decision.ID; RUN/DECISION for a decision of a sub-run
	Kind        DecisionKind
	CallID      string // empty for DecidePause
	Tool        string // empty for DecidePause
	DisplayName string // chosen by the plugin: show it in addition to Tool, never instead
	// Arguments are the final arguments for DecideApproval. For other kinds they are the arguments
	// as the model wrote them, which may not be valid JSON.
	Arguments json.RawMessage
	Reason    string    // why a decision is needed, or the question
	Options   []string  // answers that the model suggests; others are allowed
	Rule      string    // the policy rule that requires the approval; may be empty
	Requested time.Time // when the run requested it
	Expires   time.Time // when it counts as rejected; zero: never
	RunID     string    // the sub-run that waits; empty: the run itself
	// FourEyes means that a principal other than the one that the run belongs to must approve.
	FourEyes bool
	// ApproverGroups are the keys of the groups of which the approver has to be in one: GROUP, or
	// TENANT/GROUP outside of the default tenant. Empty: any approver.
	ApproverGroups []string
	// Plugin is the plugin that asks, for DecideTool.
	Plugin string
	// Schema is the JSON Schema of the answer for DecideTool. If it has only one property, a text,
	// the answer may be that text. For DecideApproval it is the JSON Schema of the tool's arguments,
	// or empty if agentd does not know it.
	Schema json.RawMessage
	// Diff is what the call would change, as a unified diff, for DecideApproval. Empty if the tool
	// shows none. It is text of the plugin: escape it, and show Arguments with it.
	Diff string
	// StandingOffers are suggestions for Decision.Standing, without scope and expiry. Empty if the
	// decision takes none.
	StandingOffers []StandingChoice
}

// Verdict is the content of a decision.
type Verdict string

// The verdicts. Expired occurs only in DecisionMade.
const (
	Approve Verdict = "approve"
	Reject  Verdict = "reject"
	Answer  Verdict = "answer"
	Expired Verdict = "expired"
)

// Decision is a person's decision, for AgentClient.Respond.
type Decision struct {
	ID      string // PendingDecision.ID
	Verdict Verdict
	// Text is the answer for Answer, where it must not be empty, and otherwise the reason.
	Text string
	// Arguments are other arguments with which a call is approved, a JSON object. Empty means those
	// of the PendingDecision.
	Arguments json.RawMessage
	// Standing approves later calls together with the call. Nil approves only this one.
	Standing *StandingChoice
}

// StandingChoice says which later calls of a tool a person approves. The fields mean what they mean
// in tool.ApprovalRequest.
type StandingChoice struct {
	Scope        tool.ApprovalScope // empty in offers
	AnyArguments bool
	Patterns     []tool.ArgumentPattern
	Expires      time.Time // zero: the longest time that the operator allows
}
