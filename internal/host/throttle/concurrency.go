// Package throttle limits how many calls of a tool run at the same time, and how many start in a
// minute. It knows calls only by the names of their tool, principal and session.
package throttle

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// Concurrency limits how many calls of a tool run at the same time. Use NewConcurrency to make one.
// It is safe for concurrent use.
type Concurrency struct {
	limit func(tool string) int

	mu    sync.Mutex
	tools map[string]*semaphore.Weighted
}

// NewConcurrency returns a Concurrency with the limit of each tool; 0 is no limit. limit must
// return the same for the same name.
func NewConcurrency(limit func(tool string) int) *Concurrency {
	return &Concurrency{limit: limit, tools: map[string]*semaphore.Weighted{}}
}

// Enter waits until one more call of the tool may run. Calls enter in the order in which they came.
// The caller must call leave when the call has run; further calls of leave do nothing. The error is
// the cause of ctx.
func (c *Concurrency) Enter(ctx context.Context, tool string) (leave func(), err error) {
	limit := c.limit(tool)
	if limit <= 0 {
		return func() {}, nil
	}
	c.mu.Lock()
	s := c.tools[tool]
	if s == nil {
		s = semaphore.NewWeighted(int64(limit))
		c.tools[tool] = s
	}
	c.mu.Unlock()
	if err := s.Acquire(ctx, 1); err != nil {
		return nil, context.Cause(ctx)
	}
	return sync.OnceFunc(func() { s.Release(1) }), nil
}
