package sdktest

import (
	"encoding/json"
	"slices"

	"github.com/toolhost/toolhost/internal/wire/filterjson"
	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/tool"
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
	q.Groups, q.Via = call.Groups, call.Via
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

// callFiltered runs a tool with the filters that its plugin applies to it. Arguments that are not
// JSON reach no filter, as with a toolhost.
func (h *Host) callFiltered(name string, own []tool.Filter, arguments any, options []Option) *Call {
	h.t.Helper()
	text, err := encode(arguments)
	if err != nil {
		h.t.Fatalf("encoding the arguments: %v", err)
	}
	if len(text) == 0 {
		text = []byte("{}")
	}
	if !json.Valid(text) {
		return h.callAlone(name, text, options)
	}
	info := h.newOptions(name, options).info
	asked := sdk.FilterCall{CallID: info.CallID, Session: info.Session, Tool: name, Plugin: h.Describe().Name, Arguments: text}
	for _, f := range own {
		if !f.Before {
			continue
		}
		switch got := h.Before(f.Name, asked, options...); {
		case got.Err != nil:
			return &Call{Err: failed(f, got.Err)}
		case got.Denied:
			return &Call{Err: tool.Errorf(tool.KindDenied, "the filter %q denied the call: %s", f.Name, got.Reason)}
		case got.Answer != nil:
			return &Call{Err: tool.Errorf(tool.KindInternal, "the filter %q answered in place of the tool %q, to which its plugin applies it", f.Name, name)}
		case got.Arguments != nil:
			asked.Arguments = got.Arguments
		}
	}
	done := h.callAlone(name, asked.Arguments, options)
	for _, f := range slices.Backward(own) {
		if done.Err != nil || !f.After {
			continue
		}
		asked.Result = done.Result
		switch got := h.After(f.Name, asked, options...); {
		case got.Err != nil:
			done.Result, done.Err = tool.Result{}, failed(f, got.Err)
		case got.Result != nil:
			done.Result = *got.Result
		}
	}
	return done
}

func failed(f tool.Filter, err error) *tool.Error {
	return tool.Errorf(tool.KindUnavailable, "the filter %q failed: %w", f.Name, err)
}
