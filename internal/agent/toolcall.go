package agent

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/toolhost/toolhost/internal/agent/loop"
	"github.com/toolhost/toolhost/tool"
)

// makeCall starts a call at toolhost. Its goroutine belongs to the run and ends with the task.
func (r *run) makeCall(t *task, c loop.Call) {
	e := &toolCall{
		run: r, task: t, call: c, session: r.state.Started().Session, trace: r.state.Started().Trace(c.SentID()), context: r.state.Context(r.state.Turn() - 1),
		shown: r.state.MaxShown(r.state.BatchSize()), opened: r.inherited[c.SentID()], preview: r.previews.take(c.SentID()),
		answers: r.state.Answers(),
	}
	r.group.Go(e.work)
}

// toolCall is a call in progress at toolhost, with its retries.
type toolCall struct {
	run     *run
	task    *task
	call    loop.Call
	session string
	trace   string // the W3C trace context
	context map[string]json.RawMessage
	shown   *int // the limit for the shown result, in bytes; nil: toolhost decides
	opened  bool // whether it was opened, perhaps by an earlier process, and may have had effects
	answers int  // the number of calls that answer the user directly; 0: results go to the model

	// preview is completed if it is not nil. Otherwise the call is opened.
	preview *preview
}

// work opens the call until it has an outcome. Opening it again is safe: toolhost executes an id
// once, and later requests join the execution or get its outcome.
func (e *toolCall) work() {
	defer e.run.recoverTask(e.task, func(words string) loop.Payload {
		return loop.FailureResult(&e.call, e.lost(&tool.Error{Kind: tool.KindInternal, Message: words}))
	})
	defer e.drop()
	retry := e.run.agent.config.ToolRetry
	deadline := time.AfterFunc(e.run.agent.config.CallDeadline, func() {
		e.task.cancel(tool.Errorf(tool.KindTimeout, "the call took longer than %s", e.run.agent.config.CallDeadline))
	})
	defer deadline.Stop()
	for attempt := 1; ; attempt++ {
		switch {
		case e.cancelled() && e.opened:
			e.finish(e.recall())
			return
		case e.cancelled():
			e.finish(loop.FailureResult(&e.call, e.lost(nil)))
			return
		}
		out, err := e.attempt()
		switch {
		case e.task.ctx.Err() != nil:
			return // the agent closes; the call continues in toolhost
		case out != nil:
			if r := loop.OutcomeResult(&e.call, out); e.answer(r) {
				e.finish(r)
			}
			return
		case !e.cancelled() && (attempt >= retry.MaxAttempts || !mayRecover(err)):
			e.finish(loop.FailureResult(&e.call, e.lost(err)))
			return
		}
		if e.cancelled() {
			continue
		}
		e.run.agent.config.Log.Warn("opening a call again", "run", e.run.id, "call", e.call.ID, "error", err)
		if sleep(e.task.cancelled, retry.pause(attempt, tool.AsError(err).RetryAfter)) != nil && e.task.ctx.Err() != nil {
			return
		}
	}
}

func (e *toolCall) cancelled() bool { return e.task.cancelled.Err() != nil }

func (e *toolCall) finish(result *loop.CallResult) {
	e.run.report(update{task: e.task, done: func() loop.Payload { return result }})
}

// attempt opens the call and follows it to its end. It returns either an outcome or an error.
func (e *toolCall) attempt() (*tool.Outcome, error) {
	ctx, stop := context.WithCancel(e.task.ctx)
	defer stop()
	opened := make(chan tool.Execution, 1)
	e.run.group.Go(func() { e.guard(ctx, stop, opened) }) // ends with ctx
	call := tool.Call{
		ID: e.call.SentID(), Tool: e.call.Tool, Arguments: json.RawMessage(e.call.Arguments), Session: e.session,
		Approval: e.call.Approval, Context: e.context, MaxShown: e.shown, Traceparent: e.trace,
	}
	if e.call.SideEffects {
		call.Ledger, call.FirstSent = e.call.Ledger, e.call.FirstSent
	}
	exec, looked, err := e.open(ctx, &call)
	if err != nil {
		return nil, err
	}
	defer exec.Close()
	e.opened = true
	opened <- exec
	for {
		event, err := exec.Next(ctx)
		switch {
		case errors.Is(err, io.EOF):
			return nil, tool.Errorf(tool.KindUnavailable, "the call's events ended without an outcome")
		case err != nil:
			return nil, err
		case event.Ended != nil && looked && !e.cancelled() && previewFailed(event.Ended.Err):
			return nil, event.Ended.Err
		case event.Ended != nil:
			return event.Ended, nil
		case event.Status != nil:
			e.run.report(update{task: e.task, passing: &loop.CallStatus{CallID: e.call.ID, Tool: e.call.Tool, Status: *event.Status}})
		}
	}
}

// guard cancels the execution when the call's task is cancelled, and stops waiting if the execution
// does not end soon.
func (e *toolCall) guard(ctx context.Context, stop context.CancelFunc, opened <-chan tool.Execution) {
	select {
	case <-e.task.cancelled.Done():
	case <-ctx.Done():
		return
	}
	if e.task.ctx.Err() != nil {
		return // the agent closes, and the call is not cancelled
	}
	grace := time.NewTimer(e.run.agent.config.CancelGrace)
	defer grace.Stop()
	for {
		select {
		case exec := <-opened:
			exec.Cancel(context.Cause(e.task.cancelled).Error())
		case <-grace.C:
			stop()
			return
		case <-ctx.Done():
			return
		}
	}
}

// lost returns why a call ended without an outcome: it was cancelled and did not end, or toolhost
// could not be reached, for which err is the last reason. If the call may have had effects, the
// error is KindOutcomeUnknown.
func (e *toolCall) lost(err error) *tool.Error {
	reason := tool.AsError(err)
	if e.cancelled() {
		reason = tool.AsError(context.Cause(e.task.cancelled))
	}
	if !e.opened || !e.call.SideEffects || !mayRecover(reason) {
		return reason
	}
	return tool.Errorf(tool.KindOutcomeUnknown, "the call was begun, and how it ended cannot be had: %w", reason)
}

// mayRecover reports whether another attempt may succeed after an error. A refusal is final.
func mayRecover(err error) bool {
	switch tool.KindOf(err) {
	case tool.KindInvalidArgument, tool.KindNotFound, tool.KindDenied, tool.KindApprovalRequired, tool.KindConflict, tool.KindOutcomeUnknown:
		return false
	}
	return true
}
