package tool

import (
	"encoding/json"
	"time"
)

// Call is one invocation of a tool.
type Call struct {
	// ID names the call and is its idempotency key: within one principal and session an id is executed at most once.
	// Empty means that the host makes one, and that the call is cancelled when its caller leaves.
	ID string
	// Tool is the tool's name.
	Tool string
	// Arguments is a JSON object, or what a model took for one. Empty means {}.
	Arguments json.RawMessage
	// Session is the scope that calls share. Empty means the principal's default session.
	Session string
	// Principal is who calls. Servers set it from the connection, never from the request.
	Principal string
	// Timeout bounds the call; the tool's timeout and the host's cap bound it too. 0 means the tool's.
	Timeout time.Duration
	// Approval is a person's consent, for tools that need one. Nil means none.
	Approval *Approval
	// Context is the run's context by key. A tool gets only the keys that it declared.
	Context map[string]json.RawMessage
	// Traceparent is the W3C trace context. Empty means none.
	Traceparent string
	// MaxShown bounds the text and JSON that the result shows, in bytes; what is more becomes an artifact. Nil means the
	// host's default.
	MaxShown *int
	// OutcomeOnly says that the caller wants no event but the outcome. It costs less to carry.
	OutcomeOnly bool
	// Ledger is the id of the ledger of the host that the call was first sent to. A host with another ledger cannot know
	// whether the call was executed: it executes nothing and answers KindOutcomeUnknown. Empty: any host may execute it.
	Ledger string
	// FirstSent is when the call was, or may have been, sent for the first time. A host that may have forgotten a call of
	// that age answers KindOutcomeUnknown if it does not know the id. Zero: now.
	FirstSent time.Time
	// ReceivedAt is when the host received the call. Servers that read several calls from one message set
	// it; clients do not send it. Zero: when the host opens the call.
	ReceivedAt time.Time
}

// Approval says who agreed to a call, and to which final arguments: those that the tool gets, after filters, repair and
// defaults. It holds for the call that it is sent with. A call whose final arguments are others is refused with
// KindApprovalRequired.
type Approval struct {
	ApprovedBy string    `json:"approved_by"`
	Reason     string    `json:"reason,omitempty"`
	Time       time.Time `json:"time,omitzero"` // zero: now
	// Arguments are the final arguments that were agreed to. If both they and ArgumentsSHA256 are empty, what was agreed to is
	// the arguments exactly as they come with the approval, which is refused where a call is opened before its arguments are
	// complete.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// ArgumentsSHA256 is the digest of the final arguments that were agreed to: Error.ArgumentsSHA256 of the error that asked.
	ArgumentsSHA256 string `json:"arguments_sha256,omitempty"`
}

// Named reports whether the approval itself says which arguments it is for.
func (a *Approval) Named() bool { return len(a.Arguments) > 0 || a.ArgumentsSHA256 != "" }
