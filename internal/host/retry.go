package host

import (
	"cmp"
	"math/rand/v2"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// The backoff of a tool that asks for retries and does not say how.
const (
	defaultRetryBackoff    = 200 * time.Millisecond
	defaultMaxRetryBackoff = 5 * time.Second
)

// tries reports whether the call, which failed at an attempt, may be tried again: its tool wants that, the failure may
// pass, and nothing can happen twice.
func (r *run) tries(attempt uint32, failure *tool.Error) bool {
	if attempt >= r.tool.Spec.Retry.MaxAttempts || r.ctx.Err() != nil {
		return false
	}
	switch failure.Kind {
	case tool.KindCrashed, tool.KindUnavailable, tool.KindRateLimited:
		return true
	default:
		return false
	}
}

// pause waits before the attempt that follows. It returns false if the call ends before.
func (r *run) pause(attempt uint32, failure *tool.Error) bool {
	policy := r.tool.Spec.Retry
	most := cmp.Or(policy.MaxBackoff, defaultMaxRetryBackoff)
	bound := cmp.Or(policy.InitialBackoff, defaultRetryBackoff)
	for range attempt - 1 {
		if bound *= 2; bound >= most {
			break
		}
	}
	bound = min(bound, most)
	// At least half of the bound, so that it grows, and a random part, so that calls that failed together do not come
	// back together.
	wait := bound/2 + rand.N(bound/2+1)
	return r.sleep(max(wait, failure.RetryAfter))
}

// sleep waits, and returns false at once if the call would be over by then, or ends meanwhile.
func (r *run) sleep(d time.Duration) bool {
	r.mu.Lock()
	late := time.Now().Add(d).After(r.deadline)
	r.mu.Unlock()
	if late {
		return false
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.ctx.Done():
		return false
	}
}
