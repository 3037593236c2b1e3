package host

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/toolhost/toolhost/internal/text/arguments"
	"github.com/toolhost/toolhost/internal/wire/filterjson"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/deadline"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/result"
	"github.com/toolhost/toolhost/tool"
)

// filterReply is the reply of a filter about a call. The zero reply leaves the call unchanged.
type filterReply struct {
	answer    filterjson.Answer
	arguments *arguments.Parsed // answer.Arguments, parsed; nil: none
}

// ask asks a filter about the call if the filter declares the phase. If an optional filter fails,
// ask returns the zero reply.
func (x filterChain) ask(f *Filter, phase filterjson.Phase, given json.RawMessage, r *tool.Result) (filterReply, *tool.Error) {
	c := x.call
	q := filterjson.Request{
		Phase: phase, CallID: c.request.ID, Session: c.request.Session, Tool: x.toolFor(f), Plugin: c.plugin(), Arguments: given, Result: r,
	}
	if x.knowsPrincipal(f) {
		q.Principal, q.Groups, q.Via = c.request.Principal, c.request.Groups, c.request.Via
	}
	reply, err := x.request(f, q)
	// Before the tool executes, a call that has ended must not continue. After it, an existing
	// result is still shown.
	ended := phase == filterjson.Before && c.ctx().Err() != nil
	if err == nil || !f.Optional || ended {
		return reply, err
	}
	c.logger(c.services.log.calls).Warn("a filter failed, and the call continues without it", "filter", f.Name, "phase", phase, "error", err)
	return filterReply{}, nil
}

// request sends one request to a filter. The error has a kind, a message and RetryAfter.
func (x filterChain) request(f *Filter, q filterjson.Request) (filterReply, *tool.Error) {
	ctx := x.call.ctx()
	if ctx.Err() != nil {
		return filterReply{}, x.interrupted(f, context.Cause(ctx))
	}
	limit, last := x.timeout(f)
	end := time.Now().Add(limit)
	declared, err := x.find(f, end)
	switch {
	case err != nil && ctx.Err() != nil:
		return filterReply{}, x.interrupted(f, context.Cause(ctx))
	case err != nil:
		return filterReply{}, x.failed(f, tool.KindUnavailable, err)
	case q.Phase == filterjson.Before && !declared.Spec.Before, q.Phase == filterjson.After && !declared.Spec.After:
		return filterReply{}, nil
	}
	text, err := filterjson.EncodeRequest(q)
	if err != nil {
		return filterReply{}, x.failed(f, tool.KindInternal, err)
	}
	outcome := x.execute(f, declared, time.Until(end), text)
	switch {
	case ctx.Err() != nil && outcome.Err != nil:
		return filterReply{}, x.interrupted(f, context.Cause(ctx))
	// the filter and the call have the same deadline, and either timer may fire first
	case outcome.Err != nil && outcome.Err.Kind == tool.KindTimeout && last:
		return filterReply{}, x.interrupted(f, deadline.ErrPassed)
	case outcome.Err != nil:
		failed := x.failed(f, tool.KindUnavailable, outcome.Err)
		failed.RetryAfter = outcome.Err.RetryAfter
		return filterReply{}, failed
	case outcome.Result.IsError:
		return filterReply{}, x.failed(f, tool.KindUnavailable, errors.New(result.Clip(outcome.Result.Text(), result.MaxReason)))
	}
	reply, err := x.parse(f, q.Phase, outcome.Result)
	if err != nil {
		return filterReply{}, x.failed(f, tool.KindInternal, err)
	}
	return reply, nil
}

// parse reads a filter's answer.
func (x filterChain) parse(f *Filter, phase filterjson.Phase, r tool.Result) (filterReply, error) {
	answer, err := filterjson.DecodeAnswer(phase, r)
	if err == nil && answer.Answer != nil && f.own != nil {
		return filterReply{}, errOwnAnswer
	}
	if err != nil || answer.Arguments == nil {
		return filterReply{answer: answer}, err
	}
	if most := x.call.settings.MaxArgumentBytes; len(answer.Arguments) > most {
		return filterReply{}, fmt.Errorf("the arguments in its answer are larger than %d bytes", most)
	}
	changed, err := arguments.Parse(answer.Arguments)
	if err != nil {
		return filterReply{}, fmt.Errorf("its answer: %w", err)
	}
	return filterReply{answer: answer, arguments: &changed}, nil
}

