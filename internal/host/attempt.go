package host

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/artifact"
	"github.com/toolhost/toolhost/internal/budget"
	"github.com/toolhost/toolhost/internal/callstore"
	"github.com/toolhost/toolhost/internal/host/deadline"
	"github.com/toolhost/toolhost/internal/host/ledger"
	"github.com/toolhost/toolhost/internal/host/result"
	"github.com/toolhost/toolhost/internal/host/supervisor"
	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/internal/rpc/pluginwire"
	"github.com/toolhost/toolhost/tool"
)

// attemptResult is how an attempt ended.
type attemptResult int

const (
	attemptEnded    attemptResult = iota // the call has its outcome
	attemptMoved                         // the instance died before it took the call
	attemptFailed                        // the attempt failed, and the call may be tried again
	attemptAnswered                      // what follows the answer may block
)

// attempt is the way of a call through one instance: it sends the call to the plugin, reads what
// the plugin says of it, and judges how the call ended. One goroutine uses it at a time.
type attempt struct {
	call       *call
	supervisor *supervisor.Supervisor
	lease      *supervisor.Lease
	instance   *supervisor.Instance
	number     uint32 // from 1
	wire       *pluginwire.Call
	began      time.Time

	whole       bool // the plugin got all arguments at once
	heard       bool // the plugin has said something of the call
	charged     bool // the cost of the attempt is counted
	mustNotWait bool // the goroutine must not block, not even for a disk

	result  attemptResult
	outcome tool.Outcome // of attemptFailed and attemptAnswered
}

// run sends the call to the instance and follows it to its end.
func (a *attempt) run() {
	if !a.start(a.instance.Conn().Start) {
		return
	}
	defer a.wire.Close()
	if !a.whole {
		var feeding sync.WaitGroup
		ctx, stop := context.WithCancel(a.call.ctx())
		feeding.Go(func() { a.feed(ctx) }) // ends with ctx or the arguments; run waits
		defer feeding.Wait()
		defer stop()
	}
	a.follow()
}

// start sends the call to the instance with a method of its connection. If it returns false, the
// instance did not get the call, and a.result says what follows.
func (a *attempt) start(send func(context.Context, pluginwire.Start) (*pluginwire.Call, error)) bool {
	c := a.call
	if c.Executed() {
		if refused := a.admit(); refused != nil {
			c.finishUnexecuted(tool.Outcome{Plugin: a.supervisor.Name(), Err: refused})
			return false
		}
	}
	secrets, refused := c.secrets() // again: they may have changed while the call waited
	if refused != nil {
		c.finishUnexecuted(tool.Outcome{Plugin: a.supervisor.Name(), Err: refused})
		return false
	}
	frame := a.frame(secrets)
	a.began = time.Now()
	wire, err := send(c.ctx(), frame)
	switch {
	case errors.Is(err, pluginwire.ErrConnLost), errors.Is(err, pluginwire.ErrNoRoom):
		a.result = attemptMoved
		return false
	case err != nil:
		c.finishUnexecuted(tool.Outcome{Plugin: a.supervisor.Name(), Instance: a.instance.ID(), Err: c.unsent(err)})
		return false
	}
	a.wire, a.whole = wire, frame.Complete
	c.events.Start(tool.Started{CallID: c.request.ID, Plugin: a.supervisor.Name(), Instance: a.instance.ID(), Attempt: a.number})
	return true
}

// frame returns what the plugin gets at the beginning of the call.
func (a *attempt) frame(secrets map[string]string) pluginwire.Start {
	c := a.call
	text, complete := c.args.begin()
	return pluginwire.Start{
		CallID:      c.request.ID,
		Tool:        c.tool.DeclaredName(),
		Arguments:   text,
		Complete:    complete,
		Attempt:     a.number,
		Timeout:     c.timer.Granted(),
		Session:     c.request.Session,
		Workspace:   c.host.cfg.Workspace,
		Values:      declaredValues(c.request.Context, c.tool.Spec.ContextKeys),
		Secrets:     secrets,
		Traceparent: c.request.Traceparent,
		Artifacts:   a.readArtifact,
		Hold:        a.holdResult,
	}
}

