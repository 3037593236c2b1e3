package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Error is an infrastructure error, which a caller handles. A model reads a Result with IsError
// instead. Every error that the host, the client or the agent returns is or wraps an *Error.
type Error struct {
	Kind       Kind
	Message    string        // what happened, why, and what the caller can do
	RetryAfter time.Duration // how long to wait before a retry; 0: unknown
	CallID     string
	Plugin     string
	Instance   string
	Exit       *Exit // how the process ended, for KindCrashed and KindOutcomeUnknown
	// the policy rule that decided, for KindDenied and KindApprovalRequired; empty: none
	Rule string
	// Arguments are the final arguments, for KindApprovalRequired. The caller shows them to a
	// person. If the person approves them, the host executes exactly them. nil: they are too large
	// for the error.
	Arguments json.RawMessage
	// ArgumentsSHA256 is the digest of the final arguments, for Approval.ArgumentsSHA256: SHA-256
	// in hexadecimal digits.
	ArgumentsSHA256 string
	// Cost is the cost of the failed call, in the unit of Spec.CostPerUse. 0: nothing was executed.
	Cost float64
	// FourEyes says, for KindApprovalRequired, that the approver must be a principal other than the
	// one that the call is for.
	FourEyes bool
	// ApproverGroups are, for KindApprovalRequired, the keys of the groups of which the approver has
	// to be in one: GROUP, or TENANT/GROUP outside of the default tenant. Empty: any approver.
	ApproverGroups []string
	// DefinitionSHA256 is the digest of the tool's definition, for KindApprovalRequired. A caller
	// that creates a standing approval from the call sends it with the request. Empty: toolhost has
	// no standing approvals.
	DefinitionSHA256 string
	// Decision is the name of the decision with which the host holds the call, for
	// KindApprovalRequired. Empty: it does not hold the call; see Call.ApprovalWait.
	Decision string
	// SessionMove is, for KindApprovalRequired, what Approval.SessionMove has to be: the approval also
	// moves the session to a host that does not have its files, and Message says so. Empty: the
	// session does not move.
	SessionMove string
	Err         error // the cause; not sent over the wire
}

// Error returns the message, or the kind if there is none.
func (e *Error) Error() string {
	if e.Message == "" {
		return string(e.Kind)
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an error of a kind. The format may wrap one cause with %w.
func Errorf(kind Kind, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Kind: kind, Message: err.Error(), Err: errors.Unwrap(err)}
}

// AsError returns the *Error that err is or wraps. It converts any other error:
// context.DeadlineExceeded to KindTimeout, context.Canceled to KindCancelled, and everything else
// to KindInternal. It returns nil for nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	kind := KindInternal
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		kind = KindTimeout
	case errors.Is(err, context.Canceled):
		kind = KindCancelled
	}
	return &Error{Kind: kind, Message: err.Error(), Err: err}
}

// KindOf returns the kind of AsError(err), or "" for nil.
func KindOf(err error) Kind {
	if err == nil {
		return ""
	}
	return AsError(err).Kind
}

// Kind is the kind of an infrastructure error.
type Kind string

// The kinds of infrastructure errors. proto/toolhost/tool/v1/error.proto maps each to a gRPC
// status.
const (
	KindInvalidArgument  Kind = "invalid_argument"  // the request is invalid
	KindNotFound         Kind = "not_found"         // no such tool, plugin, call or run
	KindDenied           Kind = "denied"            // a rule forbids it
	KindApprovalRequired Kind = "approval_required" // a person has to approve the call first
	KindRateLimited      Kind = "rate_limited"      // too many calls; see RetryAfter
	KindTimeout          Kind = "timeout"           // the deadline passed
	KindCancelled        Kind = "cancelled"         // the caller, an operator or a shutdown cancelled it
	// the process ended, and the call had no side effects
	KindCrashed        Kind = "crashed"
	KindUnavailable    Kind = "unavailable"     // the plugin cannot accept calls now
	KindOutcomeUnknown Kind = "outcome_unknown" // the process ended; side effects may have happened
	KindConflict       Kind = "conflict"        // another call has the id
	// the operator, the caller or an older version does not allow it, such as a question of a tool
	KindUnsupported Kind = "unsupported"
	// a bug in toolhost, or a plugin that violates the protocol
	KindInternal Kind = "internal"
)
