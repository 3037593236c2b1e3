package host_test

import (
	"context"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// The event log keeps the last status, however much a tool reports.
func TestLastStatusIsKept(t *testing.T) {
	chatters := hosttest.Tool{
		Spec: tool.Spec{Name: "chatters", Description: "Says more than anybody keeps."},
		Run: func(_ context.Context, _ tool.Call, emit func(tool.Event)) (tool.Result, error) {
			for range 10_000 { // more than the log can store
				emit(tool.Event{Log: &tool.LogRecord{Level: tool.LogInfo, Message: "x"}})
			}
			emit(tool.Event{Status: &tool.Status{State: tool.StatusSuccess, Message: "done"}})
			return tool.TextResult("said"), nil
		},
	}
	r := newRig(t, []hosttest.Tool{chatters}, nil)
	e, err := r.Open(t.Context(), call("chatters", "{}"), true)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	untilStatus(t, e, "done")
	if got := end(t, e); got.Err != nil {
		t.Errorf("the call ended with %+v", got.Err)
	}
}
