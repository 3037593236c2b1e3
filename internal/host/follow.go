package host

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/toolhost/toolhost/internal/rpc/pluginwire"
	"github.com/toolhost/toolhost/tool"
)

// follower takes a call through one instance: it reads what the plugin says of it and judges how it ended.
type follower struct {
	run        *run
	supervisor *supervisor
	place      *seat
	instance   *instance
	attempt    uint32
	wire       *pluginwire.Call
	began      time.Time
	whole      bool // the plugin was given all arguments at once
	heard      bool // the plugin has said something of the call
	charged    bool // its cost is the run's
	hasty      bool // who follows must not wait, not even for a disk
	fate       fate
	outcome    tool.Outcome // if fate is fateFailed or fateAnswered
}

// follow returns once the plugin has let go of the call, or was given up; f.fate says what became of it.
func (f *follower) follow() {
	for {
		ev, err := f.next(&f.run.ctx)
		switch {
		case err == nil && ev.Ended != nil:
			f.ended(*ev.Ended)
			return
		case err == nil:
			f.heard = true
			f.publish(ev)
		case f.run.ctx.Err() != nil:
			f.interrupt(context.Cause(&f.run.ctx))
			return
		default:
			f.lost(err)
			return
		}
	}
}

// ended ends the call as the plugin says. Where its clock and the host's say at the same time that the time is up, the
// host's words count, which say how long that was.
func (f *follower) ended(outcome tool.Outcome) {
	if e := outcome.Err; e != nil && e.Kind == tool.KindTimeout && f.run.timeIsUp() {
		outcome.Err = f.tooLong()
	}
	f.finish(outcome)
}

// publish makes an event known to callers, and log records to operators.
func (f *follower) publish(ev tool.Event) {
	f.run.record.publish(ev)
	if ev.Log != nil {
		f.run.host.cfg.Logs.Append(tool.LogLine{
			Plugin: f.supervisor.name, Instance: f.instance.id, CallID: f.run.call.ID, Record: *ev.Log,
		})
	}
	if ev.Status != nil && ev.Status.Progress != nil {
		f.run.extend()
	}
}

// finish ends the call, unless it failed in a way that lets it be tried again.
func (f *follower) finish(outcome tool.Outcome) {
	outcome.Plugin, outcome.Instance = f.supervisor.name, f.instance.id
	outcome.Result.Duration = time.Since(f.began)
	if f.run.executed() && !f.charged {
		f.charged = true
		f.run.charge(&outcome)
		f.run.checkOutput(&outcome)
	}
	if outcome.Err != nil && f.run.executed() && !f.run.tool.Spec.HasSideEffects() && f.run.tries(f.attempt, outcome.Err) {
		f.fate, f.outcome = fateFailed, outcome
		return
	}
	if outcome.Err == nil && (len(f.run.filters()) > 0 || f.hasty && f.run.shapes(&outcome.Result)) {
		f.fate, f.outcome = fateAnswered, outcome
		return
	}
	f.run.finish(outcome)
}

func (f *follower) fail(err *tool.Error) { f.finish(tool.Outcome{Err: err}) }

// interrupt ends a call whose time is up or that was cancelled. At a deadline the call ends at once; at a cancel the
// tool may still say how it ended, as long as the call has. A tool that does not yield costs its instance.
func (f *follower) interrupt(cause error) {
	f.wire.Cancel(cause.Error())
	if errors.Is(cause, errDeadline) {
		f.fail(f.tooLong())
	}
	now, yieldTimeout := time.Now(), f.run.host.cfg.YieldTimeout
	steps := []step{
		{now.Add(yieldTimeout / suspicion), func() { f.supervisor.stuck(f.place, f.disobedience()) }},
		{f.lastMoment(), func() { f.fail(f.cancelled(cause)) }},
		{now.Add(yieldTimeout), func() { f.supervisor.unyielding(f.instance, f.disobedience()) }},
	}
	slices.SortStableFunc(steps, func(a, b step) int { return a.at.Compare(b.at) })
	for _, s := range steps {
		if f.ends(s.at, cause) {
			return
		}
		s.do()
	}
}

// suspicion is the part of YieldTimeout after which a call that was told to stop keeps others away from its instance: most
// tools stop sooner, and those who call meanwhile need not wait to see whether it is hung.
const suspicion = 10

// step is what is done about a call that was told to stop, should it still go on at some moment.
type step struct {
	at time.Time
	do func()
}

func (f *follower) disobedience() string {
	return "a call of " + f.run.call.Tool + " did not stop when it was told to"
}

