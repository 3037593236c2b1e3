package toolpb

import (
	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
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
})

// FromError converts a failure; its cause stays behind. nil is nil.
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
		Arguments:  e.Arguments, ArgumentsSha256: validText(e.ArgumentsSHA256), Cost: e.Cost,
	}
}

// ToError converts a failure. nil is nil; a kind that is not set or not known is tool.KindInternal.
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
		Arguments:  e.GetArguments(), ArgumentsSHA256: e.GetArgumentsSha256(), Cost: finite(e.GetCost()),
	}
}

// FromExit converts how a process ended. nil is nil.
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

// ToExit converts how a process ended. nil is nil.
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
