package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/tool"
)

// makeCall starts a call at toolhost. Its goroutine belongs to the run and ends with the task.
func (r *run) makeCall(t *task, c loop.Call) {
	e := newToolCall(r, t, c)
	e.preview = r.previews.take(c.SentID())
	r.group.Go(e.work)
}

// newToolCall returns a call for a task, without a preview.
func newToolCall(r *run, t *task, c loop.Call) *toolCall {
	e := &toolCall{
		run: r, task: t, call: c, session: r.state.Started().Session, agent: r.state.Started().AgentName(), trace: r.state.Started().Trace(c.SentID()), context: r.state.Context(r.state.Turn()-1, c.ID),
		shown: r.state.MaxShown(r.state.Batch().Size()), opened: r.inherited[c.SentID()],
		direct: r.state.Batch().Answers(), restored: r.state.LedgerAtBackup() != "",
		attended: r.state.Started().People.Attended, asking: map[uint32]*tool.Question{},
	}
	if info := r.offered.find(c.Tool); info != nil {
		e.spec = &info.Spec
	}
	return e
}

// toolCall is a call in progress at toolhost, with its retries.
type toolCall struct {
	run     *run
	task    *task
	call    loop.Call
	session string
	agent   string // the name of the run's agent; empty: none
	trace   string // the W3C trace context
	context map[string]json.RawMessage
	shown   *int // the limit for the shown result, in bytes; nil: toolhost decides
	// restored says that the journal of the run was restored from a backup
	restored bool
	opened   bool // whether it was opened, perhaps by an earlier process, and may have had effects
	direct   int  // the number of calls that answer the user directly; 0: results go to the model
	attended bool // whether a person can answer questions of the tool
	// spec is the declaration of the tool as the run's last model request had it; nil: unknown
	spec *tool.Spec

	clock  *callClock
	asking map[uint32]*tool.Question // the open questions of the tool

	// preview is completed if it is not nil. Otherwise the call is opened.
	preview *preview
}

// overdue cancels a call that takes too long, if this process still owns the run. A process that
// was stopped finds its clock fired when it goes on, and meanwhile another process may have taken
// the run and follow the call. The run then ends here, and its calls go on.
func (e *toolCall) overdue(ctx context.Context) {
	if e.owned(ctx) {
		e.task.cancel(tool.Errorf(tool.KindTimeout, "the call took longer than %s", e.run.config.CallDeadline))
	}
}

// owned reports whether this process still owns the run. It confirms the claim with a write to the
// store. If the process does not own the run, the work on the run ends here. While the store is not
// available, owned waits, until ctx ends.
func (e *toolCall) owned(ctx context.Context) bool {
	for {
		err := e.run.agent.journal.confirm(e.run.id, e.run.epoch)
		switch {
		case ctx.Err() != nil:
		case err == nil:
			return true
		case tool.KindOf(err) == tool.KindUnavailable && sleep(ctx, claimPause) == nil:
			continue
		case ctx.Err() == nil:
			e.run.report(update{task: e.task, lost: err})
		}
		return false
	}
}

// work opens the call until it has an outcome. Opening it again is safe: toolhost executes an id
// once, and later requests join the execution or get its outcome. But a person may have said
// meanwhile, to another process, that the call is to be made again under another id. So a process
// that does not own the run any more opens nothing again.
func (e *toolCall) work() {
	defer e.run.recoverTask(e.task, func(words string) loop.Payload {
		return loop.FailureResult(&e.call, e.lost(&tool.Error{Kind: tool.KindInternal, Message: words}))
	})
	defer e.drop()
	retry := e.run.config.ToolRetry
	e.clock = newCallClock(e.task.ctx, e.run.config.CallDeadline, e.overdue)
	defer e.clock.stop()
	began := time.Now()
	settling := 0 // how often the call was sent again so that toolhost asks its tool
	for attempt := 1; ; attempt++ {
		// The end of the task's context also ends cancelled, but later.
		cancelled := e.cancelled()
		switch {
		case e.task.ctx.Err() != nil:
			return // the agent closes, and the call is not cancelled
		case cancelled && e.opened:
			e.finish(e.recall())
			return
		case cancelled:
			e.finish(loop.FailureResult(&e.call, e.lost(nil)))
			return
		}
		if attempt > 1 && e.call.SideEffects && !e.owned(e.task.ctx) {
			return
		}
		opened, patience := e.opened, time.Duration(0)
		out, err := e.attempt()
		if out != nil && out.Instance == "" {
			patience = e.patience(out.Err)
		}
		if time.Since(began) < patience { // this attempt executed nothing
			e.opened, out, err = opened, nil, out.Err
		}
		switch {
		case e.task.ctx.Err() != nil:
			return // the agent closes; the call continues in toolhost
		case out != nil && settling < maxSettling && e.mayBeSettled(out):
			settling++
			continue
		case out != nil:
			out = e.reused(out)
			if r := loop.OutcomeResult(&e.call, out); e.answer(r) {
				e.finish(r)
			}
			return
		case !e.cancelled() && (attempt >= retry.MaxAttempts && patience == 0 || !mayRecover(err)):
			e.finish(loop.FailureResult(&e.call, e.lost(err)))
			return
		}
		if e.cancelled() {
			continue
		}
		e.run.log.to(loglevel.Tools).Warn("call sent again", "tool", e.call.Tool, "call", e.call.ID, "attempt", attempt+1, "error", err)
		if sleep(e.task.cancelled, retry.pause(attempt, tool.AsError(err).RetryAfter)) != nil && e.task.ctx.Err() != nil {
			return
		}
	}
}

// awayTime is how long a call waits for a toolhost that executes nothing now, such as because its
// database is gone, or because another one has the files of the session. After a minute of the
// latter, toolhost asks a person.
const awayTime = 2 * time.Minute