// admit does what is necessary just before the plugin may execute the call: it counts the call for
// the rate limit, and writes to the ledger that a call with side effects begins. If it returns an
// error, the plugin must not execute the call. A first attempt that exceeds the rate limit is
// refused; a later one waits.
func (a *attempt) admit() *tool.Error {
	c := a.call
	for c.tool.Spec.RateLimitPerMinute > 0 {
		var refused *tool.Error
		if a.number == 1 {
			if refused = c.checkRate(true); refused != nil {
				return refused
			}
		} else {
			refused = c.host.rates.Check(&c.request, int(c.tool.Spec.RateLimitPerMinute), true)
		}
		if refused == nil {
			break
		}
		if !c.timer.Sleep(refused.RetryAfter) {
			return c.unsent(context.Cause(c.ctx()))
		}
	}
	if !c.tool.Spec.HasSideEffects() {
		return nil
	}
	err := c.entry.Begin(c.ctx(), c.request.Tool, c.plugin(), c.arrived)
	if err == nil {
		return nil
	}
	if _, full := errors.AsType[*callstore.FullError](err); !full && (c.ctx().Err() != nil || errors.Is(err, ledger.ErrFinished)) {
		return c.unsent(err)
	}
	return ledger.Refusal(err)
}

// holdResult reserves memory for a part of the result, and waits for room. The connection of the
// plugin calls it. An error ends the call.
func (a *attempt) holdResult(ctx context.Context, size int) error {
	err := a.call.memory.hold.Reserve(ctx, size)
	exhausted, ok := errors.AsType[*budget.ExhaustedError](err)
	if !ok {
		return err
	}
	return tool.Errorf(tool.KindUnavailable, "the tool was executed and its result is lost: %w; let the tool return less, or make fewer such calls at a time",
		exhausted)
}

// readArtifact reads an artifact for the plugin. The plugin can read what belongs to the session of
// the call.
func (a *attempt) readArtifact(ctx context.Context, handle string, offset uint64, limit int) (tool.ArtifactPiece, error) {
	c := a.call
	return c.host.readArtifact(ctx, artifact.Owner{Principal: c.request.Principal, Session: c.request.Session}, handle, offset, limit)
}

// feed sends preview text to the plugin, and in the end the complete arguments. If sending fails,
// follow finds out why.
func (a *attempt) feed(ctx context.Context) {
	c := a.call
	for {
		select {
		case <-c.args.more:
		case <-ctx.Done():
			return
		}
		piece, replacement, complete := c.args.next()
		err := a.wire.Append(ctx, piece)
		if err == nil && complete {
			if refused := a.admit(); refused != nil {
				c.finishUnexecuted(tool.Outcome{Plugin: a.supervisor.Name(), Instance: a.instance.ID(), Err: refused})
				return
			}
			err = a.wire.Complete(ctx, replacement)
		}
		if complete || err != nil {
			return
		}
	}
}

// follow reads what the plugin says until the plugin has finished with the call or is given up.
func (a *attempt) follow() {
	ctx := a.call.ctx()
	for {
		ev, err := a.next(ctx)
		switch {
		case err == nil && ev.Ended != nil:
			a.ended(*ev.Ended)
			return
		case err == nil:
			a.heard = true
			a.publish(ev)
		case ctx.Err() != nil:
			a.interrupt(context.Cause(ctx))
			return
		default:
			a.lost(err)
			return
		}
	}
}

// next returns the next event from the plugin, without secrets.
func (a *attempt) next(ctx context.Context) (tool.Event, error) {
	ev, err := a.wire.Next(ctx)
	if err != nil {
		return ev, err
	}
	return a.call.host.cfg.Secrets.Redactor().Event(ev), nil
}

// publish adds an event to the event log, and a log record to the log buffer too. Progress may
// extend the deadline.
func (a *attempt) publish(ev tool.Event) {
	a.call.events.Publish(ev)
	if ev.Log != nil {
		a.call.host.cfg.Logs.Append(tool.LogLine{
			Plugin: a.supervisor.Name(), Instance: a.instance.ID(), CallID: a.call.request.ID, Record: *ev.Log,
		})
	}
	if ev.Status != nil && ev.Status.Progress != nil {
		a.call.timer.Extend(a.call.timeout())
	}
}

// ended ends the attempt as the plugin says. If the plugin reports a timeout at the moment of the
// deadline, the host's message counts, which says how long the deadline was.
func (a *attempt) ended(outcome tool.Outcome) {
	if e := outcome.Err; e != nil && e.Kind == tool.KindTimeout && a.call.timer.Near() {
		outcome.Err = a.timedOut()
	}
	a.finish(outcome)
}

