package mcphttp

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// outcome is the execution of a call whose client wants only the outcome. The host makes such a call
// by its method Do, which costs less than Open.
//
// ended has room for the outcome, so the host never waits for a client that has left. Next has one
// caller; the other methods are safe for concurrent use.
type outcome struct {
	ended     chan tool.Event
	execution atomic.Pointer[tool.Execution] // nil: the host has not begun the call
	canceled  atomic.Pointer[string]         // the reason; nil: the client has not canceled the call
	stop      context.CancelFunc
	read      bool // Next has returned the outcome
}

// do begins a call. The caller must close the execution.
func (t *hostTools) do(ctx context.Context, call tool.Call) *outcome {
	ctx, stop := context.WithCancel(ctx)
	o := &outcome{ended: make(chan tool.Event, 1), stop: stop}
	t.host.Do(t.context(ctx), call, time.Time{}, o.opened, func(ev tool.Event) { o.ended <- ev })
	return o
}

func (o *outcome) opened(e tool.Execution) {
	o.execution.Store(&e)
	if reason := o.canceled.Load(); reason != nil {
		e.Cancel(*reason)
	}
}

// Send implements tool.Execution. The arguments are complete.
func (*outcome) Send(context.Context, []byte, bool) error { return nil }

// Next implements tool.Execution.
func (o *outcome) Next(ctx context.Context) (tool.Event, error) {
	if o.read {
		return tool.Event{}, io.EOF
	}
	select {
	case ev := <-o.ended:
		o.read = true
		return ev, nil
	case <-ctx.Done():
		return tool.Event{}, context.Cause(ctx)
	}
}

// Cancel implements tool.Execution.
func (o *outcome) Cancel(reason string) {
	o.canceled.Store(&reason) // for opened, if the host has not begun the call
	if e := o.execution.Load(); e != nil {
		(*e).Cancel(reason)
	}
}

// Close implements tool.Execution: the host cancels a call whose id it generated when the context
// ends.
func (o *outcome) Close() { o.stop() }