// shortPause is the longest pause that toolhost asks for when it cannot reach its ledger. Unlike a
// tool that is out of service, this is nothing that a model can avoid.
const shortPause = time.Second

// patience returns how long a call is sent again, beyond its attempts, to a toolhost that executed
// nothing for a reason: it is full, or cannot execute the call now and does not say until when. A
// run then only takes longer. A longer pause, such as until a quota of a day is free or a broken
// plugin is started again, is for the model to know.
func (e *toolCall) patience(refused *tool.Error) time.Duration {
	switch {
	case refused == nil, refused.RetryAfter > maxRetryAfter:
	case refused.Kind == tool.KindUnavailable && refused.RetryAfter > 0 && refused.RetryAfter <= shortPause:
		return e.run.config.CallDeadline
	case refused.Kind == tool.KindRateLimited && refused.RetryAfter > 0:
		return e.run.config.CallDeadline / 2
	case refused.Kind == tool.KindUnavailable && refused.RetryAfter == 0:
		return awayTime
	}
	return 0
}

func (e *toolCall) cancelled() bool { return e.task.cancelled.Err() != nil }

func (e *toolCall) finish(result *loop.CallResult) {
	e.run.report(update{task: e.task, done: func() loop.Payload { return result }, review: e.review(result.Failure)})
}

// approval returns the approval of the call as toolhost needs it. If the agent's own principal
// approved, toolhost takes the approver from the connection, so that the agent needs no right to
// name others.
func (e *toolCall) approval() *tool.Approval {
	a := e.call.Approval
	if a == nil || a.Approver == "" || a.Approver != e.run.config.Principal {
		return a
	}
	own := *a
	own.Approver, own.ApproverGroups, own.ApprovedBy = "", nil, cmp.Or(a.ApprovedBy, a.Approver)
	return &own
}

// attempt opens the call and follows it to its end. It returns either an outcome or an error.
func (e *toolCall) attempt() (*tool.Outcome, error) {
	ctx, stop := context.WithCancel(e.task.ctx)
	defer stop()
	again := e.opened
	opened := make(chan tool.Execution, 1)
	e.run.group.Go(func() { e.guard(ctx, stop, opened) }) // ends with ctx
	call := e.request()
	exec, looked, err := e.open(ctx, &call)
	if err != nil {
		return nil, err
	}
	defer exec.Close()
	e.opened = true
	opened <- exec
	e.run.group.Go(func() { e.sendReplies(ctx) }) // ends with ctx
	for {
		event, err := exec.Next(ctx)
		switch {
		case errors.Is(err, io.EOF):
			return nil, tool.Errorf(tool.KindUnavailable, "the call's events ended without an outcome")
		case err != nil:
			return nil, err
		case event.Ended != nil && looked && !e.cancelled() && previewFailed(event.Ended.Err):
			return nil, event.Ended.Err
		case event.Ended != nil && again && e.saysNothing(event.Ended.Err):
			return nil, event.Ended.Err
		case event.Ended != nil:
			return event.Ended, nil
		case event.Question != nil:
			e.ask(event.Question)
		case event.Closed != nil:
			e.closed(event.Closed)
		case event.Status != nil:
			e.run.report(update{task: e.task, passing: &loop.CallStatus{CallID: e.call.ID, Tool: e.call.Tool, Status: *event.Status}})
		}
	}
}

// saysNothing reports whether an error is only about this request, which executed nothing. A
// request before may have had effects.
func (e *toolCall) saysNothing(err *tool.Error) bool {
	return err != nil && err.Kind == tool.KindUnavailable && e.call.SideEffects && !e.cancelled()
}

// request returns the call as toolhost gets it.
func (e *toolCall) request() tool.Call {
	call := tool.Call{
		ID: e.call.SentID(), Tool: e.call.Tool, Arguments: json.RawMessage(e.call.Arguments), Session: e.session,
		Approval: e.approval(), Context: e.context, MaxShown: e.shown, Traceparent: e.trace,
		Answers: e.answers(), Agent: e.agent, Run: e.run.id,
	}
	if e.call.SideEffects {
		call.Ledger, call.FirstSent = e.call.Ledger, e.call.FirstSent
		call.Supersedes = e.call.Supersedes[max(0, len(e.call.Supersedes)-tool.MaxSupersedes):]
	}
	return call
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
	grace := time.NewTimer(e.run.config.CancelGrace)
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

// lost returns the error of a call that ended without an outcome: the call was canceled and did not
// end, or toolhost could not be reached. err is then the last error of the connection. If the call
// may have had effects, the result is KindOutcomeUnknown.
func (e *toolCall) lost(err error) *tool.Error {
	reason := tool.AsError(err)
	if e.cancelled() {
		reason = tool.AsError(context.Cause(e.task.cancelled))
	}
	if !e.opened || !e.call.SideEffects || !mayRecover(reason) {
		return reason
	}
	return tool.Errorf(tool.KindOutcomeUnknown, "the call was begun, and agentd cannot learn how it ended: %w", reason)
}

// maxSettling bounds how often a call is sent again because its outcome is unknown: the execution
// that follows may be lost, too.
const maxSettling = 3

// mayBeSettled reports whether the tool can say what became of a call whose outcome is unknown.
// toolhost asks it when the call is sent again, and then says so in the outcome. The declaration of
// the tool is not known after a person decided, if this process has the run since then: toolhost
// knows it.
func (e *toolCall) mayBeSettled(out *tool.Outcome) bool {
	return out.Err != nil && out.Err.Kind == tool.KindOutcomeUnknown && out.Settled == nil &&
		e.call.SideEffects && (e.spec == nil || e.spec.Settles) && !e.cancelled()
}
