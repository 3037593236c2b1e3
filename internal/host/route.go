package host

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/toolhost/toolhost/internal/audit"
	"github.com/toolhost/toolhost/internal/callstore"
	"github.com/toolhost/toolhost/internal/host/ledger"
	"github.com/toolhost/toolhost/internal/host/supervisor"
	"github.com/toolhost/toolhost/tool"
)

const (
	// maxMoves bounds how often a call moves to another instance because the one before died before it
	// took the call, where the tool does not say how often it may be tried.
	maxMoves = 3
	// The backoff between attempts of a tool that allows retries and sets none.
	defaultRetryBackoff    = 200 * time.Millisecond
	defaultMaxRetryBackoff = 5 * time.Second
)

// execute waits until the tool may run one more call, and then routes the call. The call has ended when
// execute returns.
func (c *call) execute() {
	defer c.dropArguments()
	leave, err := c.host.concurrency.Enter(c.ctx(), c.request.Tool)
	if err != nil {
		c.finishUnexecuted(tool.Outcome{Plugin: c.plugin(), Err: c.unsent(err)})
		return
	}
	defer leave()
	c.route(1, nil, leave)
}

// route gives the call to one instance after the other until it has its outcome. number is the number of
// the first attempt, asked a lease that the call has asked for, or nil. leave says that the tool has
// finished.
func (c *call) route(number uint32, asked *supervisor.Lease, leave func()) {
	s := c.host.plugins.Of(c.tool.Plugin)
	for ; ; number++ {
		lease, err := s.Acquire(c.ctx(), c.leaseRequest(), asked)
		asked = nil
		if err != nil {
			if c.mayRetry(number, tool.AsError(err)) && c.pause(number, tool.AsError(err)) {
				continue
			}
			c.finishUnexecuted(tool.Outcome{Plugin: c.plugin(), Err: c.unsent(err)})
			return
		}
		a := &attempt{call: c, supervisor: s, lease: lease, instance: lease.Instance(), number: number}
		a.run()
		lease.Release()
		if !c.again(a, leave) {
			return
		}
	}
}

// leaseRequest describes the call to a supervisor.
func (c *call) leaseRequest() supervisor.Request {
	return supervisor.Request{Call: &c.request, State: c}
}

// again does what the end of an attempt requires. It reports whether the call needs another attempt; if
// not, the call has its outcome. The lease of the attempt must be released, since a filter may need the
// instance.
func (c *call) again(a *attempt, leave func()) bool {
	switch {
	case a.result == attemptEnded:
		return false
	case a.result == attemptAnswered:
		leave() // filters do not count as a call of the tool
		c.finish(c.filters().after(a.outcome))
		return false
	case a.result == attemptFailed:
		if !c.pause(a.number, a.outcome.Err) {
			c.finish(a.outcome)
			return false
		}
	case a.number >= max(maxMoves, c.tool.Spec.Retry.MaxAttempts):
		c.finishUnexecuted(tool.Outcome{Plugin: c.plugin(), Err: tool.Errorf(tool.KindUnavailable,
			"the plugin %q died %d times before it could take the call", c.plugin(), a.number)})
		return false
	default:
		select { // until the supervisor knows that the instance has died
		case <-a.instance.Gone():
		case <-c.ctx().Done():
		}
	}
	return true
}

// mayRetry reports whether a call that failed at an attempt may be tried again: its tool allows that, and
// the failure may be temporary. The caller checks that the call cannot happen twice.
func (c *call) mayRetry(number uint32, failure *tool.Error) bool {
	if number >= c.tool.Spec.Retry.MaxAttempts || c.ctx().Err() != nil {
		return false
	}
	switch failure.Kind {
	case tool.KindCrashed, tool.KindUnavailable, tool.KindRateLimited:
		return true
	default:
		return false
	}
}

// pause waits before the attempt that follows an attempt. It returns false if the call ends first.
func (c *call) pause(number uint32, failure *tool.Error) bool {
	policy := c.tool.Spec.Retry
	most := cmp.Or(policy.MaxBackoff, defaultMaxRetryBackoff)
	bound := cmp.Or(policy.InitialBackoff, defaultRetryBackoff)
	for range number - 1 {
		if bound *= 2; bound >= most {
			break
		}
	}
	bound = min(bound, most)
	// At least half of the bound, so that the waits grow, and a random part, so that calls that failed
	// together do not return together.
	wait := bound/2 + rand.N(bound/2+1)
	return c.timer.Sleep(max(wait, failure.RetryAfter))
}

// admit does what is necessary just before a plugin may execute the call: it counts the call for the rate
// limit, and writes to the ledger that the call begins. If it returns an error, the plugin must not
// execute the call. A first attempt that exceeds the rate limit is refused; a later one waits.
func (c *call) admit(number uint32) *tool.Error {
	for {
		if number == 1 {
			if refused := c.checkRate(true); refused != nil {
				return refused
			}
			return c.begin()
		}
		refused := c.host.rates.Check(&c.request, c.rateLimit(), true)
		if refused == nil {
			return c.begin()
		}
		if !c.timer.Sleep(refused.RetryAfter) {
			return c.unsent(context.Cause(c.ctx()))
		}
	}
}

// checkRate returns why the rate limit refuses the call, or nil. take counts a call that may start. If
// the audit log has the permission of the call, it gets the refusal too.
func (c *call) checkRate(take bool) *tool.Error {
	refused := c.host.rates.Check(&c.request, c.rateLimit(), take)
	if refused == nil {
		return nil
	}
	entry := c.approval.lastDecision()
	entry.Outcome, entry.Reason = audit.RateLimited, refused.Message
	return c.host.authorizer.record(c.ctx(), entry, refused)
}

func (c *call) rateLimit() int { return int(c.tool.Spec.RateLimitPerMinute) }

// begin writes to the ledger that a plugin is about to execute the call, if the call has side effects.
func (c *call) begin() *tool.Error {
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