// lastMoment returns when a call that is to stop ends, whether its tool has stopped or not: a cancel gives a tool some time
// to say how far it came, but none that the call did not have.
func (f *follower) lastMoment() time.Time {
	now := time.Now()
	if errors.Is(context.Cause(&f.run.ctx), errDeadline) {
		return now
	}
	yieldBy := now.Add(f.run.host.cfg.YieldTimeout)
	f.run.mu.Lock()
	defer f.run.mu.Unlock()
	if f.run.deadline.Before(yieldBy) {
		return f.run.deadline
	}
	return yieldBy
}

// ends follows a call that was told to stop, and reports whether it was over, one way or another, before a moment.
func (f *follower) ends(before time.Time, cause error) bool {
	ctx, cancel := context.WithDeadline(context.Background(), before)
	defer cancel()
	for {
		ev, err := f.next(ctx)
		switch {
		case err == nil && ev.Ended != nil:
			f.yielded(*ev.Ended, cause)
			return true
		case err == nil:
			f.publish(ev)
		case ctx.Err() != nil:
			return false
		default:
			f.lost(err)
			return true
		}
	}
}

// yielded ends a call with what the tool said after it was told to stop: a result counts, "cancelled" means the cause.
func (f *follower) yielded(outcome tool.Outcome, cause error) {
	if e := outcome.Err; e != nil && (e.Kind == tool.KindCancelled || e.Kind == tool.KindTimeout) {
		f.fail(f.cancelled(cause))
		return
	}
	f.finish(outcome)
}

// tooLong is the failure of a call whose time is up.
func (f *follower) tooLong() *tool.Error {
	return tool.Errorf(tool.KindTimeout, "the tool %q took longer than the %v that it had; %s", f.run.call.Tool, f.run.allowed(), f.aftermath())
}

func (f *follower) cancelled(cause error) *tool.Error {
	if errors.Is(cause, errStopping) {
		return tool.Errorf(tool.KindCancelled, "the call was cancelled: %w; %s", cause, f.aftermath())
	}
	return tool.Errorf(tool.KindCancelled, "%w; %s", cause, f.aftermath())
}

// aftermath says what a caller has to reckon with.
func (f *follower) aftermath() string {
	switch {
	case !f.run.executed():
		return "nothing was executed"
	case f.run.tool.Spec.HasSideEffects():
		return "it may have done part of its work"
	default:
		return "it can be called again"
	}
}

// lost ends a call whose instance went away under it, or says that it is to be given to another one.
func (f *follower) lost(err error) {
	if !errors.Is(err, pluginwire.ErrConnLost) {
		f.fail(tool.Errorf(tool.KindInternal, "following the call: %w", err))
		return
	}
	if !f.awaitGone() {
		f.fail(f.unresolved(context.Cause(&f.run.ctx)))
		return
	}
	exit := f.instance.exit
	if f.untouched(exit) {
		f.fate = fateMoved
		return
	}
	kind := tool.KindCrashed
	if f.run.executed() && f.run.tool.Spec.HasSideEffects() {
		kind = tool.KindOutcomeUnknown
	}
	e := tool.Errorf(kind, "the plugin %q ended during the call: %v; %s", f.supervisor.name, exit, f.aftermath())
	e.Exit = &exit
	f.fail(e)
}

// awaitGone returns once it is known how the instance ended. That is soon, for the instance's goroutine ends what lost its
// connection; but finding all that the process started may take longer than the call has, and then it returns false.
func (f *follower) awaitGone() bool {
	select {
	case <-f.instance.gone:
		return true
	case <-f.run.ctx.Done():
	}
	timer := time.NewTimer(time.Until(f.lastMoment()))
	defer timer.Stop()
	select {
	case <-f.instance.gone:
		return true
	case <-timer.C:
		return false
	}
}

// unresolved is the failure of a call whose instance lost its connection and whose time was up before more was known.
func (f *follower) unresolved(cause error) *tool.Error {
	if !errors.Is(cause, errDeadline) {
		return f.cancelled(cause)
	}
	return tool.Errorf(tool.KindTimeout, "the plugin %q lost its connection during the call, and how it ended was not known within the %v that the call had; %s",
		f.supervisor.name, f.run.allowed(), f.aftermath())
}

// untouched reports whether the call may be given to another instance although its tool did not ask for that: it is safe to
// make twice, nothing was heard of it, and the process was killed from outside. A process that crashed by itself, or for want of
// memory, may have done so because of the call.
func (f *follower) untouched(exit tool.Exit) bool {
	return f.attempt == 1 && f.whole && !f.heard && f.run.ctx.Err() == nil && !f.run.tool.Spec.HasSideEffects() && exit.Signal == "SIGKILL" && !exit.OutOfMemory
}
