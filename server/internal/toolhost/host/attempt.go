package host

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/internal/wire/trace"
	"github.com/toolhost/toolhost/server/internal/fairness/budget"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/ledger"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/supervisor"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/throttle"
	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
	"github.com/toolhost/toolhost/tool"
)

// attemptResult is how an attempt ended.
type attemptResult int

const (
	attemptEnded    attemptResult = iota // the call has its outcome
	attemptMoved                         // the instance died before it took the call
	attemptFailed                        // the attempt failed, and the call may be tried again
	attemptAnswered                      // filters may replace the result
)

// attempt is one execution of a call on one instance. It sends the call to the plugin, reads the
// plugin's events, and decides how the call ended. One goroutine uses it at a time.
type attempt struct {
	call       *call
	supervisor *supervisor.Supervisor
	lease      *supervisor.Lease
	instance   *supervisor.Instance
	number     uint32 // from 1
	wire       pluginconn.Call
	began      time.Time

	whole      bool // the plugin got all arguments at once
	heard      bool // the plugin has said something of the call
	charged    bool // the cost of the attempt is counted
	unanswered bool // the plugin had an open question when its connection was lost

	result  attemptResult
	outcome tool.Outcome // of attemptFailed and attemptAnswered
}

// run sends the call to the instance and follows it to its end.
func (a *attempt) run() {
	if !a.start() {
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

// start sends the call to the instance. If it returns false, the instance did not get the call, and
// a.result says how to continue.
func (a *attempt) start() bool {
	c := a.call
	refused := c.checkFilters(a.instance.Revision())
	if refused == nil && c.executed() {
		refused = a.admit()
	}
	var secrets map[string]string
	if refused == nil {
		secrets, refused = c.secrets() // again: they may have changed while the call waited
	}
	if refused != nil {
		c.finishUnexecuted(tool.Outcome{Plugin: a.supervisor.Name(), Err: refused})
		return false
	}
	frame := a.frame(secrets)
	a.began = time.Now()
	wire, err := a.instance.Conn().Start(c.ctx(), frame)
	switch {
	case errors.Is(err, pluginconn.ErrLost), errors.Is(err, pluginconn.ErrNoRoom):
		a.result = attemptMoved
		return false
	case err != nil:
		c.finishUnexecuted(tool.Outcome{Plugin: a.supervisor.Name(), Instance: a.instance.ID(), Err: c.unsent(err)})
		return false
	}
	a.wire, a.whole = wire, frame.Complete
	c.observed.attempted(a)
	c.events.Start(tool.Started{CallID: c.request.ID, Plugin: a.supervisor.Name(), Instance: a.instance.ID(), Attempt: a.number, Asks: c.permittedKinds()})
	return true
}

// frame returns the message with which the plugin receives the call.
func (a *attempt) frame(secrets map[string]string) pluginconn.Start {
	c := a.call
	text, complete := c.args.begin()
	workspace := cmp.Or(a.instance.Workspace(), c.services.plugins.workspace)
	start := pluginconn.Start{
		CallID:      c.request.ID,
		Tool:        c.tool.DeclaredName(),
		Arguments:   text,
		Complete:    complete,
		Attempt:     a.number,
		Timeout:     c.timer.Granted(),
		Session:     c.request.Session,
		Workspace:   workspace,
		Values:      contextFor(&c.request, c.tool.Spec.ContextKeys, workspace),
		Secrets:     secrets,
		Traceparent: c.request.Traceparent,
		Answers:     c.askableKinds(),
		Artifacts:   a.readArtifact,
		Hold:        a.holdResult,
	}
	if canSettle(&c.tool.Spec) {
		start.EffectKey = c.entry.EffectKey()
	}
	if m := c.tool.Plugin.Manifest; m != nil && m.MCP != nil {
		start.CallID = c.entry.IdempotencyKey()
	}
	if c.observed.recorded() != nil {
		start.SpanBytes, start.Spans = trace.MaxBytes, a.returned
	}
	return start
}

// admit runs just before the plugin may execute the call. It counts the call for the rate limit,
// looks whether the files of the session are still here, records in the ledger that a call with
// side effects begins, and looks whether the standing approval of the call is still in force. If it
// returns an error, the plugin must not execute the call. A first attempt that exceeds the rate
// limit is refused; a later one waits.
func (a *attempt) admit() *tool.Error {
	c := a.call
	for rateLimits(c) != (throttle.Limits{}) {
		var refused *tool.Error
		if a.number == 1 {
			if refused = c.checkRate(true); refused != nil {
				return refused
			}
		} else {
			refused = c.services.limits.rates.Check(&c.request, rateLimits(c), true)
		}
		if refused == nil {
			break
		}
		if !c.timer.Sleep(refused.RetryAfter) {
			return c.unsent(context.Cause(c.ctx()))
		}
	}
	if moved := c.settings.authorizer.stillAtHome(c.ctx(), &c.request, c.tool); moved != nil {
		return moved
	}
	if !c.tool.Spec.HasSideEffects() {
		return c.admitted()
	}
	err := c.begin()
	for errors.Is(err, callstore.ErrTaken) {
		if err = c.yield(); err == nil {
			err = c.begin()
		}
	}
	if err == nil {
		return c.admitted()
	}
	if _, full := errors.AsType[*callstore.FullError](err); !full && (c.ctx().Err() != nil || errors.Is(err, ledger.ErrFinished)) {
		return c.unsent(err)
	}
	return c.entry.Refusal(err)
}

// begin records in the ledger that a plugin is about to execute the call.
func (c *call) begin() error {
	return c.entry.Begin(c.ctx(), c.request.Tool, c.plugin(), c.arrived, settleArguments(c), c.tool.Spec.Seals, c.request.Supersedes, idQuota(c))
}

// admitted looks a last time at the approval of the call, and uses it up.
func (c *call) admitted() *tool.Error {
	refused := c.checkStanding()
	if refused == nil {
		c.approval.spend()
	}
	return refused
}

// holdResult reserves memory for a part of the result, and waits until memory is available. The
// connection of the plugin calls it. An error ends the call.
func (a *attempt) holdResult(ctx context.Context, size int) error {
	err := a.call.memory.hold.Reserve(ctx, size)
	exhausted, ok := errors.AsType[*budget.ExhaustedError](err)
	if !ok {
		return err
	}
	return tool.Errorf(tool.KindUnavailable, "the tool was executed and its result is lost: %w; let the tool return less, or make fewer such calls at a time",
		exhausted)
}

// feed sends preview text to the plugin, and then the complete arguments. If sending fails, feed
// returns, and follow finds the reason.
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

// follow reads the plugin's events until the plugin has finished with the call, or the host stops
// waiting for the plugin.
func (a *attempt) follow() {
	ctx := a.call.ctx()
	for {
		ev, err := a.next(ctx)
		switch {
		case err == nil && ev.Ended != nil:
			a.call.abandonQuestions()
			a.ended(*ev.Ended)
			return
		case err == nil && ev.Question != nil:
			a.heard = true
			a.ask(ev.Question)
		case err == nil:
			a.heard = true
			a.publish(ev)
		case ctx.Err() != nil:
			a.call.abandonQuestions()
			a.interrupt(context.Cause(ctx))
			return
		default:
			a.unanswered = a.call.abandonQuestions()
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
	return a.call.settings.Secrets.Redactor().Event(ev), nil
}

// publish adds an event to the event log. It adds a record of the plugin to the log buffer and to
// the log as well. Progress may extend the deadline.
func (a *attempt) publish(ev tool.Event) {
	a.call.events.Publish(ev)
	if ev.Log != nil {
		a.call.services.records.logs.Append(tool.LogLine{
			Plugin: a.supervisor.Name(), Instance: a.instance.ID(), CallID: a.call.request.ID, Record: *ev.Log,
			Tenant: identity.TenantOf(a.call.request.Principal),
		})
		a.logRecord(ev.Log)
	}
	if ev.Status != nil && ev.Status.Progress != nil {
		a.call.timer.Extend(a.call.settings.timeout(&a.call.request, &a.call.tool.Spec))
	}
}

// ended ends the attempt with the outcome that the plugin sent. If the plugin reports a timeout at
// the moment of the deadline, the outcome gets the host's message, which says how long the deadline
// was.
func (a *attempt) ended(outcome tool.Outcome) {
	if e := outcome.Err; e != nil && e.Kind == tool.KindTimeout && a.call.timer.Near() {
		outcome.Err = a.timedOut()
	}
	a.finish(outcome)
}

// finish ends the call, with two exceptions: the call may be tried again, or filters may replace
// its result.
func (a *attempt) finish(outcome tool.Outcome) {
	c := a.call
	outcome.Plugin, outcome.Instance = a.supervisor.Name(), a.instance.ID()
	outcome.Result.Duration = time.Since(a.began)
	if outcome.Err == nil && outcome.Result.IsError && 0 < c.cut && c.cut < a.number {
		outcome.Result.Content = append(outcome.Result.Content, tool.Text("This was tried again: "+brokenOff+"."))
	}
	if c.executed() && !a.charged {
		a.charged = true
		c.report.Charge(&outcome, c.tool.Spec.CostPerUse)
		if schema := c.output.Load(); schema != nil {
			c.checkOutput(schema, &outcome)
		}
	}
	if outcome.Err != nil && c.executed() && !c.tool.Spec.HasSideEffects() && a.mayRetry(outcome.Err) {
		a.result, a.outcome = attemptFailed, outcome
		return
	}
	if outcome.Err == nil && c.hasFilters() {
		a.result, a.outcome = attemptAnswered, outcome
		return
	}
	c.finish(outcome)
}

func (a *attempt) fail(err *tool.Error) { a.finish(tool.Outcome{Err: err}) }
