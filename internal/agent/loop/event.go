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
// A durable event is in the journal and owns its Seq. A passing event is shown to those who watch at the moment and
// then forgotten: it carries the Seq of the durable event that it precedes, and an Index among those, from 1.
type Event struct {
	Seq     uint64
	Index   uint64 // 0 for a durable event
	Time    time.Time
	Payload Payload
}

// Durable reports whether the event is kept.
func (e Event) Durable() bool { return e.Index == 0 }

// Type names what happened, as it is written in journals and shown to people.
type Type string

// The types of events. Those of the last group are passing, all others durable.
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

// Payload is what there is to say of an event: a pointer to one of the structs of this package. Payloads are shared by
// all who watch a run and must not be changed.
type Payload interface{ Type() Type }

// RunStarted begins a journal. It holds all that the run was asked to be, defaults filled in, so that a later program
// with other defaults continues the same run.
type RunStarted struct {
	RunID        string     `json:"run_id"`
	Prompt       string     `json:"prompt"`
	Model        string     `json:"model"`
	Session      string     `json:"session"`
	SystemPrompt string     `json:"system_prompt,omitempty"`
	Tools        ToolChoice `json:"tools,omitzero"`
	Limits       Limits     `json:"limits"`
	// BaseURL is where the model's API was reached, if it was not the provider's own address. It is only compared: the journal
	// never decides where a conversation and a key are sent. Empty in journals of earlier versions.
	BaseURL string `json:"base_url,omitempty"`
	// Foreground says that the run belongs to the process that started it: Agent.Resume leaves it alone.
	Foreground bool   `json:"foreground,omitempty"`
	People     People `json:"people,omitzero"`
	// Context are the run's first values; see State.Context.
	Context map[string]json.RawMessage `json:"context,omitempty"`
	// SystemTools are the agent's own tools that the model is offered.
	SystemTools []string `json:"system_tools,omitempty"`
	// ExplicitCompletion says that the run ends well only with a call of attempt_completion.
	ExplicitCompletion bool `json:"explicit_completion,omitempty"`
	// Parent is set for a sub-run.
	Parent *Parent `json:"parent,omitempty"`
	// Window says when the conversation is made smaller.
	Window Window `json:"window,omitzero"`
	// Effects says which effects of tools may change the run's context. Nil in journals of earlier versions, where any might.
	Effects *EffectRules `json:"effect_rules,omitempty"`
	// SubRuns is how many levels of sub-runs there may be below the run.
	SubRuns int `json:"sub_runs,omitempty"`
	// Kind is the kind of task by the agent's name for it. What that means is in Tools.
	Kind string `json:"kind,omitempty"`
	// Traceparent is the run's W3C trace context: its trace, and its own span there. Empty in journals of earlier versions.
	Traceparent string `json:"traceparent,omitempty"`
}

// UserMessage is what the user said after the prompt.
type UserMessage struct {
	Text string `json:"text"`
}

// AssistantMessage is a whole response of the model. It is in the journal before any of its calls begins.
type AssistantMessage struct {
	// Message is the response as it will be sent back to the model.
	Message model.Message `json:"message"`
	// Calls are the tool calls in Message, in order.
	Calls      []Call           `json:"calls,omitempty"`
	StopReason model.StopReason `json:"stop_reason"`
	Usage      tool.Usage       `json:"usage,omitzero"`
	// Read is the place of the last event that the model knew of when it was asked. User messages after it are still
	// to be read.
	Read uint64 `json:"read"`
	// Wasted is what was used up by tries that failed before this one, as far as the provider said.
	Wasted tool.Usage `json:"wasted,omitzero"`
	// Cost is what the response cost, with what was wasted, at the prices of the moment. 0 also where nobody knows.
	Cost float64 `json:"cost,omitempty"`
}

// Text returns the message's text.
func (m *AssistantMessage) Text() string { return TextOf(&m.Message) }

