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
	// Principal is the key of the principal that the call is for. Servers set it from the connection,
	// or from the request of a delegate.
	Principal string
	// Groups are the groups of the principal. Servers set them together with it.
	Groups []string
	// Via is the key of the delegate that makes the call for the principal. Empty: the principal
	// makes the call itself. Servers set it from the connection, never from the request.
	Via string
	// From is where the caller is, for the audit log: an IP address, or unix. Empty: it is not known.
	// Servers set it from the connection, never from the request.
	From string
	// Timeout bounds the call. The tool's timeout and the host's maximum bound it too. 0 means the
	// tool's timeout.
	Timeout time.Duration
	// Agent is the name of the agent that makes the call, and Run is the id of its run. Empty: none.
	// Servers clear them unless the caller may delegate or approve calls.
	Agent, Run string
	// Approval is a person's approval of the call. nil means none.
	Approval *Approval
	// ApprovalWait lets the host hold the call if a person has to approve it, and says how long the
	// caller waits for the verdict. If the time ends first, the call fails with KindApprovalRequired
	// and Error.Decision: after a person approved that decision, the same call passes once. 0: the
	// call is held and fails at once. nil: it is not held. The host does not hold calls of a delegate.
	ApprovalWait *time.Duration
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
	// the id. Zero means now, except for a host whose ledger was restored from a backup. A restored
	// host executes a call with side effects and an unknown id only if this time is after the
	// restore, or if Ledger is the id of the restored ledger.
	FirstSent time.Time
	// Answers is what the caller answers if the tool asks: it reads the events of the call, and
	// answers each Question with AnswerQuestion. nil: nothing, and a tool that asks gets
	// KindUnsupported. The caller that starts the call decides.
	Answers []QuestionKind
	// Supersedes are the ids of earlier calls of the session whose outcomes are unknown, and which
	// this call repeats after a person has decided so. When this call begins, they are not executed
	// any more, whatever their tool says about them. If one of them has succeeded or is executed
	// again by then, this call fails with KindConflict. Only a call with side effects and an id has
	// it.
	Supersedes []string
}

// MaxSupersedes bounds Call.Supersedes.
const MaxSupersedes = 16

// Approval is a person's approval of a call with certain final arguments: the arguments that the
// tool gets, after filters, repair and defaults. It is valid only for the call that carries it. The
// host refuses a call with other final arguments with KindApprovalRequired.
type Approval struct {
	// Approver is the key of the principal that approved. Servers set it from the connection, or from
	// the request of a delegate that has verified the approver.
	Approver string `json:"approver,omitempty"`
	// ApproverGroups are the groups of Approver within its tenant. Who sets Approver sets them.
	ApproverGroups []string `json:"approver_groups,omitempty"`
	// ApprovedBy is the name of the approver as the caller gives it, which proves nothing. Empty: the
	// caller gives none.
	ApprovedBy string    `json:"approved_by"`
	Reason     string    `json:"reason,omitempty"`
	Time       time.Time `json:"time,omitzero"` // zero: now
	// Arguments are the approved final arguments. If they and ArgumentsSHA256 are empty, the
	// approval is for the arguments of the call that carries it, with the defaults that the tool
	// declares for missing ones. The host refuses such an approval
	// if the caller opens the call before the arguments are complete.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// ArgumentsSHA256 is the digest of the approved final arguments: Error.ArgumentsSHA256 of the
	// error that requested the approval.
	ArgumentsSHA256 string `json:"arguments_sha256,omitempty"`
	// SessionMove is Error.SessionMove of the error that requested the approval, whose message the
	// person has read. Empty: the approval does not move the session.
	SessionMove string `json:"session_move,omitempty"`
}

// PrincipalContext is the value of the key KeyPrincipal in the context of a call.
type PrincipalContext struct {
	// Key identifies the principal that the call is for: NAME, or TENANT/NAME outside of the default
	// tenant.
	Key    string   `json:"key"`
	Tenant string   `json:"tenant"`
	Name   string   `json:"name"`
	Groups []string `json:"groups"`
	// Via is the key of the delegate that made the call. Empty: the principal made it itself.
	Via string `json:"via,omitempty"`
}

// UsageContext is the value of the key `usage` in the context of a call that agentd makes: what the
// run had used before the response with the call, with its sub-runs and tools.
type UsageContext struct {
	Usage
	// Cost is in the unit of the prices of the operator. 0 also if no price is known.
	Cost float64 `json:"cost"`
}

// MemoryFile is an element of the value of the key `memory_files` in the context of a call that
// agentd makes: a text such as AGENTS.md that the run has in its instructions.
type MemoryFile struct {
	Name string `json:"name"` // of the file, without a folder of the operator
	// From is MemoryOperator or MemoryWorkspace. Tools and other people can have written a text from
	// the workspace.
	From string `json:"from"`
	Text string `json:"text"`
}

// The origins of a MemoryFile.
const (
	MemoryOperator  = "operator"
	MemoryWorkspace = "workspace"
)

// The names in the context of a call that toolhost keeps for itself.
const (
	// ReservedPrefix begins the keys that only toolhost may set.
	ReservedPrefix = "toolhost."
	// KeyPrincipal is the key of a PrincipalContext. toolhost sets it for tools that declare it.
	KeyPrincipal = ReservedPrefix + "principal"
	// KeyWorkingDirectory is the key of the absolute path of the call's workspace, a string. toolhost
	// sets it for tools that declare it, unless the call has no workspace.
	KeyWorkingDirectory = ReservedPrefix + "working_directory"
)

// Named reports whether the approval itself identifies its arguments.
func (a *Approval) Named() bool { return len(a.Arguments) > 0 || a.ArgumentsSHA256 != "" }
