package host

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/toolhost/toolhost/internal/arguments"
	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/internal/rpc/filterjson"
	"github.com/toolhost/toolhost/tool"
)

// verdict is what a filter made of a call.
type verdict struct {
	answer  filterjson.Answer
	changed *arguments.Parsed // answer.Arguments; nil: none
}

// ask asks a filter about the call, if it wants to be asked in that phase. The zero verdict leaves all as it is; it is that
// of an optional filter that fails, too.
func (r *run) ask(f *Filter, phase filterjson.Phase, given json.RawMessage, result *tool.Result) (verdict, *tool.Error) {
	v, err := r.put(f, filterjson.Question{
		Phase: phase, CallID: r.call.ID, Principal: r.call.Principal, Session: r.call.Session,
		Tool: r.call.Tool, Plugin: r.tool.Plugin.Info.Name, Arguments: given, Result: result,
	})
	over := phase == filterjson.Before && r.ctx.Err() != nil // a result is there, and a call that was not made is not made
	if err == nil || !f.Optional || over {
		return v, err
	}
	r.host.cfg.Logger.Warn("a filter failed, and the call goes on without it", "filter", f.Name, "phase", phase,
		"tool", r.call.Tool, "call_id", r.call.ID, "error", err)
	return verdict{}, nil
}

// put puts a question to a filter. Of the error, kind, message and RetryAfter are set.
func (r *run) put(f *Filter, q filterjson.Question) (verdict, *tool.Error) {
	if r.ctx.Err() != nil {
		return verdict{}, r.unasked(f, context.Cause(&r.ctx))
	}
	limit, last := r.questionTime(f)
	deadline := time.Now().Add(limit)
	declared, err := r.findFilter(f, deadline)
	switch {
	case err != nil && r.ctx.Err() != nil:
		return verdict{}, r.unasked(f, context.Cause(&r.ctx))
	case err != nil:
		return verdict{}, r.filterFailed(f, tool.KindUnavailable, err)
	case q.Phase == filterjson.Before && !declared.Spec.Before, q.Phase == filterjson.After && !declared.Spec.After:
		return verdict{}, nil
	}
	text, err := filterjson.EncodeQuestion(q)
	if err != nil {
		return verdict{}, r.filterFailed(f, tool.KindInternal, err)
	}
	outcome := r.callFilter(declared, time.Until(deadline), text)
	switch {
	case r.ctx.Err() != nil && outcome.Err != nil:
		return verdict{}, r.unasked(f, context.Cause(&r.ctx))
	case outcome.Err != nil && outcome.Err.Kind == tool.KindTimeout && last: // both deadlines are one, and either may be noticed first
		return verdict{}, r.unasked(f, errDeadline)
	case outcome.Err != nil:
		failed := r.filterFailed(f, tool.KindUnavailable, outcome.Err)
		failed.RetryAfter = outcome.Err.RetryAfter
		return verdict{}, failed
	case outcome.Result.IsError:
		return verdict{}, r.filterFailed(f, tool.KindUnavailable, errors.New(clip(outcome.Result.Text(), maxReason)))
	}
	v, err := r.understand(q.Phase, outcome.Result)
	if err != nil {
		return verdict{}, r.filterFailed(f, tool.KindInternal, err)
	}
	return v, nil
}

// understand reads a filter's answer.
func (r *run) understand(phase filterjson.Phase, result tool.Result) (verdict, error) {
	answer, err := filterjson.DecodeAnswer(phase, result)
	if err != nil || answer.Arguments == nil {
		return verdict{answer: answer}, err
	}
	if len(answer.Arguments) > r.host.cfg.MaxArgumentBytes {
		return verdict{}, fmt.Errorf("the arguments in its answer are larger than %d bytes", r.host.cfg.MaxArgumentBytes)
	}
	changed, err := arguments.Parse(answer.Arguments)
	if err != nil {
		return verdict{}, fmt.Errorf("its answer: %w", err)
	}
	return verdict{answer: answer, changed: &changed}, nil
}

// questionTime returns how long a filter may take; last says that the call has no more time than that.
func (r *run) questionTime(f *Filter) (limit time.Duration, last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := time.Until(r.deadline)
	return min(f.timeout(), left), left <= f.timeout()
}

// findFilter returns what is declared of a filter, once new plugins have said what they are if it must be one of theirs.
func (r *run) findFilter(f *Filter, deadline time.Time) (*catalog.Filter, error) {
	known := r.host.cfg.Catalog
	declared := known.Snapshot().Filter(f.Name)
	if declared == nil {
		ctx, cancel := context.WithDeadline(&r.ctx, deadline)
		defer cancel()
		if err := known.Settle(ctx); err != nil {
			return nil, errors.New("new plugins, of which one may have it, have not yet said what they are")
		}
		declared = known.Snapshot().Filter(f.Name)
	}
	if declared == nil {
		return nil, errors.New("no plugin has a filter of that name")
	}
	return declared, r.host.switchedOff(declared.Plugin.Info.Name)
}

// callFilter makes a call of a filter, which is one as any other but for what stands before: it has an id of its own, no
// filters and no policy. It returns when either call has ended; what is left of the filter's then is the host's.
func (r *run) callFilter(f *catalog.Filter, limit time.Duration, question []byte) tool.Outcome {
	spec := tool.Spec{Name: f.Spec.Name, Description: f.Spec.Description, ReadOnly: true}
	child, err := r.host.newRun(tool.Call{
		ID: "filter-" + rand.Text(), Tool: spec.Name, Principal: r.call.Principal, Session: r.call.Session, Traceparent: r.call.Traceparent,
	}, &catalog.Tool{Spec: spec, Plugin: f.Plugin})
	if err != nil {
		return tool.Outcome{Err: tool.AsError(err)}
	}
	child.mu.Lock()
	child.minted, child.whole, child.working, child.complete, child.text = true, true, true, true, question
	child.setDeadline(limit)
	child.mu.Unlock()
	defer context.AfterFunc(&r.ctx, func() { child.cancel(context.Cause(&r.ctx)) })()
	child.spawn(child.work)
	for seen := uint64(0); ; {
		ev, err := child.record.next(&r.ctx, seen)
		if err != nil {
			return tool.Outcome{Err: tool.AsError(err)}
		}
		if ev.Ended != nil {
			return *ev.Ended
		}
		seen = ev.Seq
	}
}

// filterFailed says that a filter gave no answer that can be used.
func (r *run) filterFailed(f *Filter, kind tool.Kind, cause error) *tool.Error {
	if tool.KindOf(cause) == tool.KindTimeout {
		cause = fmt.Errorf("it did not answer within the %v that it had", f.timeout())
	}
	return tool.Errorf(kind, "the filter %q, which the configuration wants around calls of %q, failed: %w", f.Name, r.call.Tool, cause)
}

// unasked says that a call ended while a filter was to be asked.
func (r *run) unasked(f *Filter, cause error) *tool.Error {
	switch {
	case errors.Is(cause, errDeadline):
		return tool.Errorf(tool.KindTimeout, "the call took longer than the %v that it had, while the filter %q was asked", r.allowed(), f.Name)
	case errors.Is(cause, errStopping):
		return tool.Errorf(tool.KindUnavailable, "%w, while the filter %q was asked", cause, f.Name)
	default:
		return tool.Errorf(tool.KindCancelled, "%w, while the filter %q was asked", cause, f.Name)
	}
}
