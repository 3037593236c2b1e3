package sdktest

import (
	"encoding/json"

	"github.com/toolhost/toolhost/internal/rpc/filterjson"
	"github.com/toolhost/toolhost/sdk"
)

// Filtered is the effect of a filter on a call.
type Filtered struct {
	// Arguments are the new arguments of the call. nil: the filter did not change them.
	Arguments json.RawMessage
	// Denied reports whether the filter denied the call, and Reason is its reason.
	Denied bool
	Reason string
	// Answer is the filter's result, which ends the call without the tool. nil: the filter did not
	// answer.
	Answer *sdk.Result
	// Result is the new result of the call. nil: the filter did not change it.
	Result *sdk.Result
	// Err says why a toolhost counts the filter as failed. nil: it does not.
	Err error
	// Call is the filter's own call, with its log records.
	Call *Call
}

// Before runs a filter before a call. Like a toolhost, it leaves the call unchanged if the filter
// has no Before.
func (h *Host) Before(filter string, call sdk.FilterCall, options ...Option) *Filtered {
	h.t.Helper()
	return h.ask(filter, filterjson.Request{Phase: filterjson.Before}, call, options)
}

// After runs a filter after a call whose tool has returned call.Result. Like a toolhost, it leaves
// the result unchanged if the filter has no After.
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
