package loop

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolhost/toolhost/internal/model"
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

	TypeTextDelta  Type = "text_delta"
	TypeCallStatus Type = "call_status"
	TypeTurnReset  Type = "turn_reset"
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
	// Kind is the name of the task's kind in the agent's configuration. Tools has what it selects.
	Kind string `json:"kind,omitempty"`
	// Traceparent is the run's W3C trace context: its trace and its own span. Empty in journals of
	// earlier versions.
	Traceparent string `json:"traceparent,omitempty"`
}

// UserMessage is a message of the user after the prompt.
type UserMessage struct {
	Text string `json:"text"`
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
	// Wasted is the usage of failed attempts before this response, as far as the provider reported
	// it.
	Wasted tool.Usage `json:"wasted,omitzero"`
	// Cost is the cost of the response and of Wasted at the prices of the time. 0 also if no price
	// is known.
	Cost float64 `json:"cost,omitempty"`
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
	Arguments    string `json:"-"`
	Serial       bool   `json:"serial,omitempty"`
	ReturnDirect bool   `json:"return_direct,omitempty"`
	SideEffects  bool   `json:"side_effects,omitempty"`
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

// TurnReset says that the text and statuses since the last durable event are void, because the
// driver repeats the model request.
type TurnReset struct {
	Reason  string `json:"reason"`
	Attempt int    `json:"attempt"` // the next attempt, from 2
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
}

// AsError returns the failure as the original error, without its cause.
func (f *Failure) AsError(callID string) *tool.Error {
	return &tool.Error{
		Kind: f.Kind, Message: f.Message, RetryAfter: time.Duration(f.RetryAfterMS) * time.Millisecond,
		CallID: callID, Plugin: f.Plugin, Instance: f.Instance, Exit: f.Exit, Rule: f.Rule,
		Arguments: f.Final, ArgumentsSHA256: f.FinalSHA256,
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
func (*TurnReset) Type() Type { return TypeTurnReset }
