package flow

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Lifetime is the context of a call, which ends when somebody says so. Every call has one and hardly any is cut short, so that
// it is a part of its call, belongs to no other context, and makes a channel only for who waits. The zero value has not ended.
// It must not be copied, and is safe for concurrent use.
//
// Err says why it ended, in the words of the cause, and context.Cause the same: errors.Is finds the cause in it, and
// context.Canceled.
type Lifetime struct {
	over  atomic.Bool // err is set: it is asked much more often than it is so
	mu    sync.Mutex
	done  chan struct{} // nil: nobody has asked
	first func()        // see OnEnd
	then  []*func()     // see AfterFunc
	err   error         // not nil: it has ended

	values context.Context // see Inherit; nil: there are none
}

var _ context.Context = (*Lifetime)(nil)

// End ends it, for a cause that may be nil. Only the first end counts.
func (l *Lifetime) End(cause error) {
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
	first, then := l.first, l.then
	l.first, l.then = nil, nil
	l.mu.Unlock()
	if first != nil {
		first()
	}
	for _, f := range then {
		go (*f)() // owned by who called AfterFunc
	}
}

// OnEnd has f called, once it ends, by who ends it; at once if it has. f must not block. There is one f at a time, and nil is
// none.
func (l *Lifetime) OnEnd(f func()) {
	l.mu.Lock()
	if l.err == nil {
		l.first = f
		f = nil
	}
	l.mu.Unlock()
	if f != nil {
		f()
	}
}

// AfterFunc has f called in a goroutine of its own, once it ends; stop keeps that from happening, and reports whether it did. It
// is for context.AfterFunc and for contexts that are derived, which would have a goroutine each without it.
func (l *Lifetime) AfterFunc(f func()) (stop func() bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		go f() // owned by who called
		return func() bool { return false }
	}
	l.then = append(l.then, &f)
	return func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		i := slices.Index(l.then, &f)
		if i < 0 {
			return false
		}
		l.then = slices.Delete(l.then, i, i+1)
		return true
	}
}

// Deadline implements context.Context: it is not told.
func (l *Lifetime) Deadline() (deadline time.Time, ok bool) { return time.Time{}, false }

// Done implements context.Context.
func (l *Lifetime) Done() <-chan struct{} {
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
func (l *Lifetime) Err() error {
	if !l.over.Load() {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Inherit gives it the values of another context, and nothing else of it. It must come before anything else.
func (l *Lifetime) Inherit(values context.Context) { l.values = values }

// Value implements context.Context.
func (l *Lifetime) Value(key any) any {
	if l.values == nil {
		return nil
	}
	return l.values.Value(key)
}

// ending is why a Lifetime ended before its call was over.
type ending struct{ cause error }

func (e ending) Error() string { return e.cause.Error() }

func (e ending) Unwrap() error { return e.cause }

func (e ending) Is(target error) bool { return target == context.Canceled }