// Call is a tool call as the model asked for it, with what was known of the tool at that moment: a run that goes on
// after an interruption must not decide otherwise because the tool has changed.
type Call struct {
	ID string `json:"call_id"`
	// Tool is the name as the model wrote it.
	Tool string `json:"tool"`
	// Arguments are as the model wrote them. They are journaled once, in Message.
	Arguments    string `json:"-"`
	Serial       bool   `json:"serial,omitempty"`
	ReturnDirect bool   `json:"return_direct,omitempty"`
	SideEffects  bool   `json:"side_effects,omitempty"`
	// DisplayName is the tool's name for people. May be empty.
	DisplayName string `json:"display_name,omitempty"`
	// CostPerUse is what the tool declares that a use costs.
	CostPerUse float64 `json:"cost_per_use,omitempty"`
	// EffectKeys are the keys of the run's context that the tool declares to change.
	EffectKeys []string `json:"effect_keys,omitempty"`
	// Refusal says why the call is not made, to the model. Empty means that it is.
	Refusal string `json:"refusal,omitempty"`
	// System names the agent's own tool that answers the call. Empty: toolhost has the tool.
	System string `json:"system,omitempty"`
	// Attempt is which time the call is sent, from 1; 0 before it is. Approval is the consent that goes with it. Both
	// follow from later events.
	Attempt  int            `json:"-"`
	Approval *tool.Approval `json:"-"`
	// Ledger is the id of the ledger of the toolhost that this attempt is sent to, and FirstSent when it was started. Ledger is
	// empty where no ledger was known. Both follow from CallStarted.
	Ledger    string    `json:"-"`
	FirstSent time.Time `json:"-"`
}

// SentID returns the id by which toolhost knows the call: one for each attempt, so that none ever stands for other
// arguments, or for a call that is to be made once more.
func (c *Call) SentID() string {
	if c.Attempt <= 1 {
		return c.ID
	}
	return fmt.Sprintf("%s.a%d", c.ID, c.Attempt)
}

// CallStarted says that a call is about to be sent.
type CallStarted struct {
	CallID  string `json:"call_id"`
	Tool    string `json:"tool"`
	Attempt int    `json:"attempt,omitempty"` // from 2, where the call was sent before; 0 for the first
	// Traceparent is the W3C trace context with which the call is sent. Empty in journals of earlier versions.
	Traceparent string `json:"traceparent,omitempty"`
	// Ledger is the id of the ledger of the toolhost that the call is sent to, if the call has side effects. A run that goes on
	// with another ledger does not send the call: what became of it is unknown. Empty where no ledger was known, and in
	// journals of earlier versions.
	Ledger string `json:"ledger,omitempty"`
}

// CallResult is a call's one result.
type CallResult struct {
	CallID string `json:"call_id"`
	Tool   string `json:"tool"`
	// Result is what the model reads, also where the machinery failed.
	Result tool.Result `json:"result"`
	// Answer is what the user reads instead where the result is returned directly. Empty: what Result says.
	Answer string `json:"answer,omitempty"`
	// Failure is set where the machinery failed.
	Failure  *Failure `json:"error,omitempty"`
	Plugin   string   `json:"plugin,omitempty"`
	Instance string   `json:"instance,omitempty"`
}

// CancelRequested says that the run has to stop: its calls are cancelled, and each still gets its result.
type CancelRequested struct {
	Reason string `json:"reason,omitempty"`
	// Stop is what the run then ends with. Empty: StopCancelled.
	Stop StopReason `json:"stop_reason,omitempty"`
}

// RunFinished ends a run until a user message makes it go on.
type RunFinished struct {
	StopReason StopReason `json:"stop_reason"`
	Message    string     `json:"message,omitempty"` // more on the reason, in words
	Text       string     `json:"text"`              // the model's last text, or a direct result
	Turns      int        `json:"turns"`
	Calls      int        `json:"calls"`
	Usage      tool.Usage `json:"usage,omitzero"`
	Cost       float64    `json:"cost,omitempty"`
}

// TextDelta is a piece of what the model writes.
type TextDelta struct {
	Text string `json:"text"`
}

// CallStatus is what a call shows to people. A tool that looks on while the model writes its arguments reports before the
// AssistantMessage with the call is there: the call may then not be made.
type CallStatus struct {
	CallID string      `json:"call_id"`
	Tool   string      `json:"tool"`
	Status tool.Status `json:"status"`
}

// TurnReset says that what the model wrote since the last durable event is void, with the statuses of
// calls in it: it is asked again.
type TurnReset struct {
	Reason  string `json:"reason"`
	Attempt int    `json:"attempt"` // which try comes next, from 2
}

// Failure is a tool.Error as a journal keeps it.
type Failure struct {
	Kind         tool.Kind  `json:"kind"`
	Message      string     `json:"message"`
	RetryAfterMS int64      `json:"retry_after_ms,omitempty"`
	Plugin       string     `json:"plugin,omitempty"`
	Instance     string     `json:"instance,omitempty"`
	Exit         *tool.Exit `json:"exit,omitempty"`
	Rule         string     `json:"rule,omitempty"`
	// Final are the final arguments of a call that needs approval, and FinalSHA256 is their digest; see tool.Error.
	Final       json.RawMessage `json:"arguments,omitempty"`
	FinalSHA256 string          `json:"arguments_sha256,omitempty"`
}

// AsError returns the failure as the error it was, without its cause.
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
