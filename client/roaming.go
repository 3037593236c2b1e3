package client

import (
	"context"
	"errors"
	"sync"

	"github.com/toolhost/toolhost/internal/wire/link"
	"github.com/toolhost/toolhost/tool"
)

// roaming is a call of a client of several toolhosts. It implements tool.Execution.
//
// If a toolhost refuses the call because it cannot take calls, or is lost, roaming opens the call
// at the next one. A call that may have been executed is opened again only if it has an id, by
// which a toolhost joins it or knows its outcome: first the same toolhost, which may only have lost
// the connection and knows more of the call, then the next ones. If no toolhost does, their other
// answers say nothing about the first execution. Then roaming ends the call with the outcome from
// the lost toolhost, as if there were no next one.
type roaming struct {
	client *Client
	opened context.Context // of Open, for its values
	call   tool.Call
	nodes  []*link.Link  // that were not tried
	doubt  *tool.Outcome // it may have been executed at a toolhost that was lost; nil: it was not
	fresh  bool          // the current toolhost has got a new token

	mutex   sync.Mutex
	current *execution
	reason  *string // of Cancel; nil: not canceled
	closed  bool
}

// Next implements tool.Execution.
func (r *roaming) Next(ctx context.Context) (tool.Event, error) {
	for {
		event, err := r.current.Next(ctx) // only Next replaces it
		if err != nil || event.Ended == nil {
			return event, err
		}
		if !r.proceed(ctx, event.Ended) {
			return r.end(event), nil
		}
	}
}

// end returns the last event of a call that is not opened again.
func (r *roaming) end(event tool.Event) tool.Event {
	if r.doubt != nil && event.Ended.Err != nil && refuses(event.Ended.Err.Kind) {
		event.Ended = r.doubt
	}
	return event
}

// refuses reports whether an error says nothing about an earlier execution of the call.
func refuses(kind tool.Kind) bool {
	switch kind {
	case tool.KindOutcomeUnknown, tool.KindCrashed, tool.KindTimeout, tool.KindCancelled, tool.KindInternal:
		return false
	}
	return true
}

// proceed opens the call again after an outcome, and reports whether it did.
func (r *roaming) proceed(ctx context.Context, out *tool.Outcome) bool {
	lost := out.Err != nil && errors.Is(out.Err, ErrNoServer)
	switch {
	case out.Err == nil || r.ended():
		return false
	case !r.fresh && r.current.refused(out) && r.current.session.renew(ctx):
		r.fresh = true
		if r.open(ctx, r.current.session.link) {
			return true
		}
	case lost && out.Err.Kind == tool.KindOutcomeUnknown:
		if r.call.ID == "" {
			return false
		}
		if r.doubt == nil {
			r.doubt, r.nodes = out, append([]*link.Link{r.current.session.link}, r.nodes...)
		}
	case out.Err.Kind != tool.KindUnavailable:
		return false
	case !lost && (r.doubt != nil || out.Err.RetryAfter > 0):
		return false // such as a call that another toolhost has
	case out.Instance != "" && r.call.ID == "":
		return false // it may have been executed, such as if there was no memory for its result
	}
	for len(r.nodes) > 0 && ctx.Err() == nil {
		next := r.nodes[0]
		r.nodes = r.nodes[1:]
		if r.open(ctx, next) {
			r.fresh = false
			return true
		}
	}
	return false
}

// ended reports whether the caller wants no other execution.
func (r *roaming) ended() bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.closed || r.reason != nil
}

// open opens the call at a toolhost, and reports whether it did.
func (r *roaming) open(ctx context.Context, at *link.Link) bool {
	opening, stop := context.WithCancel(context.WithoutCancel(r.opened))
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	e, err := r.client.start(opening, at, r.call, true)
	if err != nil {
		return false
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.current = e
	if r.reason != nil {
		e.Cancel(*r.reason)
	}
	if r.closed {
		e.Close()
	}
	return true
}

// Send implements tool.Execution. The arguments are complete.
func (r *roaming) Send(context.Context, []byte, bool) error { return nil }

// Cancel implements tool.Execution.
func (r *roaming) Cancel(reason string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.reason == nil {
		r.reason = &reason
	}
	r.current.Cancel(reason)
}

// Close implements tool.Execution.
func (r *roaming) Close() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.closed = true
	r.current.Close()
}
