// Package throttle limits how many calls of a tool run at the same time, and how many start in a
// minute. It knows calls only by the names of their tool, principal and session.
package throttle

import (
	"context"
	"sync"

	"github.com/toolhost/toolhost/server/internal/fairness/turns"
)

// Concurrency limits how many calls of a tool run at the same time. Use NewConcurrency to make one.
// It is safe for concurrent use.
//
// A limit can change while calls run and wait. A lower limit ends no call: calls that wait enter
// again when fewer calls run than the new limit. Calls that entered while there was no limit are
// not counted.
type Concurrency struct {
	limit func(tool string) (most int, known bool)

	mu    sync.Mutex
	tools map[string]*queue // of the tools with calls that run or wait
}

// queue is the calls of one tool.
type queue struct {
	limit   int // 0: none
	running int
	waiting turns.Queue
}

// NewConcurrency returns a Concurrency with the limit of each tool; 0 is no limit. If known is
// false, such as for a tool that has just been removed, the last limit of the tool stays. Call
// Refresh after limit has begun to return other limits.
func NewConcurrency(limit func(tool string) (most int, known bool)) *Concurrency {
	return &Concurrency{limit: limit, tools: map[string]*queue{}}
}

// Refresh applies changed limits to the calls that wait. Calls that enter later use them anyway.
func (c *Concurrency) Refresh() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for tool, q := range c.tools {
		c.updateLocked(tool, q)
		q.admit()
	}
}

// Enter waits until one more call of the tool may run. Tenants take turns, and the calls of a
// tenant enter in the order of their arrival. The caller must call leave when the call has run;
// further calls of leave do nothing. The error is the cause of ctx.
func (c *Concurrency) Enter(ctx context.Context, tool, tenant string) (leave func(), err error) {
	c.mu.Lock()
	q := c.tools[tool]
	if q == nil {
		if most, _ := c.limit(tool); most <= 0 {
			c.mu.Unlock()
			return func() {}, nil
		}
		q = &queue{}
		c.tools[tool] = q
	}
	c.updateLocked(tool, q)
	entered := q.waiting.Add(tenant)
	q.admit()
	c.mu.Unlock()
	select {
	case <-entered:
	case <-ctx.Done():
		c.giveUp(tool, tenant, q, entered)
		return nil, context.Cause(ctx)
	}
	return sync.OnceFunc(func() { c.leave(tool, q) }), nil
}

// leave ends a call that has entered.
func (c *Concurrency) leave(tool string, q *queue) {
	c.mu.Lock()
	defer c.mu.Unlock()
	q.running--
	c.settleLocked(tool, q)
}

// giveUp ends the wait of a call. The call may have entered at the same moment.
func (c *Concurrency) giveUp(tool, tenant string, q *queue, entered chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !q.waiting.Remove(tenant, entered) {
		q.running--
	}
	c.settleLocked(tool, q)
}

// settleLocked admits calls after another one has left, and forgets a tool without calls.
func (c *Concurrency) settleLocked(tool string, q *queue) {
	q.admit()
	if q.running == 0 && q.waiting.Empty() {
		delete(c.tools, tool)
	}
}

func (c *Concurrency) updateLocked(tool string, q *queue) {
	if most, known := c.limit(tool); known {
		q.limit = most
	}
}

// admit lets calls enter as far as the limit allows.
func (q *queue) admit() {
	for !q.waiting.Empty() && (q.limit <= 0 || q.running < q.limit) {
		q.waiting.Pop()
		q.running++
	}
}
