package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Error is a failure of the machinery around a tool: what a caller handles, as opposed to a Result with IsError, which
// a model reads. All errors that leave the host, the client or the agent are or wrap an *Error.
type Error struct {
	Kind       Kind
	Message    string        // what happened, why, and what to do
	RetryAfter time.Duration // when another try makes sense; 0: unknown
	CallID     string
	Plugin     string
	Instance   string
	Exit       *Exit  // how the process ended, for KindCrashed and KindOutcomeUnknown
	Rule       string // the operator's rule that decided, for KindDenied and KindApprovalRequired; empty: none
	// Arguments are, for KindApprovalRequired, the final arguments that a person has to be shown: exactly those that are executed
	// once somebody approves them. Nil: they are too large to be carried.
	Arguments json.RawMessage
	// ArgumentsSHA256 is the digest of the final arguments, for Approval.ArgumentsSHA256: SHA-256 in hexadecimal digits.
	ArgumentsSHA256 string
	// Cost is what the call cost although it failed, in the unit of Spec.CostPerUse. 0: nothing was executed.
	Cost float64
	Err  error // the cause; not sent over the wire
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

// Errorf returns an error of a kind. The format may use %w once, for the cause.
func Errorf(kind Kind, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Kind: kind, Message: err.Error(), Err: errors.Unwrap(err)}
}

// AsError returns err as an *Error: the one that it wraps, else a new one of the kind that fits: KindTimeout for
// context.DeadlineExceeded, KindCancelled for context.Canceled, KindInternal for all else. nil stays nil.
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

// KindOf returns the kind of err as AsError finds it, or "" for nil.
func KindOf(err error) Kind {
	if err == nil {
		return ""
	}
	return AsError(err).Kind
}

// Kind names a failure of the machinery.
type Kind string

// The kinds of failure. proto/toolhost/tool/v1/error.proto says which gRPC status each maps to.
const (
	KindInvalidArgument  Kind = "invalid_argument"  // the request itself is wrong
	KindNotFound         Kind = "not_found"         // no such tool, plugin, call or run
	KindDenied           Kind = "denied"            // a rule forbids it
	KindApprovalRequired Kind = "approval_required" // a person has to agree first
	KindRateLimited      Kind = "rate_limited"      // too many calls; see RetryAfter
	KindTimeout          Kind = "timeout"           // the deadline passed
	KindCancelled        Kind = "cancelled"         // the caller, an operator or a shutdown cancelled it
	KindCrashed          Kind = "crashed"           // the process ended, and nothing happened that matters
	KindUnavailable      Kind = "unavailable"       // the plugin cannot take calls now
	KindOutcomeUnknown   Kind = "outcome_unknown"   // the process ended; side effects may have happened
	KindConflict         Kind = "conflict"          // the call id is taken by another call
	KindInternal         Kind = "internal"          // a bug, or a plugin that broke the contract
)
