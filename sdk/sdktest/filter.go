package sdktest

import (
	"encoding/json"

	"github.com/toolhost/toolhost/internal/rpc/filterjson"
	"github.com/toolhost/toolhost/sdk"
)

// Filtered is what a filter made of a call.
type Filtered struct {
	// Arguments take the place of the call's. Nil: the filter left them.
	Arguments json.RawMessage
	// Denied says that the call must not be made, and Reason why.
	Denied bool
	Reason string
	// Answer ends the call in the tool's place. Nil: the filter did not answer.
	Answer *sdk.Result
	// Result takes the place of the tool's. Nil: the filter left it.
	Result *sdk.Result
	// Err says why a toolhost takes the filter for one that failed. Nil: it does not.
	Err error
	// Call is the filter's own call, with what it logged.
	Call *Call
}

// Before asks a filter about a call that has not been made. As under a toolhost, a filter that has no Before leaves all as
// it is.
func (h *Host) Before(filter string, call sdk.FilterCall, options ...Option) *Filtered {
	h.t.Helper()
	return h.ask(filter, filterjson.Request{Phase: filterjson.Before}, call, options)
}

// After asks a filter about a call whose tool has answered with call.Result. As under a toolhost, a filter that has no
// After leaves all as it is.
func (h *Host) After(filter string, call sdk.FilterCall, options ...Option) *Filtered {
	h.t.Helper()
	return h.ask(filter, filterjson.Request{Phase: filterjson.After, Result: &call.Result}, call, options)
}

func (h *Host) ask(filter string, q filterjson.Request, call sdk.FilterCall, options []Option) *Filtered {
	h.t.Helper()
	q.CallID, q.Principal, q.Session, q.Tool, q.Plugin = call.CallID, call.Principal, call.Session, call.Tool, call.Plugin
	if q.Arguments = call.Arguments; len(q.Arguments) == 0 {
		q.Arguments = json.RawMessage("{}")
	}
	question, err := filterjson.EncodeRequest(q)
	if err != nil {
		h.t.Fatalf("asking the filter %q: %v", filter, err)
	}
	asked := h.Call(filter, question, options...)
	if asked.Err != nil {
		return &Filtered{Err: asked.Err, Call: asked}
	}
	answer, err := filterjson.DecodeAnswer(q.Phase, asked.Result)
	f := &Filtered{Arguments: answer.Arguments, Answer: answer.Answer, Result: answer.Result, Err: err, Call: asked}
	if answer.Deny != nil {
		f.Denied, f.Reason = true, *answer.Deny
	}
	return f
}
