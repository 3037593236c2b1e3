package sdk

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolhost/toolhost/tool"
)

// CallID returns the id of the call that ctx belongs to: the idempotency key, the same in every attempt. Outside of a
// call it is empty, as are Session, Workspace and Traceparent.
func CallID(ctx context.Context) string {
	if c := callOf(ctx); c != nil {
		return c.info.CallID
	}
	return ""
}

// Attempt returns which try of the call this is, from 1, or 0 outside of a call.
func Attempt(ctx context.Context) int {
	if c := callOf(ctx); c != nil {
		return int(max(1, c.info.Attempt))
	}
	return 0
}

// Session returns the id of the session that the call belongs to, or "" if there is none.
func Session(ctx context.Context) string {
	if c := callOf(ctx); c != nil {
		return c.info.Session
	}
	return ""
}

// Workspace returns the folder that the tool may work in, as an absolute path, or "" if there is none. OpenWorkspace
// opens it so that paths that a model chose stay within it.
func Workspace(ctx context.Context) string {
	if c := callOf(ctx); c != nil {
		return c.info.Workspace
	}
	return ""
}

// Traceparent returns the W3C trace context of the call, or "" if there is none.
func Traceparent(ctx context.Context) string {
	if c := callOf(ctx); c != nil {
		return c.info.Traceparent
	}
	return ""
}

// Value returns the value of a key of the run's context, such as KeyRun, which the tool must have declared in
// Spec.ContextKeys. found says whether there is one. The error says that it is not a T.
func Value[T any](ctx context.Context, key string) (value T, found bool, err error) {
	c := callOf(ctx)
	if c == nil {
		return value, false, nil
	}
	raw, found := c.info.Values[key]
	if !found {
		return value, false, nil
	}
	if err := json.Unmarshal(raw, &value); err != nil {
		return value, true, fmt.Errorf("decoding the context value %q: %w", key, err)
	}
	return value, true, nil
}

// Secret returns a secret by its name, which the tool must have declared in Spec.RequiresAuth. found says whether there
// is one: a toolhost does not call a tool whose declared secrets it lacks, or whose plugin the operator has not granted
// them. The value is the one of this call; the next may have another. What the tool says and prints is shown without it;
// what it sends elsewhere, and writes into files, is the tool's to guard.
func Secret(ctx context.Context, name string) (secret string, found bool) {
	c := callOf(ctx)
	if c == nil {
		return "", false
	}
	secret, found = c.info.Secrets[name]
	return secret, found
}

// ReportStatus shows people how the call stands. The model never sees it. It blocks while the receiver is slow, at most
// until ctx or the call is done, and may be called from any goroutine; after the call has ended it does nothing.
//
// A tool that reports nothing shows nothing. Once it has reported something, the states are kept in order for it: the
// first report without a state counts as DOING, or as WAIT in a preview; the execution after a preview is DOING; and the
// end of the call is SUCCESS or ERROR, as its outcome is, unless the tool has said so itself. A state that goes back is
// left out, and nothing is shown after a terminal state.
func ReportStatus(ctx context.Context, s Status) {
	if c := callOf(ctx); c != nil {
		c.report(ctx, s)
	}
}

// ReportProgress shows people how far the work is, in units of the tool's choice: done must not fall, and total is 0 if
// it is not known. The message, if not empty, is one line on what is being done. It is a ReportStatus with progress only.
func ReportProgress(ctx context.Context, done, total float64, message string) {
	ReportStatus(ctx, tool.Status{Progress: &tool.Progress{Done: done, Total: total, Message: message}})
}
