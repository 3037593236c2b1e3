package toolpb

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	"github.com/toolhost/toolhost/internal/text/crashoutput"
	"github.com/toolhost/toolhost/tool"
)

var errorKinds = pairs(map[tool.Kind]toolv1.ErrorKind{
	tool.KindInvalidArgument:  toolv1.ErrorKind_ERROR_KIND_INVALID_ARGUMENT,
	tool.KindNotFound:         toolv1.ErrorKind_ERROR_KIND_NOT_FOUND,
	tool.KindDenied:           toolv1.ErrorKind_ERROR_KIND_DENIED,
	tool.KindApprovalRequired: toolv1.ErrorKind_ERROR_KIND_APPROVAL_REQUIRED,
	tool.KindRateLimited:      toolv1.ErrorKind_ERROR_KIND_RATE_LIMITED,
	tool.KindTimeout:          toolv1.ErrorKind_ERROR_KIND_TIMEOUT,
	tool.KindCancelled:        toolv1.ErrorKind_ERROR_KIND_CANCELLED,
	tool.KindCrashed:          toolv1.ErrorKind_ERROR_KIND_CRASHED,
	tool.KindUnavailable:      toolv1.ErrorKind_ERROR_KIND_UNAVAILABLE,
	tool.KindOutcomeUnknown:   toolv1.ErrorKind_ERROR_KIND_OUTCOME_UNKNOWN,
	tool.KindConflict:         toolv1.ErrorKind_ERROR_KIND_CONFLICT,
	tool.KindInternal:         toolv1.ErrorKind_ERROR_KIND_INTERNAL,
	tool.KindUnsupported:      toolv1.ErrorKind_ERROR_KIND_UNSUPPORTED,
})

// FromError converts an error without its cause. nil stays nil.
func FromError(e *tool.Error) *toolv1.Error {
	if e == nil {
		return nil
	}
	return &toolv1.Error{
		Kind:       errorKinds.from(e.Kind),
		Message:    validText(e.Message),
		RetryAfter: FromDuration(e.RetryAfter),
		CallId:     validText(e.CallID),
		Plugin:     validText(e.Plugin),
		Instance:   validText(e.Instance),
		Exit:       FromExit(e.Exit),
		Rule:       validText(e.Rule),
		Arguments:  e.Arguments, ArgumentsSha256: validText(e.ArgumentsSHA256), Cost: e.Cost, FourEyes: e.FourEyes,
		DefinitionSha256: validText(e.DefinitionSHA256), Decision: validText(e.Decision), ApproverGroups: validTexts(e.ApproverGroups),
		SessionMove: validText(e.SessionMove),
	}
}

// ToError converts an error. nil stays nil. An unset or unknown kind becomes tool.KindInternal.
func ToError(e *toolv1.Error) *tool.Error {
	if e == nil {
		return nil
	}
	return &tool.Error{
		Kind:       errorKinds.to(e.GetKind(), tool.KindInternal),
		Message:    e.GetMessage(),
		RetryAfter: ToDuration(e.GetRetryAfter()),
		CallID:     e.GetCallId(),
		Plugin:     e.GetPlugin(),
		Instance:   e.GetInstance(),
		Exit:       ToExit(e.GetExit()),
		Rule:       e.GetRule(),
		Arguments:  e.GetArguments(), ArgumentsSHA256: e.GetArgumentsSha256(), Cost: cost(e.GetCost()), FourEyes: e.GetFourEyes(),
		DefinitionSHA256: e.GetDefinitionSha256(), Decision: e.GetDecision(), ApproverGroups: toTexts(e.GetApproverGroups()),
		SessionMove: e.GetSessionMove(),
	}
}

// FromExit converts the exit of a process. nil stays nil.
func FromExit(e *tool.Exit) *toolv1.Exit {
	if e == nil {
		return nil
	}
	return &toolv1.Exit{
		Code:        int32(e.Code),
		Signal:      validText(e.Signal),
		OutOfMemory: e.OutOfMemory,
		Reason:      validText(e.Reason),
		LastStderr:  validTexts(e.LastStderr),
	}
}

// ToExit converts the exit of a process. nil stays nil.
func ToExit(e *toolv1.Exit) *tool.Exit {
	if e == nil {
		return nil
	}
	return &tool.Exit{
		Code:        int(e.GetCode()),
		Signal:      e.GetSignal(),
		OutOfMemory: e.GetOutOfMemory(),
		Reason:      e.GetReason(),
		LastStderr:  toTexts(e.GetLastStderr()),
	}
}

// A gRPC status is sent in HTTP/2 trailers, which several gRPC implementations refuse beyond 8 KiB.
// These limits keep the worst case below that: the short message percent-encoded, then the short
// message, the long message and the lines of standard error in base64.
const (
	maxStatusMessage   = 512
	maxDetailArguments = 2048
	maxDetailMessage   = 1536
	maxDetailStderr    = 1536
)

