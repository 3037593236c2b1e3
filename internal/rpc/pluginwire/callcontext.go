package pluginwire

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// callContext is the context of a call: it ends at the call's deadline, when the host cancels it, when the call is over, and with
// its stream. Every call has one and hardly any tool that answers at once looks at it, so that it is a part of its call, and makes
// a context of the standard library, with its timer and channels, only for who waits or finds it ended. All that is derived from
// it is derived from that one. It is safe for concurrent use.
type callContext struct {
	stream   context.Context // of all calls
	deadline time.Time       // zero: none
	over     atomic.Bool     // cause is set
	made     atomic.Pointer[standardContext]

	mu    sync.Mutex
	cause error // why it was ended
}

type standardContext struct {
	context.Context
	cancel context.CancelCauseFunc
	expire context.CancelFunc // releases the deadline; nil without one
}

var _ context.Context = (*callContext)(nil)

// init gives it its stream and the time that it has; 0: no limit.
func (c *callContext) init(stream context.Context, timeout time.Duration) {
	c.stream = stream
	if timeout > 0 {
		c.deadline = time.Now().Add(timeout)
	}
}

// errCallOver ends what belongs to a call that is over. Every call gets there, and hardly anybody looks: the words for it are made
// for who does, by said.
var errCallOver = errors.New("the call has ended")

func said(cause error) error {
	if cause == errCallOver { //nolint:errorlint // it is never wrapped
		return &tool.Error{Kind: tool.KindCancelled, Message: cause.Error(), Err: context.Canceled}
	}
	return cause
}

// end ends it. Only the first end counts.
func (c *callContext) end(cause error) {
	c.mu.Lock()
	if c.cause == nil {
		c.cause = cause
		c.over.Store(true)
	}
	made := c.made.Load()
	c.mu.Unlock()
	if made != nil {
		made.end(said(cause))
	}
}

func (s *standardContext) end(cause error) {
	s.cancel(cause)
	if s.expire != nil {
		s.expire()
	}
}

// standard returns what it is for others.
func (c *callContext) standard() context.Context {
	if made := c.made.Load(); made != nil {
		return made
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if made := c.made.Load(); made != nil {
		return made
	}
	made := &standardContext{}
	made.Context, made.cancel = context.WithCancelCause(c.stream)
	if c.cause != nil {
		made.cancel(said(c.cause))
	}
	if !c.deadline.IsZero() {
		made.Context, made.expire = context.WithDeadlineCause(made.Context, c.deadline, &tool.Error{
			Kind: tool.KindTimeout, Message: "the call's time is up", Err: context.DeadlineExceeded,
		})
	}
	c.made.Store(made)
	return made
}

// quiet reports that it has not ended and nobody waits for that.
func (c *callContext) quiet() bool {
	return c.made.Load() == nil && !c.over.Load() && c.stream.Err() == nil && (c.deadline.IsZero() || time.Now().Before(c.deadline))
}

// Deadline implements context.Context.
func (c *callContext) Deadline() (deadline time.Time, ok bool) {
	if deadline, ok = c.stream.Deadline(); ok && (c.deadline.IsZero() || deadline.Before(c.deadline)) {
		return deadline, ok
	}
	return c.deadline, !c.deadline.IsZero()
}

// Done implements context.Context.
func (c *callContext) Done() <-chan struct{} { return c.standard().Done() }

// Err implements context.Context.
func (c *callContext) Err() error {
	if c.quiet() {
		return nil
	}
	return c.standard().Err()
}

// Value implements context.Context. The values are those of the stream, and what package context itself asks for, to know the
// cause of an end and to derive contexts.
func (c *callContext) Value(key any) any {
	if c.quiet() {
		return c.stream.Value(key)
	}
	return c.standard().Value(key)
}
