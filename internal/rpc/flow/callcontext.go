package flow

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// CallContext is the context of one call. It ends when its owner calls End, when its deadline
// passes, or when its parent ends. context.Cause returns the reason.
//
// Every call needs a context, but few calls wait for its end or derive from it: most tools answer
// at once. A context of the standard library costs several allocations, a timer and a lock of its
// parent. So a CallContext is embedded in its call and creates the standard context only when
// something waits for it, derives from it, or finds it ended. From then on it only delegates.
//
// The zero value is ready for use: it has no deadline, and its parent is context.Background. A
// CallContext must not be copied. It is safe for concurrent use.
type CallContext struct {
	parent   context.Context // nil: context.Background
	deadline time.Time       // zero: none
	expired  func() error    // the cause at the deadline
	ended    atomic.Bool     // End was called
	made     atomic.Pointer[standardContext]

	mu    sync.Mutex
	cause error // the argument of End
}

type standardContext struct {
	context.Context
	cancel context.CancelCauseFunc
	expire context.CancelFunc // stops the timer of the deadline; nil without one
}

var _ context.Context = (*CallContext)(nil)

// Init sets the parent and the timeout of a zero CallContext. 0 means no timeout. expired returns
// the cause with which the context ends at its deadline; it may be nil without a timeout.
func (c *CallContext) Init(parent context.Context, timeout time.Duration, expired func() error) {
	c.parent = parent
	if timeout > 0 {
		c.deadline, c.expired = time.Now().Add(timeout), expired
	}
}

// End ends the context with a cause. nil means context.Canceled. Only the first call has an effect.
func (c *CallContext) End(cause error) {
	if cause == nil {
		cause = context.Canceled
	}
	c.mu.Lock()
	if c.cause == nil {
		c.cause = cause
		c.ended.Store(true)
	}
	made := c.made.Load()
	c.mu.Unlock()
	if made != nil {
		made.cancel(cause)
		if made.expire != nil {
			made.expire()
		}
	}
}

// standard returns the standard context and creates it if necessary.
func (c *CallContext) standard() context.Context {
	if made := c.made.Load(); made != nil {
		return made
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if made := c.made.Load(); made != nil {
		return made
	}
	made := &standardContext{}
	made.Context, made.cancel = context.WithCancelCause(c.parentContext())
	if c.cause != nil {
		made.cancel(c.cause)
	}
	if !c.deadline.IsZero() {
		made.Context, made.expire = context.WithDeadlineCause(made.Context, c.deadline, c.expired())
	}
	c.made.Store(made)
	return made
}

func (c *CallContext) parentContext() context.Context {
	if c.parent == nil {
		return context.Background()
	}
	return c.parent
}

// unused reports whether the context has not ended and the standard context does not exist.
func (c *CallContext) unused() bool {
	return c.made.Load() == nil && !c.ended.Load() && c.parentContext().Err() == nil &&
		(c.deadline.IsZero() || time.Now().Before(c.deadline))
}

// Deadline implements context.Context.
func (c *CallContext) Deadline() (deadline time.Time, ok bool) {
	if deadline, ok = c.parentContext().Deadline(); ok && (c.deadline.IsZero() || deadline.Before(c.deadline)) {
		return deadline, ok
	}
	return c.deadline, !c.deadline.IsZero()
}

// Done implements context.Context.
func (c *CallContext) Done() <-chan struct{} { return c.standard().Done() }

// Err implements context.Context.
func (c *CallContext) Err() error {
	if c.unused() {
		return nil
	}
	return c.standard().Err()
}

// Value implements context.Context. It returns the parent's values, and the private values by which
// package context finds the cause of an end and links derived contexts.
func (c *CallContext) Value(key any) any {
	if c.unused() {
		return c.parentContext().Value(key)
	}
	return c.standard().Value(key)
}
