package flow

import (
	"context"
	"sync"
)

// Credit is a number of bytes that may be sent; the zero value is none. Waiters are served in the order in which they came. All
// methods may be called from any goroutine.
type Credit struct {
	mu      sync.Mutex
	left    int64
	waiters fifo[*creditWaiter] // empty while left is positive
	err     error               // set once closed
}

type creditWaiter struct {
	size int64
	done chan struct{} // closed when served, refused or, by the waiter itself, given up
	err  error         // why it was refused; read after done
}

// NewCredit returns a credit of n bytes.
func NewCredit(n int) *Credit { return &Credit{left: int64(n)} }

// Acquire waits until the credit is positive, then takes size bytes from it, which may leave it below zero. It fails
// with the error given to Close, or with ctx's cause if that ends before it is its turn; then it has taken nothing.
// Where it need not wait it does not look at ctx.
func (c *Credit) Acquire(ctx context.Context, size int) error {
	c.mu.Lock()
	if c.err != nil {
		defer c.mu.Unlock()
		return c.err
	}
	if c.left > 0 {
		c.left -= int64(size)
		c.mu.Unlock()
		return nil
	}
	w := &creditWaiter{size: int64(size), done: make(chan struct{})}
	c.waiters.push(w)
	c.mu.Unlock()

	select {
	case <-w.done:
		return w.err
	case <-ctx.Done():
		return c.giveUp(w, context.Cause(ctx))
	}
}

// TryAcquire takes size bytes if Acquire would not have to wait, and reports whether it did.
func (c *Credit) TryAcquire(size int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil || c.left <= 0 {
		return false
	}
	c.left -= int64(size)
	return true
}

// giveUp takes w out of the line, unless its turn came at the same moment.
func (c *Credit) giveUp(w *creditWaiter, cause error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-w.done:
		return w.err
	default:
	}
	c.waiters.remove(func(other *creditWaiter) bool { return other == w })
	return cause
}

// Grant adds n bytes and serves those who wait.
func (c *Credit) Grant(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left += int64(n)
	for c.left > 0 && c.waiters.len() > 0 {
		w := c.waiters.pop()
		c.left -= w.size
		close(w.done)
	}
}

// Close makes every waiting and later Acquire fail with err, which must not be nil. Only the first Close counts.
func (c *Credit) Close(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.err = err
	for c.waiters.len() > 0 {
		w := c.waiters.pop()
		w.err = err
		close(w.done)
	}
}