// timeout returns how long a filter may take. last reports that this is the rest of the call's
// time.
func (x filterChain) timeout(f *Filter) (limit time.Duration, last bool) {
	left := time.Until(x.call.timer.End())
	return min(f.timeout(), left), left <= f.timeout()
}

// find returns a plugin's declaration of a filter. If no plugin declares it, find waits until new
// plugins have described themselves.
func (x filterChain) find(f *Filter, end time.Time) (*catalog.Filter, error) {
	if f.own != nil {
		return f.own, x.call.settings.switchedOff(f.own.Plugin.Info.Name)
	}
	known := x.call.services.plugins.catalog
	declared := known.Snapshot().Filter(f.Name)
	if declared == nil {
		ctx, cancel := context.WithDeadline(x.call.ctx(), end)
		defer cancel()
		if err := known.Settle(ctx); err != nil {
			return nil, errors.New("new plugins, of which one may have it, have not yet said what they are")
		}
		declared = known.Snapshot().Filter(f.Name)
	}
	if declared == nil {
		return nil, errors.New("no plugin has a filter of that name")
	}
	return declared, x.call.settings.switchedOff(declared.Plugin.Info.Name)
}

// execute makes the call of a filter. It is a call like any other, but has a generated id and
// neither filters nor policy. execute returns when the filter's call or the filtered call has
// ended. If the filtered call ends first, the filter's call ends in the background.
func (x filterChain) execute(f *Filter, declared *catalog.Filter, limit time.Duration, question []byte) tool.Outcome {
	outer := x.call
	spec := tool.Spec{Name: declared.Spec.Name, Description: declared.Spec.Description, ReadOnly: true}
	request := &tool.Call{
		Tool: f.Name, Principal: outer.request.Principal, Groups: outer.request.Groups, Via: outer.request.Via, From: outer.request.From, Session: outer.request.Session, Traceparent: outer.request.Traceparent,
	}
	c, err := outer.services.newCall(request, toolView{&catalog.Tool{Spec: spec, Plugin: declared.Plugin}, outer.settings}, FilterCall, "filter-"+rand.Text(), true)
	if err != nil {
		return tool.Outcome{Err: tool.AsError(err)}
	}
	if f.own != nil {
		c.filtered = outer.tool
	}
	c.args.finish(question, question)
	c.timer.Set(limit)
	defer context.AfterFunc(outer.ctx(), func() { c.Cancel(context.Cause(outer.ctx())) })()
	c.spawn(c.execute)
	for seen := uint64(0); ; {
		ev, err := c.events.Next(outer.ctx(), seen)
		if err != nil {
			return tool.Outcome{Err: tool.AsError(err)}
		}
		if ev.Ended != nil {
			return *ev.Ended
		}
		seen = ev.Seq
	}
}

// failed returns the failure of a call whose filter gave no valid answer.
func (x filterChain) failed(f *Filter, kind tool.Kind, cause error) *tool.Error {
	if tool.KindOf(cause) == tool.KindTimeout {
		cause = fmt.Errorf("it did not answer within the %v that it had", f.timeout())
	}
	if f.own != nil {
		return tool.Errorf(kind, "the filter %q, which the plugin applies to calls of its tool %q, failed: %w", f.Name, x.call.request.Tool, cause)
	}
	return tool.Errorf(kind, "the filter %q, which the configuration wants around calls of %q, failed: %w", f.Name, x.call.request.Tool, cause)
}

// interrupted returns the failure of a call that ended while a filter was asked.
func (x filterChain) interrupted(f *Filter, cause error) *tool.Error {
	switch {
	case errors.Is(cause, deadline.ErrPassed):
		return tool.Errorf(tool.KindTimeout, "the call took longer than the %v that it had, while the filter %q was asked", x.call.timer.Limit(), f.Name)
	case errors.Is(cause, errStopping):
		return tool.Errorf(tool.KindUnavailable, "%w, while the filter %q was asked", cause, f.Name)
	default:
		return tool.Errorf(tool.KindCancelled, "%w, while the filter %q was asked", cause, f.Name)
	}
}
