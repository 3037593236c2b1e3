package loop

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// Event is something that happened in a run.
//
// A durable event is in the journal and has its own Seq. A passing event is shown to current
// watchers and then dropped. It has the Seq of the durable event that follows it, and an Index
// among the passing events before that one, from 1.
type Event struct {
	Seq     uint64
	Index   uint64 // 0 for a durable event
	Time    time.Time
	Payload Payload
}

// Durable reports whether the journal keeps the event.
func (e Event) Durable() bool { return e.Index == 0 }

// Type is the kind of an event, as journals and people see it.
type Type string

// The types of events. The last group is passing; all others are durable.
const (
	TypeRunStarted       Type = "run_started"
	TypeUserMessage      Type = "user_message"
	TypeAssistantMessage Type = "assistant_message"
	TypeCallStarted      Type = "call_started"
	TypeCallResult       Type = "call_result"
	TypeCancelRequested  Type = "cancel_requested"
	TypeRunFinished      Type = "run_finished"

	TypeDecisionRequested Type = "decision_requested"
	TypeDecisionMade      Type = "decision_made"
	TypeBudgetWarning     Type = "budget_warning"
	TypeContextChange     Type = "context_change"
	TypeTodoChange        Type = "todo_change"
	TypeSubRunStarted     Type = "sub_run_started"
	TypeCompacted         Type = "compacted"
	TypeRunResumed        Type = "run_resumed"
	TypeSubRunWaiting     Type = "sub_run_waiting"
	TypeModelReplied      Type = "model_replied"
	TypeStandingApproved  Type = "standing_approved"
	TypeDecisionExtended  Type = "decision_extended"

	TypeTextDelta  Type = "text_delta"
	TypeCallStatus Type = "call_status"
	TypeTurnReset  Type = "turn_reset"

	TypeReasoningDelta Type = "reasoning_delta"
	TypeArgumentDelta  Type = "argument_delta"
	TypeAnswerDelta    Type = "answer_delta"
)

// Payload is the content of an event: a pointer to one of this package's structs. All watchers
// share it, so it must not be changed.
type Payload interface{ Type() Type }

// RunStarted is the first event of a journal. It has everything that defines the run, with the
// defaults filled in, so that a later program with other defaults continues the same run.
type RunStarted struct {
	RunID        string     `json:"run_id"`
	Prompt       string     `json:"prompt"`
	Model        string     `json:"model"`
	Session      string     `json:"session"`
	SystemPrompt string     `json:"system_prompt,omitempty"`
	Tools        ToolChoice `json:"tools,omitzero"`
	Limits       Limits     `json:"limits"`
	// Restricted is what the caller of the run that a user started said about its tools. It applies
	// to that run and to all runs below it, whatever tools their agents have. Zero in journals of
	// earlier versions.
	Restricted ToolChoice `json:"restricted,omitzero"`
	// RestrictedSystem are the system tools to which that caller restricted all these runs. Nil means
	// no restriction, and an empty list no system tools.
	RestrictedSystem []string `json:"restricted_system_tools,omitzero"`
	// BaseURL is the address of the model's API if it is not the provider's own. It is only
	// compared: a journal never decides where a conversation and a key are sent. Empty in journals
	// of earlier versions.
	BaseURL string `json:"base_url,omitempty"`
	// Foreground means that the run belongs to the process that started it. Agent.Resume skips it.
	Foreground bool   `json:"foreground,omitempty"`
	People     People `json:"people,omitzero"`
	// Context is the run's initial context; see State.Context.
	Context map[string]json.RawMessage `json:"context,omitempty"`
	// SystemTools are the system tools that the model is offered.
	SystemTools []string `json:"system_tools,omitempty"`
	// ExplicitCompletion means that the run succeeds only with a call of attempt_completion.
	ExplicitCompletion bool `json:"explicit_completion,omitempty"`
	// Parent is set for a sub-run.
	Parent *Parent `json:"parent,omitempty"`
	// Window says when the conversation is compacted.
	Window Window `json:"window,omitzero"`
	// Effects says which effects of tools may change the run's context. Nil in journals of earlier
	// versions, where all might.
	Effects *EffectRules `json:"effect_rules,omitempty"`
	// SubRuns is how many levels of sub-runs there may be below the run.
	SubRuns int `json:"sub_runs,omitempty"`
	// Ledger is LedgerAtBackup of the run that started this sub-run. Empty for all other runs.
	Ledger string `json:"ledger,omitempty"`
	// Agent is the name of the run's agent in the configuration. The other fields have what it
	// defines. Empty means none.
	Agent string `json:"agent,omitempty"`
	// ModelName is the name of Model in the configuration; see RunModel.Name.
	ModelName string `json:"model_name,omitempty"`
	// Fallbacks are the models that get a request if Model cannot answer it, in order.
	Fallbacks []RunModel     `json:"fallbacks,omitempty"`
	Sampling  model.Sampling `json:"sampling,omitzero"`
	// Delegates are the agents that new_task can name. With delegates, it has to name one.
	Delegates []Delegate `json:"delegates,omitempty"`
	// Variables are the values for the instructions of sub-runs: the initial context of the run that
	// a user started. Nil means Context.
	Variables map[string]json.RawMessage `json:"variables,omitempty"`
	// Traceparent is the run's W3C trace context: its trace and its own span. Empty in journals of
	// earlier versions.
	Traceparent string `json:"traceparent,omitempty"`
	// ParentSpan is the span of the caller in the same trace, in hexadecimal. Empty if the run began
	// the trace, and in journals of earlier versions.
	ParentSpan string `json:"parent_span,omitempty"`
	// Principal is the key of the principal that the run belongs to. The run calls tools for it.
	// Empty in journals of earlier versions, whose runs belong to the user of the agent.
	Principal string   `json:"principal,omitempty"`
	Groups    []string `json:"groups,omitempty"` // of the principal
	// ResponseSchema is the JSON Schema of the answer, of type object. Empty: the answer is text.
	ResponseSchema json.RawMessage `json:"response_schema,omitempty"`
	// Attachments go with Prompt.
	Attachments []Attachment `json:"attachments,omitempty"`
	// Request is the SHA-256 of what the caller asked for, in hexadecimal. It tells a repeated request
	// from another one with the same run id. Empty for sub-runs, and in journals of earlier versions.
	Request string `json:"request_sha256,omitempty"`
	// Memory are the memory files, in their order in the instructions.
	Memory []Memory `json:"memory,omitempty"`
	// Statistics are the statistics in the descriptions of tools, by tool. They do not change during
	// the run, so that a repeated request is the same request.
	Statistics map[string]ToolStatistic `json:"tool_statistics,omitempty"`
}