// Code returns the gRPC code of a kind, and codes.Internal for an unknown kind.
func Code(kind tool.Kind) codes.Code {
	switch kind {
	case tool.KindInvalidArgument:
		return codes.InvalidArgument
	case tool.KindNotFound:
		return codes.NotFound
	case tool.KindDenied:
		return codes.PermissionDenied
	case tool.KindApprovalRequired:
		return codes.FailedPrecondition
	case tool.KindRateLimited:
		return codes.ResourceExhausted
	case tool.KindTimeout:
		return codes.DeadlineExceeded
	case tool.KindCancelled:
		return codes.Canceled
	case tool.KindCrashed:
		return codes.Aborted
	case tool.KindUnavailable:
		return codes.Unavailable
	case tool.KindOutcomeUnknown:
		return codes.Unknown
	case tool.KindConflict:
		return codes.AlreadyExists
	case tool.KindUnsupported:
		return codes.Unimplemented
	default:
		return codes.Internal
	}
}

// kindOf returns the kind of a status without a detail, by its code. A code that no kind maps to
// becomes the nearest kind. codes.Unknown becomes internal, although outcome_unknown maps to it,
// because every server may return it.
func kindOf(code codes.Code) tool.Kind {
	switch code {
	case codes.InvalidArgument, codes.OutOfRange:
		return tool.KindInvalidArgument
	case codes.Unimplemented:
		return tool.KindUnsupported
	case codes.NotFound:
		return tool.KindNotFound
	case codes.PermissionDenied, codes.Unauthenticated:
		return tool.KindDenied
	case codes.FailedPrecondition:
		return tool.KindApprovalRequired
	case codes.ResourceExhausted:
		return tool.KindRateLimited
	case codes.DeadlineExceeded:
		return tool.KindTimeout
	case codes.Canceled:
		return tool.KindCancelled
	case codes.Aborted:
		return tool.KindCrashed
	case codes.Unavailable:
		return tool.KindUnavailable
	case codes.AlreadyExists:
		return tool.KindConflict
	default:
		return tool.KindInternal
	}
}

// StatusError converts an error to the gRPC status error that a handler returns: the code of its
// kind, with the *tool.Error as a detail. It clips long messages and lines of standard error to
// what trailers can carry, and keeps the lines that explain the exit. nil stays nil. A gRPC status
// error that does not wrap a *tool.Error is returned unchanged.
func StatusError(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*tool.Error](err); !ok {
		if st, ok := status.FromError(err); ok {
			return st.Err()
		}
	}
	e := tool.AsError(err)
	e = shortened(e)
	detail := FromError(e)
	detail.Message = clip(detail.Message, maxDetailMessage)
	st := status.New(Code(e.Kind), clip(validText(e.Error()), maxStatusMessage))
	if with, err := st.WithDetails(detail); err == nil {
		st = with
	}
	return st.Err()
}

// shortened clips the error to what trailers can carry. It keeps the arguments completely or drops
// them, because a person who approves a call must see all of them.
func shortened(e *tool.Error) *tool.Error {
	short := *e
	if e.Exit != nil {
		exit := *e.Exit
		exit.LastStderr = crashoutput.Shorten(exit.LastStderr, maxDetailStderr)
		short.Exit = &exit
	}
	if len(e.Arguments) > maxDetailArguments {
		short.Arguments = nil
		short.Message = fmt.Sprintf("%s; the final arguments have %d bytes, which is more than the status of an RPC carries: make the call with Execute to get them",
			clip(e.Error(), maxStatusMessage), len(e.Arguments))
	}
	return &short
}

// FromStatusError converts the error of an RPC to a *tool.Error that wraps it: the detail of the
// status, or an error whose kind fits the code. If the error already wraps a *tool.Error, it
// returns that one. An error without a gRPC status is converted by tool.AsError. nil stays nil.
func FromStatusError(err error) *tool.Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*tool.Error](err); ok {
		return e
	}
	st, ok := status.FromError(err)
	if !ok {
		return tool.AsError(err)
	}
	for _, detail := range st.Details() {
		if d, ok := detail.(*toolv1.Error); ok {
			e := ToError(d)
			e.Err = err
			return e
		}
	}
	message := st.Message()
	if message == "" {
		message = st.Code().String()
	}
	return &tool.Error{Kind: kindOf(st.Code()), Message: message, Err: err}
}

// clip shortens s to at most limit bytes, between characters, and appends an ellipsis.
func clip(s string, limit int) string {
	const more = "…"
	if len(s) <= limit {
		return s
	}
	end := limit - len(more)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + more
}
