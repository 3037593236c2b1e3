package tool

import (
	"encoding/json"
	"time"
)

// StandingApproval is an approval of later calls of one tool, which a person gives in advance.
// proto/toolhost/v1/approval_service.proto says which calls it approves, and when it ends.
type StandingApproval struct {
	ID string `json:"id"` // which toolhost chose
	// Principal is the key of the principal whose calls it approves, and Via that of the delegate
	// that makes them. Empty: the principal makes the calls itself.
	Principal string `json:"principal"`
	Via       string `json:"via,omitempty"`
	Agent     string `json:"agent,omitempty"` // empty: calls without an agent
	Tool      string `json:"tool"`
	Plugin    string `json:"plugin"`
	// DefinitionSHA256 is the digest of the definition of the tool.
	DefinitionSHA256 string `json:"definition_sha256"`
	// Rule is the rule of the policy that required the approval. The approval is valid for calls about
	// which the same rule decides, as it was then. Empty: no rule decided, and the tool is dangerous.
	Rule    string        `json:"rule,omitempty"`
	Scope   ApprovalScope `json:"scope"`
	Run     string        `json:"run,omitempty"`     // for ScopeRun
	Session string        `json:"session,omitempty"` // for ScopeSession
	// AnyArguments permits all arguments. Otherwise Arguments have to be equal, except for those with
	// a pattern.
	AnyArguments bool              `json:"any_arguments,omitempty"`
	Patterns     []ArgumentPattern `json:"patterns,omitempty"`
	Arguments    json.RawMessage   `json:"arguments,omitempty"` // without those with a pattern
	Approver     string            `json:"approver"`            // the key of the principal that approved
	ApprovedBy   string            `json:"approved_by,omitempty"`
	Reason       string            `json:"reason,omitempty"`
	CallID       string            `json:"call_id,omitempty"` // of the approved call
	Created      time.Time         `json:"create_time"`
	Expires      time.Time         `json:"expire_time"`
	Ended        time.Time         `json:"end_time,omitzero"` // zero: it is in force
	End          ApprovalEnd       `json:"end,omitempty"`
	RevokedBy    string            `json:"revoked_by,omitempty"` // the key of a principal
}

// ApprovalScope says for which calls a standing approval is valid, besides its tool, principal,
// agent and delegate.
type ApprovalScope string

// The scopes.
const (
	ScopeRun       ApprovalScope = "run"       // the calls of one run, without its sub-runs
	ScopeSession   ApprovalScope = "session"   // the calls of one session with a name
	ScopePrincipal ApprovalScope = "principal" // all calls until the expiry
)

// ApprovalEnd says why a standing approval ended.
type ApprovalEnd string

// The ends of standing approvals.
const (
	ApprovalRevoked ApprovalEnd = "revoked"
	ApprovalExpired ApprovalEnd = "expired"
	// the definition of the tool, its plugin, the operator's trust in the plugin or the rule of the
	// policy changed
	ApprovalChanged  ApprovalEnd = "changed"
	ApprovalRestored ApprovalEnd = "restored" // the ledger of calls was restored or replaced
)

// ArgumentPattern permits more than one value of one argument. Exactly one of PathPrefix, Origin
// and Any is set.
type ArgumentPattern struct {
	Argument string `json:"argument"` // a member of the arguments
	// PathPrefix is a path relative to the workspace. It permits the path and what lies below it.
	PathPrefix string `json:"path_prefix,omitempty"`
	// Origin is the origin of URLs, such as https://example.com.
	Origin string `json:"origin,omitempty"`
	// Any permits all values of an argument that the tool declares as content.
	Any bool `json:"any,omitempty"`
}

// ApprovalRequest asks for a standing approval. The fields with the names of StandingApproval have
// the meaning that they have there.
type ApprovalRequest struct {
	// RequestID identifies the request within the principal, as a call id identifies a call. Empty:
	// each request creates an approval.
	RequestID string
	Principal string   // servers set it, and Groups and Via, as they do for calls
	Groups    []string // of the principal
	Via       string
	From      string // where the caller is, for the audit log
	Tool      string
	// Arguments are the final arguments of the approved call. Later calls must have the same, except
	// for those with a pattern. Empty: {}.
	Arguments        json.RawMessage
	DefinitionSHA256 string // of Error.DefinitionSHA256; empty: that in force
	Agent            string
	Run, Session     string // of the approved call
	Scope            ApprovalScope
	AnyArguments     bool
	Patterns         []ArgumentPattern
	Expires          time.Time // zero: the longest time that the operator allows, except for ScopePrincipal
	CallID           string
	// Approver is the key of the principal that approves, and ApproverGroups are its groups within its
	// tenant. Servers set them; a client of a delegate sends ApproverGroups.
	Approver           string
	ApproverGroups     []string
	ApprovedBy, Reason string
	Context            map[string]json.RawMessage // of the approved call, for the rules of the policy
}

// ApprovalQuery selects standing approvals.
type ApprovalQuery struct {
	Principal     string  // the key of one principal; servers set it
	AllPrincipals bool    // those of all principals that the caller may see, instead of one
	Approved      bool    // those that the principal gave, instead of those of its calls
	Tenants       Tenants // only these; nil: all
	Tool          string  // empty: all
	Run           string  // empty: all
	Ended         bool    // also those that have ended
	PageSize      int     // 0: 100; at most 1000
	PageToken     string  // empty: the first page
	// May reports whether the caller may see approvals of a principal with this key, for Approved.
	// Servers set it.
	May func(principal string) bool
}

// ApprovalPage is one page of standing approvals, the newest first.
type ApprovalPage struct {
	Approvals     []StandingApproval
	NextPageToken string // empty: there is no further page
}

// ApprovalRevocation names a standing approval that ends.
type ApprovalRevocation struct {
	ID     string
	By     string // the key of the principal that revokes it
	Via    string // the key of the delegate that acts for it; empty: none
	From   string // where the caller is, for the audit log
	Reason string
	// May reports whether the caller may revoke approvals of a principal with this key.
	May func(principal string) bool
}

// The metadata of a declared tool, and of a result.
const (
	// KeyArguments is a key of Spec.Metadata: an object that says what the arguments of the tool are,
	// by their names. Standing approvals depend on it.
	KeyArguments = ReservedPrefix + "arguments"
	// KeyStandingApproval is a key of Result.Metadata: an object with the id and the approver of the
	// standing approval that approved the call.
	KeyStandingApproval = ReservedPrefix + "standing_approval"
)

// ArgumentKind is what an argument of a tool is, in the metadata KeyArguments. Other arguments may
// have only the patterns that toolhost can check without it.
type ArgumentKind string

// The kinds of arguments.
const (
	ArgumentPath    ArgumentKind = "path"    // of a file or folder, relative to the workspace
	ArgumentURL     ArgumentKind = "url"     // that the tool connects to
	ArgumentContent ArgumentKind = "content" // that is stored or sent, and never executed
	ArgumentCommand ArgumentKind = "command" // that is executed; it has no pattern
)
