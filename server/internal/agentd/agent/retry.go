package agent

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
)

// Retry is a retry policy.
type Retry struct {
	MaxAttempts int           // total number of attempts
	Initial     time.Duration // the upper limit of the first pause; doubles with each attempt
	Max         time.Duration // the upper limit of any pause
}

// maxRetryAfter limits the pause that the other side can request. A run that seems dead for longer
// should end with an error. A model that requests a longer pause is not asked again; see route.
const maxRetryAfter = 60 * time.Second

func (r Retry) or(d Retry) Retry {
	return Retry{
		MaxAttempts: loop.FirstPositive(r.MaxAttempts, d.MaxAttempts, 1),
		Initial:     durationOr(r.Initial, d.Initial),
		Max:         durationOr(r.Max, d.Max),
	}
}

// pause returns how long to wait after a failed attempt. attempt counts from 1. The pause is random
// up to an exponential limit (full jitter), so that runs that failed together do not retry
// together. It is at least retryAfter, the time that the other side requests.
func (r Retry) pause(attempt int, retryAfter time.Duration) time.Duration {
	bound := r.Max
	if shift := attempt - 1; shift < 20 {
		bound = min(bound, r.Initial<<shift)
	}
	return max(rand.N(bound+1), min(retryAfter, maxRetryAfter))
}

// sleep waits for d, or returns ctx's error.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func durationOr(d, fallback time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return fallback
}
