package host

import (
	"cmp"
	"math/rand/v2"
	"time"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/supervisor"
	"github.com/toolhost/toolhost/tool"
)

const (
	// maxMoves bounds how often a call moves to another instance because its instance died before
	// it accepted the call. A tool that allows more attempts raises the bound.
	maxMoves = 3
	// The backoff between attempts of a tool that allows retries but sets no backoff.
	defaultRetryBackoff    = 200 * time.Millisecond
	defaultMaxRetryBackoff = 5 * time.Second
)

// execute waits until the tool may run one more call, and then routes the call. The call has ended
// when execute returns.
func (c *call) execute() {
	defer c.dropArguments()
	began := time.Now()
	leave, err := c.services.limits.concurrency.Enter(c.ctx(), c.request.Tool, identity.TenantOf(c.request.Principal))
	if err != nil {
		c.finishUnexecuted(tool.Outcome{Plugin: c.plugin(), Err: c.unsent(err)})
		return
	}
	defer leave()
	c.observed.entered(began)
	c.route(leave)
}

// route sends the call to one instance after the other until it has its outcome. It calls leave
// when the tool has finished.
func (c *call) route(leave func()) {
	s := c.services.plugins.supervisors.Of(c.tool.Plugin, identity.TenantOf(c.request.Principal))
	relaunched := false
	for number := uint32(1); ; number++ {
		a, asking := &attempt{call: c, supervisor: s, number: number}, time.Now()
		lease, err := s.Acquire(c.ctx(), supervisor.Request{Call: &c.request, State: (*leased)(c)})
		if err != nil {
			failure := tool.AsError(err)
			if !relaunched && killedLaunch(failure) && c.ctx().Err() == nil {
				relaunched = true
				number-- // no attempt: nothing was sent
				continue
			}
			if a.mayRetry(failure) && a.pause(failure) {
				continue
			}
			c.finishUnexecuted(tool.Outcome{Plugin: c.plugin(), Err: c.unsent(err)})
			return
		}
		a.lease, a.instance = lease, lease.Instance()
		c.observed.acquired(asking, a.instance)
		a.run()
		lease.Release()
		if !a.again(leave) {
			return
		}
	}
}

// again handles the end of an attempt. It reports whether the call needs another attempt; otherwise
// the call has its outcome. The caller must have released the lease, because a filter may need the
// instance.
func (a *attempt) again(leave func()) bool {
	c := a.call
	switch {
	case a.result == attemptEnded:
		return false
	case a.result == attemptAnswered:
		leave() // filters do not count as a call of the tool
		c.finish(c.filters().after(a.outcome))
		return false
	case a.result == attemptFailed:
		if !a.pause(a.outcome.Err) {
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

// killedLaunch reports whether a process ended by a signal before it took calls, and toolhost did
// not end it. That says little about the plugin, so one more launch is worth the wait, also for a
// tool that allows no retries.
func killedLaunch(failure *tool.Error) bool {
	exit := failure.Exit
	return failure.Kind == tool.KindUnavailable && exit != nil && exit.Signal != "" && exit.Reason == "" && !exit.OutOfMemory
}

// pause waits before the next attempt. It returns false if the call ends first.
func (a *attempt) pause(failure *tool.Error) bool {
	policy := a.call.tool.Spec.Retry
	most := cmp.Or(policy.MaxBackoff, defaultMaxRetryBackoff)
	bound := cmp.Or(policy.InitialBackoff, defaultRetryBackoff)
	for range a.number - 1 {
		if bound *= 2; bound >= most {
			break
		}
	}
	bound = min(bound, most)
	// At least half of the bound, so that the waits grow. The random part prevents calls that
	// failed together from repeating together.
	wait := max(bound/2+rand.N(bound/2+1), failure.RetryAfter)
	a.call.observed.retries(a.number, failure, wait)
	return a.call.timer.Sleep(wait)
}

// mayRetry reports whether a call that failed at this attempt may be tried again. The tool must
// allow retries, and the failure may be temporary. The caller checks that the call cannot take
// effect twice.
func (a *attempt) mayRetry(failure *tool.Error) bool {
	if a.number >= a.call.tool.Spec.Retry.MaxAttempts || a.call.ctx().Err() != nil {
		return false
	}
	switch failure.Kind {
	case tool.KindCrashed, tool.KindUnavailable, tool.KindRateLimited:
		return true
	default:
		return false
	}
}
