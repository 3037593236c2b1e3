package agenttelemetry

import (
	"context"
	"sync"
	"time"
)

const (
	// unownedTime is how long the count of the runs that no process has counts. A metric is read more
	// rarely.
	unownedTime = 10 * time.Second
	// unownedAsk bounds the question, so that a database that is gone does not fail the reader of the
	// metrics.
	unownedAsk = 2 * time.Second
)

// CountUnowned adds runs that wait for a person and that no process has to the gauges. count
// returns how many there are, and since when the first one waits. A collection of the metrics calls
// it at most every ten seconds, and one after the other. If it fails, what it returned last counts.
// A nil Observer never calls it.
func (o *Observer) CountUnowned(count func(ctx context.Context) (runs int, since time.Time, err error)) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.unowned = &unowned{count: count}
}

// unowned is what a store has of runs that wait and that no process has.
type unowned struct {
	count func(ctx context.Context) (int, time.Time, error)

	mu    sync.Mutex
	asked time.Time
	runs  int
	since time.Time
}

func (u *unowned) read(ctx context.Context) (runs int, since time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.asked.IsZero() || time.Since(u.asked) >= unownedTime {
		ctx, cancel := context.WithTimeout(ctx, unownedAsk)
		defer cancel()
		if runs, since, err := u.count(ctx); err == nil {
			u.runs, u.since = runs, since
		}
		u.asked = time.Now()
	}
	return u.runs, u.since
}
