package host_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/internal/host/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// resting takes a second, unless its call is cancelled.
var resting = hosttest.Tool{
	Spec: tool.Spec{Name: "rest", Description: "Takes a second."},
	Run: func(ctx context.Context, _ tool.Call, _ func(tool.Event)) (tool.Result, error) {
		select {
		case <-time.After(time.Second): // virtual
			return tool.TextResult("rested"), nil
		case <-ctx.Done():
			return tool.Result{}, ctx.Err()
		}
	},
}

// do returns the outcome that Do passes on, and how often Do passes anything on. If cancel is set,
// the caller leaves while the tool runs.
func do(t *testing.T, r *rig, c tool.Call, cancel bool) (got tool.Outcome, opened, done int) {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	ended := make(chan tool.Outcome, 2)
	r.Do(ctx, c, time.Time{}, func(tool.Execution) { opened++ }, func(ev tool.Event) { done++; ended <- *ev.Ended })
	if cancel {
		synctest.Wait()
		leave()
	}
	got = <-ended
	synctest.Wait()
	return got, opened, done
}

func withID(name, arguments string) tool.Call {
	c := call(name, arguments)
	c.ID = "mine"
	return c
}

// Do passes the outcome on exactly once, whatever happens to the call and to its caller.
func TestDo(t *testing.T) {
	for name, tc := range map[string]struct {
		call   tool.Call
		cancel bool      // the caller leaves while the tool runs
		closed bool      // the host is closed before the call
		opened int       // how often Do passed an execution on
		kind   tool.Kind // of the failure; empty: there is a result
		text   string    // of the result
	}{
		"answered":               {call: call("echo", `{"text":"x"}`), opened: 1, text: "x"},
		"with an id":             {call: withID("echo", `{"text":"x"}`), opened: 1, text: "x"},
		"no such tool":           {call: withID("nothing", `{}`), kind: tool.KindNotFound},
		"left by its caller":     {call: call("rest", `{}`), cancel: true, opened: 1, kind: tool.KindCancelled},
		"left, and it has an id": {call: withID("rest", `{}`), cancel: true, opened: 1, text: "rested"},
		"toolhost stops":         {call: withID("echo", `{"text":"x"}`), closed: true, kind: tool.KindUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, append(hosttest.Tools(), resting), nil)
				if tc.closed {
					r.Close()
				}
				got, opened, done := do(t, r, tc.call, tc.cancel)
				if opened != tc.opened || done != 1 {
					t.Errorf("%d executions and %d outcomes were told, want %d and 1", opened, done, tc.opened)
				}
				kind := tool.Kind("")
				if got.Err != nil {
					kind = got.Err.Kind
				}
				if kind != tc.kind || got.Result.Text() != tc.text {
					t.Errorf("the call ended with %v and %q", got.Err, got.Result.Text())
				}
				if tc.call.ID != "" && got.CallID != tc.call.ID {
					t.Errorf("the outcome is that of call %q", got.CallID)
				}
			})
		})
	}
}
