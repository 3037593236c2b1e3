package host

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/toolhost/toolhost/internal/host/deadline"
	"github.com/toolhost/toolhost/tool"
)

// stuckFraction is the part of YieldTimeout after which an instance gets no other calls because a
// cancelled call has not stopped. Most tools stop sooner, and calls that arrive meanwhile need not
// wait to find out whether the instance hangs.
const stuckFraction = 10

// interrupt ends a call that was cancelled or whose deadline has passed. At a deadline the call
// ends at once. After a cancel, the tool may still say how it ended, as long as the call has time.
// A tool that does not stop within YieldTimeout loses its instance.
func (a *attempt) interrupt(cause error) {
	a.wire.Cancel(cause.Error())
	if errors.Is(cause, deadline.ErrPassed) {
		a.fail(a.timedOut())
	}
	now, yieldTimeout := time.Now(), a.call.host.cfg.YieldTimeout
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

// interruptStep is what interrupt does if the tool still runs at a moment.
type interruptStep struct {
	at time.Time
	do func()
}

// lastMoment returns when an interrupted call ends at the latest. A cancel gives the tool some time
// to say how it ended, but no more than the call has.
func (a *attempt) lastMoment() time.Time {
	now := time.Now()
	if errors.Is(context.Cause(a.call.ctx()), deadline.ErrPassed) {
		return now
	}
	yieldBy := now.Add(a.call.host.cfg.YieldTimeout)
	if end := a.call.timer.End(); end.Before(yieldBy) {
		return end
	}
	return yieldBy
}

// endsBefore follows an interrupted call up to a moment, and reports whether it ended by then.
func (a *attempt) endsBefore(moment time.Time, cause error) bool {
	ctx, cancel := context.WithDeadline(context.Background(), moment)
	defer cancel()
	for {
		ev, err := a.next(ctx)
		switch {
		case err == nil && ev.Ended != nil:
			a.yielded(*ev.Ended, cause)
			return true
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

// yielded ends a call with what the tool said after the cancel: a result counts, and "cancelled"
// means the cause of the cancel.
func (a *attempt) yielded(outcome tool.Outcome, cause error) {
	if e := outcome.Err; e != nil && (e.Kind == tool.KindCancelled || e.Kind == tool.KindTimeout) {
		a.fail(a.cancelled(cause))
		return
	}
	a.finish(outcome)
}
