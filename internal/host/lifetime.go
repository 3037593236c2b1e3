package host

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// lifetime is the context of a call: it ends at the call's deadline, when somebody cancels it, and when the host closes. Every
// call has one and hardly any is cut short, so that it is a part of its run and makes a channel only for who waits. The zero
// value has not ended. It is safe for concurrent use.
//
// Err says why it ended, in the words of the cause, and context.Cause the same: errors.Is finds the cause in it, and
// context.Canceled.
type lifetime struct {
	over  atomic.Bool // err is set: it is asked much more often than it is so
	mu    sync.Mutex
	done  chan struct{} // nil: nobody has asked
	after func()        // see onEnd
	err   error         // not nil: it has ended
}

var _ context.Context = (*lifetime)(nil)

// end ends it, for a cause that may be nil. Only the first end counts.
func (l *lifetime) end(cause error) {
	l.mu.Lock()
	if l.err != nil {
		l.mu.Unlock()
		return
	}
	l.err = context.Canceled
	if cause != nil {
		l.err = ending{cause}
	}
	l.over.Store(true)
	if l.done != nil {
		close(l.done)
		l.done = nil // who keeps an outcome need not keep it, too
	}
	after := l.after
	l.after = nil
	l.mu.Unlock()
	if after != nil {
		after()
	}
}

// onEnd has f called, once it ends, by who ends it; at once if it has. f must not block. There is one f at a time.
func (l *lifetime) onEnd(f func()) {
	l.mu.Lock()
	if l.err == nil {
		l.after = f
		f = nil
	}
	l.mu.Unlock()
	if f != nil {
		f()
	}
}

// Deadline implements context.Context: it is not told, because progress may put it off.
func (l *lifetime) Deadline() (deadline time.Time, ok bool) { return time.Time{}, false }

// Done implements context.Context.
func (l *lifetime) Done() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done != nil {
		return l.done
	}
	done := make(chan struct{})
	if l.err != nil {
		close(done)
		return done
	}
	l.done = done
	return done
}

// Err implements context.Context.
func (l *lifetime) Err() error {
	if !l.over.Load() {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Value implements context.Context: there are none.
func (l *lifetime) Value(any) any { return nil }

// ending is why a lifetime ended before its call was over.
type ending struct{ cause error }

func (e ending) Error() string { return e.cause.Error() }

func (e ending) Unwrap() error { return e.cause }

func (e ending) Is(target error) bool { return target == context.Canceled }