// AgentName returns the name under which the run makes its calls. Empty means none.
func (r *RunStarted) AgentName() string { return r.Agent }

// UserMessage is a message of the user after the prompt.
type UserMessage struct {
	Text        string       `json:"text"`
	Attachments []Attachment `json:"attachments,omitempty"`
	// ID is the one that the sender gave the message. The zero value: none.
	ID MessageID `json:"id,omitzero"`
}

// AssistantMessage is a complete response of the model. It is in the journal before any of its
// calls begins.
type AssistantMessage struct {
	// Message is the response as later requests send it to the model.
	Message model.Message `json:"message"`
	// Calls are the tool calls in Message, in order.
	Calls      []Call           `json:"calls,omitempty"`
	StopReason model.StopReason `json:"stop_reason"`
	Usage      tool.Usage       `json:"usage,omitzero"`
	// Read is the Seq of the last event before the request. User messages after it are unread.
	Read uint64 `json:"read"`
	// Model is the full name of the model that responded. Empty in journals of earlier versions.
	Model string `json:"model,omitempty"`
	// Fallback is the place of that model among the run's fallbacks, from 1. 0 means that the run's
	// first model responded.
	Fallback int `json:"fallback,omitempty"`
	// Wasted is the usage of failed attempts before this response, as far as the provider reported
	// it.
	Wasted tool.Usage `json:"wasted,omitzero"`
	// Cost is the cost of the response and of Wasted at the prices of the time. 0 also if no price
	// is known.
	Cost float64 `json:"cost,omitempty"`
	// Answer is the verdict on the answer in Message. Nil: the run has no response schema, or Message
	// gives no answer.
	Answer *Answer `json:"answer,omitempty"`
	// Markup is the form in which the text of Message is a tool call, which nothing executes; see
	// package markup. Empty: the text is an answer. Always empty in journals of earlier versions.
	Markup string `json:"markup,omitempty"`
}

// Text returns the message's text.
func (m *AssistantMessage) Text() string { return TextOf(&m.Message) }

