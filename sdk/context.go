package sdk

import (
	"cmp"
	"context"
	"fmt"

	"github.com/toolhost/toolhost/tool"
)

// CallID returns the id of the call of ctx. The id is the idempotency key, and all attempts have
// the same one. Outside of a call, CallID, Session, Workspace and Traceparent return "".
func CallID(ctx context.Context) string {
	if c := callOf(ctx); c != nil {
		return c.info.CallID
	}
	return ""
}

// EffectKey returns a key of this execution of the call, for the place where its effect happens: an
// idempotency key, or a unique column. All attempts have the same one. If a check says that the
// call did not happen, the call may be executed again with the same id, and has another key. So a
// tool whose check seals passes along this key, and not the id; see Seals of Spec. It has at most
// 64 letters and digits. If toolhost is too old to give one, EffectKey returns the id.
func EffectKey(ctx context.Context) string {
	if c := callOf(ctx); c != nil {
		return cmp.Or(c.info.EffectKey, c.info.CallID)
	}
	return ""
}

// Attempt returns the number of the attempt, from 1, or 0 outside of a call.
func Attempt(ctx context.Context) int {
	if c := callOf(ctx); c != nil {
		return int(max(1, c.info.Attempt))
	}
	return 0
}

// Session returns the id of the session of the call, or "" if there is none.
func Session(ctx context.Context) string {
	if c := callOf(ctx); c != nil {
		return c.info.Session
	}
	return ""
}

// Workspace returns the absolute path of the folder in which the tool may work, or "" if there is
// none. Use OpenWorkspace for paths that a model chose: it keeps them inside the folder.
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

// Value returns the value of a key of the run's context, such as KeyRun. The tool must declare the
// key in Spec.ContextKeys. Where T has parts of type any, an integer beyond ±2^53 is a json.Number.
// found reports whether the context has the key. The error says that the
// value is not a T.
func Value[T any](ctx context.Context, key string) (value T, found bool, err error) {
	c := callOf(ctx)
	if c == nil {
		return value, false, nil
	}
	raw, found := c.info.Values[key]
	if !found {
		return value, false, nil
	}
	if err := unmarshal(raw, &value); err != nil {
		return value, true, fmt.Errorf("decoding the context value %q: %w", key, err)
	}
	return value, true, nil
}

// Secret returns a secret by its name. The tool must declare the name in Spec.RequiresAuth. found
// reports whether there is a value: a toolhost does not call a tool without all of its declared
// secrets. The value is that of this call, and the next call may have another one. toolhost removes
// the value from what the tool returns, logs and prints. The tool itself must protect the value in
// what it sends elsewhere and writes to files.
func Secret(ctx context.Context, name string) (secret string, found bool) {
	c := callOf(ctx)
	if c == nil {
		return "", false
	}
	secret, found = c.info.Secrets[name]
	return secret, found
}

// ReportStatus shows people the state of the call. The model never sees it. ReportStatus blocks
// while the receiver is slow, at most until ctx or the call ends. Any goroutine may call it. After
// the end of the call it does nothing.
//
// If a tool reports nothing, people see nothing. After the first report, the SDK keeps the states
// in order. The first report without a state has the state DOING, or WAIT in a preview. The
// execution after a preview starts with DOING. The call ends with SUCCESS or ERROR, depending on
// its outcome, unless the tool has reported one of them. The SDK drops a state that goes back, and
// everything after a terminal state.
func ReportStatus(ctx context.Context, s Status) {
	if c := callOf(ctx); c != nil {
		c.report(ctx, s)
	}
}

// ReportProgress shows people the progress of the work, in a unit that the tool chooses. done must
// not decrease. A total of 0 means unknown. message is one line about the current step, or "". It
// is a ReportStatus with only a progress.
func ReportProgress(ctx context.Context, done, total float64, message string) {
	ReportStatus(ctx, tool.Status{Progress: &tool.Progress{Done: done, Total: total, Message: message}})
}
