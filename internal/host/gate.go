package host

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// gates hold back calls of tools of which only so many may be executed at the same time.
type gates struct {
	limit func(tool string) int // 0: none

	mu    sync.Mutex
	tools map[string]*semaphore.Weighted
}

func newGates(limit func(tool string) int) *gates {
	return &gates{limit: limit, tools: map[string]*semaphore.Weighted{}}
}

// enter waits until a call of the tool may go on, in the order in which they came. The caller calls leave, more than once if
// it likes.
func (g *gates) enter(ctx context.Context, name string) (leave func(), err error) {
	limit := g.limit(name)
	if limit <= 0 {
		return func() {}, nil
	}
	g.mu.Lock()
	s := g.tools[name]
	if s == nil {
		s = semaphore.NewWeighted(int64(limit))
		g.tools[name] = s
	}
	g.mu.Unlock()
	if err := s.Acquire(ctx, 1); err != nil {
		return nil, context.Cause(ctx)
	}
	return sync.OnceFunc(func() { s.Release(1) }), nil
}
