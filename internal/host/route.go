package host

import (
	"cmp"
	"math/rand/v2"
	"time"

	"github.com/toolhost/toolhost/internal/host/supervisor"
	"github.com/toolhost/toolhost/tool"
)

const (
	// maxMoves bounds how often a call moves to another instance because the one before died before
	// it took the call, where the tool does not say how often it may be tried.
	maxMoves = 3
	// The backoff between attempts of a tool that allows retries and sets none.
	defaultRetryBackoff    = 200 * time.Millisecond
	defaultMaxRetryBackoff = 5 * time.Second
)

// execute waits until the tool may run one more call, and then routes the call. The call has ended
// when execute returns.
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

// route gives the call to one instance after the other until it has its outcome. number is the
// number of the first attempt, asked a lease that the call has asked for, or nil. leave says that
// the tool has finished.
func (c *call) route(number uint32, asked *supervisor.Lease, leave func()) {
	s := c.host.plugins.Of(c.tool.Plugin)
	for ; ; number++ {
		a := &attempt{call: c, supervisor: s, number: number}
		lease, err := s.Acquire(c.ctx(), supervisor.Request{Call: &c.request, State: c}, asked)
		asked = nil
		if err != nil {
			if failure := tool.AsError(err); a.mayRetry(failure) && a.pause(failure) {
				continue
			}
			c.finishUnexecuted(tool.Outcome{Plugin: c.plugin(), Err: c.unsent(err)})
			return
		}
		a.lease, a.instance = lease, lease.Instance()
		a.run()
		lease.Release()
		if !a.again(leave) {
			return
		}
	}
}

// again does what the end of the attempt requires. It reports whether the call needs another
// attempt; if not, the call has its outcome. The lease must be released, since a filter may need
// the instance.
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

// mayRetry reports whether a call that failed at this attempt may be tried again: its tool allows
// that, and the failure may be temporary. The caller checks that the call cannot happen twice.
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
	// At least half of the bound, so that the waits grow, and a random part, so that calls that
	// failed together do not return together.
	wait := bound/2 + rand.N(bound/2+1)
	return a.call.timer.Sleep(max(wait, failure.RetryAfter))
}
