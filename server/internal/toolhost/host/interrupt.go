package host

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/host/deadline"
	"github.com/toolhost/toolhost/tool"
)

// stuckFraction is the part of YieldTimeout after which an instance gets no other calls because a
// canceled call has not stopped. Most tools stop sooner. Without it, calls that arrive meanwhile
// would have to wait to find out whether the instance hangs.
const stuckFraction = 10

// interrupt ends a call that was canceled or whose deadline has passed. At a deadline the call ends
// at once. After a cancel, the tool may still send an outcome, until the deadline. The supervisor
// stops the instance if the tool does not stop within YieldTimeout.
func (a *attempt) interrupt(cause error) {
	a.wire.Cancel(cause.Error())
	if errors.Is(cause, deadline.ErrPassed) {
		a.fail(a.timedOut())
	}
	now, yieldTimeout := time.Now(), a.call.settings.YieldTimeout
	reason := "a call of " + a.call.request.Tool + " did not stop when it was told to"
	steps := []interruptStep{
		{now.Add(yieldTimeout / stuckFraction), func() { a.lease.Stuck(reason) }},
		{a.lastMoment(), func() { a.fail(a.cancelled(cause)) }},
		{now.Add(yieldTimeout), func() { a.lease.Unyielding(reason) }},
	}
	slices.SortStableFunc(steps, func(s, t interruptStep) int { return s.at.Compare(t.at) })
	for _, s := range steps {
		if a.endsBefore(s.at, cause) {
			return
		}
		s.do()
	}
}

// interruptStep is an action of interrupt, and the moment of the action. interrupt takes it if the
// tool still runs at that moment.
type interruptStep struct {
	at time.Time
	do func()
}

// lastMoment returns the latest moment at which an interrupted call ends. After a cancel, the tool
// has some time to send an outcome, but not more than the deadline leaves.
func (a *attempt) lastMoment() time.Time {
	now := time.Now()
	if errors.Is(context.Cause(a.call.ctx()), deadline.ErrPassed) {
		return now
	}
	yieldBy := now.Add(a.call.settings.YieldTimeout)
	if end := a.call.timer.End(); end.Before(yieldBy) {
		return end
	}
	return yieldBy
}

// endsBefore follows an interrupted call up to a moment, and reports whether the call ended by
// then.
func (a *attempt) endsBefore(moment time.Time, cause error) bool {
	ctx, cancel := context.WithDeadline(context.Background(), moment)
	defer cancel()
	for {
		ev, err := a.next(ctx)
		switch {
		case err == nil && ev.Ended != nil:
			a.yielded(*ev.Ended, cause)
			return true
		case err == nil && ev.Question != nil: // gets no answer, because the tool's context has ended
		case err == nil:
			a.publish(ev)
		case ctx.Err() != nil:
			return false
		default:
			a.lost(err)
			return true
		}
	}
}

// yielded ends a call with the outcome that the tool sent after the cancel. If that is an error of
// kind cancelled or timeout, the call ends with the cause of the cancel.
func (a *attempt) yielded(outcome tool.Outcome, cause error) {
	if e := outcome.Err; e != nil && (e.Kind == tool.KindCancelled || e.Kind == tool.KindTimeout) {
		a.fail(a.cancelled(cause))
		return
	}
	a.finish(outcome)
}

// timedOut returns the failure of a call whose deadline has passed.
func (a *attempt) timedOut() *tool.Error {
	return tool.Errorf(tool.KindTimeout, "the tool %q took longer than the %v that it had; %s", a.call.request.Tool, a.call.timer.Limit(), a.aftermath())
}

func (a *attempt) cancelled(cause error) *tool.Error {
	if errors.Is(cause, errStopping) {
		return tool.Errorf(tool.KindCancelled, "the call was cancelled: %w; %s", cause, a.aftermath())
	}
	return tool.Errorf(tool.KindCancelled, "%w; %s", cause, a.aftermath())
}

// unresolved returns the failure of a call whose instance lost its connection, if the call's time
// ended before it was known how the instance ended.
func (a *attempt) unresolved(cause error) *tool.Error {
	if !errors.Is(cause, deadline.ErrPassed) {
		return a.cancelled(cause)
	}
	return tool.Errorf(tool.KindTimeout, "the plugin %q lost its connection during the call, and how it ended was not known within the %v that the call had; %s",
		a.supervisor.Name(), a.call.timer.Limit(), a.aftermath())
}
