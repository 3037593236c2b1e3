package tool

import (
	"encoding/json"
	"time"
)

// Call is one call of a tool.
type Call struct {
	// ID identifies the call and is its idempotency key: the host executes an id at most once for
	// each principal and session. Empty: the host generates an id, and cancels the call when its
	// caller leaves.
	ID string
	// Tool is the tool's name.
	Tool string
	// Arguments is a JSON object, or the text that a model wrote in its place. Empty means {}.
	Arguments json.RawMessage
	// Session is the session of the call. Empty means the principal's default session.
	Session string
	// Principal identifies the caller. Servers set it from the connection, never from the request.
	Principal string
	// Timeout bounds the call. The tool's timeout and the host's maximum bound it too. 0 means the
	// tool's timeout.
	Timeout time.Duration
	// Approval is a person's approval of the call. nil means none.
	Approval *Approval
	// Context is the run's context by key. A tool gets only the keys that it declares.
	Context map[string]json.RawMessage
	// Traceparent is the W3C trace context. Empty means none.
	Traceparent string
	// MaxShown bounds the text and JSON of the result, in bytes. The host keeps a larger result as
	// an artifact. nil means the host's default.
	MaxShown *int
	// OutcomeOnly requests no event except the outcome, which saves messages.
	OutcomeOnly bool
	// Ledger is the id of the ledger of the host that the caller first sent the call to. A host
	// with another ledger cannot know whether the call was executed. It executes nothing and fails
	// with KindOutcomeUnknown. Empty: any host may execute the call.
	Ledger string
	// FirstSent is when the caller sent the call, or may have sent it, for the first time. A host
	// that may have forgotten a call of that age fails with KindOutcomeUnknown if it does not know
	// the id. Zero means now.
	FirstSent time.Time
	// ReceivedAt is when the host received the call. Servers that read several calls from one
	// message set it; clients do not send it. Zero: when the host opens the call.
	ReceivedAt time.Time
}

// Approval is a person's approval of a call with certain final arguments: the arguments that the
// tool gets, after filters, repair and defaults. It is valid only for the call that carries it. The
// host refuses a call with other final arguments with KindApprovalRequired.
type Approval struct {
	ApprovedBy string    `json:"approved_by"`
	Reason     string    `json:"reason,omitempty"`
	Time       time.Time `json:"time,omitzero"` // zero: now
	// Arguments are the approved final arguments. If they and ArgumentsSHA256 are empty, the
	// approval is for the arguments of the call that carries it. The host refuses such an approval
	// if the caller opens the call before the arguments are complete.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// ArgumentsSHA256 is the digest of the approved final arguments: Error.ArgumentsSHA256 of the
	// error that requested the approval.
	ArgumentsSHA256 string `json:"arguments_sha256,omitempty"`
}

// Named reports whether the approval itself identifies its arguments.
func (a *Approval) Named() bool { return len(a.Arguments) > 0 || a.ArgumentsSHA256 != "" }