// finish ends the call, unless it may be tried again, or what follows may wait and must not wait
// here.
func (a *attempt) finish(outcome tool.Outcome) {
	c := a.call
	outcome.Plugin, outcome.Instance = a.supervisor.Name(), a.instance.ID()
	outcome.Result.Duration = time.Since(a.began)
	if c.Executed() && !a.charged {
		a.charged = true
		c.report.Charge(&outcome, c.tool.Spec.CostPerUse)
		if schema := c.output.Load(); schema != nil {
			a.checkOutput(schema, &outcome)
		}
	}
	if outcome.Err != nil && c.Executed() && !c.tool.Spec.HasSideEffects() && a.mayRetry(outcome.Err) {
		a.result, a.outcome = attemptFailed, outcome
		return
	}
	if outcome.Err == nil && (c.hasFilters() || a.mustNotWait && a.mayWrite(&outcome)) {
		a.result, a.outcome = attemptAnswered, outcome
		return
	}
	c.finish(outcome)
}

// mayWrite reports whether the end of the call may write an artifact to disk.
func (a *attempt) mayWrite(outcome *tool.Outcome) bool {
	if a.call.host.cfg.Artifacts == nil {
		return false
	}
	shaper := a.call.shaper()
	return shaper.Needed(&outcome.Result)
}

// checkOutput checks a result against the output schema of its tool. A caller does not get a result
// that does not fit, because code that relies on the schema would misread it, unless the operator
// wants only a warning.
func (a *attempt) checkOutput(schema *catalog.Schema, outcome *tool.Outcome) {
	err := result.CheckOutput(schema, outcome)
	if err == nil {
		return
	}
	c, keep := a.call, a.call.host.cfg.KeepBadOutput
	c.host.cfg.Logger.Warn("a result does not fit the output schema of its tool", "tool", c.request.Tool,
		"plugin", c.plugin(), "call_id", c.request.ID, "refused", !keep, "error", err)
	if keep {
		c.report.SetBadOutput(result.Clip(err.Error(), result.MaxReason))
		return
	}
	aftermath := "it can be called again"
	if c.tool.Spec.HasSideEffects() {
		aftermath = "its side effects have happened"
	}
	outcome.Result.Content, outcome.Result.Effects = nil, nil
	outcome.Err = tool.Errorf(tool.KindInternal, "the tool %q broke its contract: its structured result does not fit its output schema:\n%s\n%s",
		c.request.Tool, result.Clip(err.Error(), result.MaxReason), aftermath)
}

func (a *attempt) fail(err *tool.Error) { a.finish(tool.Outcome{Err: err}) }

// lost ends a call whose connection broke, or decides that another instance gets it.
func (a *attempt) lost(err error) {
	c := a.call
	if !errors.Is(err, pluginwire.ErrConnLost) {
		a.fail(tool.Errorf(tool.KindInternal, "following the call: %w", err))
		return
	}
	if !a.awaitGone() {
		a.fail(a.unresolved(context.Cause(c.ctx())))
		return
	}
	exit := a.instance.Exit()
	if a.mayMove(exit) {
		a.result = attemptMoved
		return
	}
	kind := tool.KindCrashed
	if c.Executed() && c.tool.Spec.HasSideEffects() {
		kind = tool.KindOutcomeUnknown
	}
	e := tool.Errorf(kind, "the plugin %q ended during the call: %v; %s", a.supervisor.Name(), exit, a.aftermath())
	e.Exit = &exit
	a.fail(e)
}

// awaitGone waits until it is known how the instance ended. That is usually soon, because the
// instance stops a process that has lost its connection. But to find all that the process started
// may take longer than the call has; then awaitGone returns false.
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

// mayMove reports whether another instance may get a call whose tool does not allow retries: the
// call has no side effects, the plugin has said nothing of it, and something outside killed the
// process. A process that crashed by itself or ran out of memory may have done so because of the
// call.
func (a *attempt) mayMove(exit tool.Exit) bool {
	return a.number == 1 && a.whole && !a.heard && a.call.ctx().Err() == nil && !a.call.tool.Spec.HasSideEffects() &&
		exit.Signal == "SIGKILL" && !exit.OutOfMemory
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

// unresolved returns the failure of a call whose instance lost its connection, and whose time was
// up before it was known how the instance ended.
func (a *attempt) unresolved(cause error) *tool.Error {
	if !errors.Is(cause, deadline.ErrPassed) {
		return a.cancelled(cause)
	}
	return tool.Errorf(tool.KindTimeout, "the plugin %q lost its connection during the call, and how it ended was not known within the %v that the call had; %s",
		a.supervisor.Name(), a.call.timer.Limit(), a.aftermath())
}

// aftermath returns what the caller must expect of a call that failed.
func (a *attempt) aftermath() string {
	switch {
	case !a.call.Executed():
		return "nothing was executed"
	case a.call.tool.Spec.HasSideEffects():
		return "it may have done part of its work"
	default:
		return "it can be called again"
	}
}
