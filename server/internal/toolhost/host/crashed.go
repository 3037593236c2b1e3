package host

import (
	"context"
	"errors"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
	"github.com/toolhost/toolhost/tool"
)

// brokenOff says what a caller has to know of a call that failed after its process had ended and
// another one had got it.
const brokenOff = "the process of an earlier attempt ended, which may have done part of its work"

// lost ends a call whose connection broke, or makes another instance execute it.
func (a *attempt) lost(err error) {
	c := a.call
	if errors.Is(err, pluginconn.ErrNotTaken) && a.whole && !a.heard && c.ctx().Err() == nil {
		a.result = attemptMoved
		return
	}
	if errors.Is(err, pluginconn.ErrNotTaken) {
		a.fail(tool.Errorf(tool.KindUnavailable, "the plugin %q did not take the call; %s", a.supervisor.Name(), c.aftermathUnsent()))
		return
	}
	if !errors.Is(err, pluginconn.ErrLost) {
		a.fail(tool.Errorf(tool.KindInternal, "following the call: %w", err))
		return
	}
	if !a.awaitGone() {
		a.fail(a.unresolved(context.Cause(c.ctx())))
		return
	}
	exit := a.instance.Exit()
	if !c.tool.Spec.ReadOnly {
		c.cut = a.number
	}
	if a.mayMove(exit) {
		a.result = attemptMoved
		return
	}
	kind := tool.KindCrashed
	// A person may have acted on a question, so that the call must not be made again.
	if c.executed() && c.tool.Spec.HasSideEffects() || a.unanswered {
		kind = tool.KindOutcomeUnknown
	}
	e := tool.Errorf(kind, "the plugin %q ended during the call: %v; %s", a.supervisor.Name(), exit, a.aftermath())
	if kind == tool.KindOutcomeUnknown && c.canSettle() {
		e.Message += "; repeat the call with the same id, and toolhost asks the tool what became of it"
	}
	e.Exit = &exit
	a.fail(e)
}

// awaitGone waits until it is known how the instance ended. That is usually soon, because the
// supervisor stops a process that has lost its connection. If killing everything that the process
// started takes longer than the rest of the call's time, awaitGone returns false.
func (a *attempt) awaitGone() bool {
	select {
	case <-a.instance.Gone():
		return true
	case <-a.call.ctx().Done():
	}
	timer := time.NewTimer(time.Until(a.lastMoment()))
	defer timer.Stop()
	select {
	case <-a.instance.Gone():
		return true
	case <-timer.C:
		return false
	}
}

// mayMove reports whether another instance may execute a call whose tool does not allow retries.
// That requires that the call has no side effects, that the plugin has sent no event of it, and
// that something outside the plugin killed the process. A process that crashed by itself or ran out
// of memory may have done so because of the call.
func (a *attempt) mayMove(exit tool.Exit) bool {
	return a.number == 1 && a.whole && !a.heard && a.call.ctx().Err() == nil && !a.call.tool.Spec.HasSideEffects() &&
		exit.Signal == "SIGKILL" && !exit.OutOfMemory
}

// aftermath returns a text for the caller that says which effects a failed call may have had.
func (a *attempt) aftermath() string {
	switch {
	case !a.call.executed():
		return "nothing was executed"
	case a.unanswered:
		return "its question had no answer yet"
	case a.call.tool.Spec.HasSideEffects():
		return "it may have done part of its work"
	case !a.call.tool.Spec.ReadOnly: // idempotent
		return "it may have done part of its work, and can be called again"
	default:
		return "it can be called again"
	}
}