// Call is a tool call of the model, with what the agent knew of the tool at that time. A run that
// continues after an interruption must not decide otherwise because the tool has changed.
type Call struct {
	ID string `json:"call_id"`
	// Tool is the name as the model wrote it.
	Tool string `json:"tool"`
	// Arguments are as the model wrote them. The journal has them once, in Message.
	Arguments string `json:"-"`
	Serial    bool   `json:"serial,omitempty"`
	// Reads and Parallel say how the call stands to others of its response: it changes nothing, or its
	// order with others does not matter. Both are false in journals of earlier versions.
	Reads        bool `json:"reads,omitempty"`
	Parallel     bool `json:"parallel,omitempty"`
	ReturnDirect bool `json:"return_direct,omitempty"`
	SideEffects  bool `json:"side_effects,omitempty"`
	// DisplayName is the tool's name for people. May be empty.
	DisplayName string `json:"display_name,omitempty"`
	// CostPerUse is the cost of one use as the tool declares it.
	CostPerUse float64 `json:"cost_per_use,omitempty"`
	// EffectKeys are the keys of the run's context that the tool declares to change.
	EffectKeys []string `json:"effect_keys,omitempty"`
	// Refusal tells the model why the call is not made. Empty means that it is made.
	Refusal string `json:"refusal,omitempty"`
	// System is the name of the system tool that answers the call. Empty for a tool of toolhost.
	System string `json:"system,omitempty"`
	// Attempt counts how often the call was sent; 0 before the first time. Approval goes with the
	// call. Both follow from later events.
	Attempt  int            `json:"-"`
	Approval *tool.Approval `json:"-"`
	// Supersedes are the ids with which attempts were sent whose outcomes are unknown, and which a
	// person let make again. They follow from later events.
	Supersedes []string `json:"-"`
	// Ledger is the id of the ledger of the toolhost that receives this attempt, and FirstSent is
	// its start time. Ledger is empty if the ledger was unknown. Both follow from CallStarted.
	Ledger    string    `json:"-"`
	FirstSent time.Time `json:"-"`
}

// SentID returns the call id that agentd sends to toolhost. It differs for each attempt. Otherwise
// toolhost would refuse a second attempt with other arguments as a conflict, and would replay the
// first outcome for one with the same arguments.
func (c *Call) SentID() string {
	if c.Attempt <= 1 {
		return c.ID
	}
	return fmt.Sprintf("%s.a%d", c.ID, c.Attempt)
}

// CallStarted says that the driver is about to send a call.
type CallStarted struct {
	CallID  string `json:"call_id"`
	Tool    string `json:"tool"`
	Attempt int    `json:"attempt,omitempty"` // from 2 for a repeated call; 0 for the first attempt
	// Traceparent is the W3C trace context of the call. Empty in journals of earlier versions.
	Traceparent string `json:"traceparent,omitempty"`
	// Ledger is the id of the ledger of the toolhost that receives the call, if the call has side
	// effects. A run that continues with another ledger does not send the call; its outcome is
	// unknown. Empty if the ledger was unknown, and in journals of earlier versions.
	Ledger string `json:"ledger,omitempty"`
}

// CallResult is the one result of a call.
type CallResult struct {
	CallID string `json:"call_id"`
	Tool   string `json:"tool"`
	// Result is what the model reads, also after a failure.
	Result tool.Result `json:"result"`
	// Answer is what the user reads if the result is returned directly. Empty means the text of
	// Result.
	Answer string `json:"answer,omitempty"`
	// Failure is set if the infrastructure failed.
	Failure  *Failure `json:"error,omitempty"`
	Plugin   string   `json:"plugin,omitempty"`
	Instance string   `json:"instance,omitempty"`
	// Settled is what the tool said when the outcome of the call was unknown. nil: it was not asked.
	Settled *tool.Settlement `json:"settled,omitempty"`
}

// CancelRequested says that the run has to stop. Its calls are cancelled, and each still gets its
// result.
type CancelRequested struct {
	Reason string `json:"reason,omitempty"`
	// Stop is the stop reason of the run. Empty means StopCancelled.
	Stop StopReason `json:"stop_reason,omitempty"`
}

// RunFinished ends a run. A user message continues it.
type RunFinished struct {
	StopReason StopReason `json:"stop_reason"`
	Message    string     `json:"message,omitempty"` // details of the stop reason
	Text       string     `json:"text"`              // the model's last text, or a direct result
	Turns      int        `json:"turns"`
	Calls      int        `json:"calls"`
	Usage      tool.Usage `json:"usage,omitzero"`
	Cost       float64    `json:"cost,omitempty"`
	// Result is the answer that fits RunStarted.ResponseSchema, as the model wrote it, without white
	// space. It is set if and only if the run has a schema and succeeded.
	Result json.RawMessage `json:"result,omitempty"`
}

