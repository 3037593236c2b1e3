package mcphttp

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// lateHost begins and ends a call when the test says so.
type lateHost struct {
	Host
	ctx    context.Context
	opened func(tool.Execution)
	done   func(tool.Event)
}

func (h *lateHost) Do(ctx context.Context, _ tool.Call, _ time.Time, opened func(tool.Execution), done func(tool.Event)) {
	h.ctx, h.opened, h.done = ctx, opened, done
}

// canceledExecution records why it was canceled.
type canceledExecution struct {
	tool.Execution
	reasons []string
}

func (e *canceledExecution) Cancel(reason string) { e.reasons = append(e.reasons, reason) }

// TestOutcome checks a call whose client wants only the outcome: a cancellation reaches the host even
// if the host has not begun the call, and a client that leaves blocks nothing.
func TestOutcome(t *testing.T) {
	h, e := &lateHost{}, &canceledExecution{}
	tools := &hostTools{host: h}
	call, err := tools.Open(t.Context(), tool.Call{Tool: "t", OutcomeOnly: true}, true)
	if err != nil {
		t.Fatal(err)
	}
	call.Cancel("early")
	h.opened(e)
	call.Cancel("late")
	if len(e.reasons) != 2 || e.reasons[0] != "early" || e.reasons[1] != "late" {
		t.Errorf("the host canceled the call because of %q", e.reasons)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := call.Next(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("a client that has left: %v", err)
	}
	h.done(tool.Event{Ended: &tool.Outcome{CallID: "c"}})
	if ev, err := call.Next(t.Context()); err != nil || ev.Ended.CallID != "c" {
		t.Errorf("%+v, %v", ev, err)
	}
	if _, err := call.Next(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("after the outcome: %v", err)
	}
	if h.ctx.Err() != nil {
		t.Error("the context of the call ended before the call was closed")
	}
	call.Close()
	if h.ctx.Err() == nil {
		t.Error("the host does not learn that the call was closed")
	}
}
