package sdk

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolhost/toolhost/sdk/workspace"
	"github.com/toolhost/toolhost/tool"
)

// Unavailable returns an error that says that the tool cannot reach something that it needs. The
// caller may repeat the call if that is safe. The format may wrap one cause with %w.
func Unavailable(format string, args ...any) *Error {
	return tool.Errorf(tool.KindUnavailable, format, args...)
}

// RateLimited returns an error that says that a service refuses further requests for now.
// retryAfter is the time until a retry makes sense; 0 means unknown. The format may wrap one cause
// with %w.
func RateLimited(retryAfter time.Duration, format string, args ...any) *Error {
	err := tool.Errorf(tool.KindRateLimited, format, args...)
	err.RetryAfter = retryAfter
	return err
}

// Denied returns an error that says that the tool has no permission, whatever the arguments are,
// for example because a secret is invalid. The format may wrap one cause with %w.
func Denied(format string, args ...any) *Error {
	return tool.Errorf(tool.KindDenied, format, args...)
}

// Internal returns an error that says that the tool has a bug. The format may wrap one cause with
// %w.
func Internal(format string, args ...any) *Error {
	return tool.Errorf(tool.KindInternal, format, args...)
}

// outcome converts an error of the tool into a result for the model, or into an error for the
// caller. It makes paths in the workspace relative to it.
func outcome(ctx context.Context, err error) (tool.Result, error) {
	if infra, ok := errors.AsType[*tool.Error](err); ok {
		if infra == nil {
			infra = Internal("the tool returned an *Error that is nil; return a plain nil instead")
		}
		if words := relativeTo(Workspace(ctx), infra.Message); words != infra.Message {
			shortened := *infra
			shortened.Message, infra = words, &shortened
		}
		return tool.Result{}, infra
	}
	if errors.Is(err, workspace.ErrUnavailable) {
		return outcome(ctx, Unavailable("%w", err))
	}
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return tool.Result{}, ended(ctx)
	}
	text := strings.ToValidUTF8(err.Error(), "\uFFFD")
	if text == "" {
		text = fmt.Sprintf("the tool failed with an error of type %T that says nothing", err)
	}
	return tool.ErrorResult(relativeTo(Workspace(ctx), text)), nil
}

// ended returns why ctx ended, as an error of kind timeout or cancelled.
func ended(ctx context.Context) *tool.Error {
	if infra, ok := errors.AsType[*tool.Error](context.Cause(ctx)); ok && infra != nil {
		return infra
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &tool.Error{Kind: tool.KindTimeout, Message: "the call ran out of time", Err: ctx.Err()}
	}
	message := "the call was cancelled"
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		message += ": " + cause.Error()
	}
	return &tool.Error{Kind: tool.KindCancelled, Message: message, Err: ctx.Err()}
}