// TextDelta is a piece of the model's text.
type TextDelta struct {
	Text string `json:"text"`
}

// CallStatus is a call's progress for people. A tool that reads partial arguments can report before
// the AssistantMessage with the call exists. The call may then never be made.
type CallStatus struct {
	CallID string      `json:"call_id"`
	Tool   string      `json:"tool"`
	Status tool.Status `json:"status"`
}

// ReasoningDelta is a piece of the model's reasoning, as far as the provider shows it.
type ReasoningDelta struct {
	Text string `json:"text"`
}

// ArgumentDelta is a piece of the arguments of a call that the model is writing. The call may never
// be made.
type ArgumentDelta struct {
	CallID string `json:"call_id"`
	Tool   string `json:"tool"` // as the model wrote it, clipped
	Text   string `json:"text"`
}

// AnswerDelta is the answer of a run with a response schema, as far as the model has written it. It
// replaces the AnswerDelta before it.
type AnswerDelta struct {
	// Answer is a JSON object: the text so far, without what is incomplete, and with all brackets
	// closed. It may not fit the schema yet.
	Answer json.RawMessage `json:"answer"`
}

// TurnReset says that the passing events since the last durable event are void, because the driver
// repeats the model request.
type TurnReset struct {
	Reason  string `json:"reason"`
	Attempt int    `json:"attempt"` // the next attempt, from 2
	// Model is the full name of the model that gets the request next, if it is another one.
	Model string `json:"model,omitempty"`
}

// Failure is a tool.Error in a journal.
type Failure struct {
	Kind         tool.Kind  `json:"kind"`
	Message      string     `json:"message"`
	RetryAfterMS int64      `json:"retry_after_ms,omitempty"`
	Plugin       string     `json:"plugin,omitempty"`
	Instance     string     `json:"instance,omitempty"`
	Exit         *tool.Exit `json:"exit,omitempty"`
	Rule         string     `json:"rule,omitempty"`
	// Final are the final arguments of a call that needs approval, and FinalSHA256 is their digest;
	// see tool.Error.
	Final       json.RawMessage `json:"arguments,omitempty"`
	FinalSHA256 string          `json:"arguments_sha256,omitempty"`
	FourEyes    bool            `json:"four_eyes,omitempty"`
	Approvers   []string        `json:"approver_groups,omitempty"`
	// Definition is the digest of the tool's definition; see tool.Error.
	Definition string `json:"definition_sha256,omitempty"`
	// SessionMove says that an approval also moves the session; see tool.Error.
	SessionMove string `json:"session_move,omitempty"`
}

// AsError returns the failure as the original error, without its cause.
func (f *Failure) AsError(callID string) *tool.Error {
	return &tool.Error{
		Kind: f.Kind, Message: f.Message, RetryAfter: time.Duration(f.RetryAfterMS) * time.Millisecond,
		CallID: callID, Plugin: f.Plugin, Instance: f.Instance, Exit: f.Exit, Rule: f.Rule,
		Arguments: f.Final, ArgumentsSHA256: f.FinalSHA256, FourEyes: f.FourEyes, ApproverGroups: f.Approvers,
		DefinitionSHA256: f.Definition, SessionMove: f.SessionMove,
	}
}

// Type implements Payload.
func (*RunStarted) Type() Type { return TypeRunStarted }

// Type implements Payload.
func (*UserMessage) Type() Type { return TypeUserMessage }

// Type implements Payload.
func (*AssistantMessage) Type() Type { return TypeAssistantMessage }

// Type implements Payload.
func (*CallStarted) Type() Type { return TypeCallStarted }

// Type implements Payload.
func (*CallResult) Type() Type { return TypeCallResult }

// Type implements Payload.
func (*CancelRequested) Type() Type { return TypeCancelRequested }

// Type implements Payload.
func (*RunFinished) Type() Type { return TypeRunFinished }

// Type implements Payload.
func (*TextDelta) Type() Type { return TypeTextDelta }

// Type implements Payload.
func (*CallStatus) Type() Type { return TypeCallStatus }

// Type implements Payload.
func (*ReasoningDelta) Type() Type { return TypeReasoningDelta }

// Type implements Payload.
func (*ArgumentDelta) Type() Type { return TypeArgumentDelta }

// Type implements Payload.
func (*AnswerDelta) Type() Type { return TypeAnswerDelta }

// Type implements Payload.
func (*TurnReset) Type() Type { return TypeTurnReset }
