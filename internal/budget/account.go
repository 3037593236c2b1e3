package budget

import (
	"context"
	"slices"
	"sync/atomic"
	"time"
)

// Account is what one connection has of a budget. It lives as long as the connection or anything that was reserved on it.
// All methods are safe for concurrent use, also on a nil Account, which has room for everything.
type Account struct {
	budget    *Budget
	principal *principal
	own       int64        // the connection's own share
	slow      atomic.Int64 // until when the connection is to be read no further, in nanoseconds since 1970
	bulk      atomic.Int64 // bytes of large text since the connection took turns last

	// The budget's lock guards these.
	open bool
	kept int64 // reserved of own
	more int64 // reserved of the shared part
}

// Close ends the connection. What is reserved stays so until it is released.
func (a *Account) Close() {
	if a == nil {
		return
	}
	b := a.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if !a.open {
		return
	}
	a.open = false
	a.principal.accounts--
	a.settleLocked()
}

// settleLocked gives the share of a closed connection back once nothing of it is reserved.
func (a *Account) settleLocked() {
	if a.open || a.kept > 0 || a.own < 0 {
		return
	}
	a.own = -1 // given back
	a.budget.opened -= ConnectionBytes
	a.principal.opened -= ConnectionBytes
	a.budget.leaveLocked(a.principal)
}

// slowness is how long a connection is read no further after it has sent what there is no room for. Without a pause a caller
// that is refused could keep toolhost as busy as one that is served.
const slowness = 50 * time.Millisecond

// Slow says that the connection has sent something in vain, so that it is read no further for a moment.
func (a *Account) Slow() {
	if a != nil {
		a.slow.Store(time.Now().Add(slowness).UnixNano())
	}
}

// Pause returns how long the connection is to be read no further; 0: it may be read.
func (a *Account) Pause() time.Duration {
	until := a.slow.Load()
	if until == 0 {
		return 0
	}
	left := until - time.Now().UnixNano()
	if left <= 0 {
		a.slow.CompareAndSwap(until, 0)
	}
	return max(time.Duration(left), 0)
}

// turnBytes is how much large text a connection sends before others get their turn.
const turnBytes = 64 << 10

// Carry says that the connection has sent n bytes of large text, for which others may wait.
func (a *Account) Carry(n int) {
	if a != nil {
		a.bulk.Add(int64(n))
	}
}

// Due reports whether the connection has sent so much large text that others get their turn before it is read further. It
// counts from the beginning then.
func (a *Account) Due() bool {
	if a == nil || a.bulk.Load() < turnBytes {
		return false
	}
	a.bulk.Store(0)
	return true
}

// Hold is what one call has of an account. The zero Hold has nothing and needs no account. A Hold may be
// used by several goroutines and must not be copied.
type Hold struct {
	account    *Account
	kept, more int64
}

// On sets the account that the hold reserves on. It must come before anything is reserved.
func (h *Hold) On(a *Account) { h.account = a }

// Account returns the account that the hold reserves on, or nil.
func (h *Hold) Account() *Account { return h.account }

// TryReserve takes n more bytes, or fails at once with an *ExhaustedError if there is no room.
func (h *Hold) TryReserve(n int) error {
	a := h.account
	if a == nil {
		return nil
	}
	b := a.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if h.takeLocked(int64(n)) {
		return nil
	}
	a.Slow()
	return b.exhaustedLocked(a.principal)
}

// takeLocked takes n bytes if there is room.
func (h *Hold) takeLocked(n int64) bool {
	a := h.account
	b, p := a.budget, a.principal
	switch {
	case a.own >= 0 && a.kept+n <= a.own:
		a.kept += n
		h.kept += n
	case b.roomLocked(p, n, h.more):
		a.more += n
		b.used += n
		p.used += n
		h.more += n
	default:
		return false
	}
	return true
}

// waiter is a reservation that waits.
type waiter struct {
	hold   *Hold
	bytes  int64
	served chan struct{} // closed once it has what it wants
}

func (w *waiter) tryLocked() bool {
	if !w.hold.takeLocked(w.bytes) {
		return false
	}
	close(w.served)
	return true
}

// Reserve takes n more bytes and waits while there is no room. It fails with ctx's cause if that ends first, and with an
// *ExhaustedError if nothing was released for a while and no reservation has begun to wait later.
func (h *Hold) Reserve(ctx context.Context, n int) error {
	a := h.account
	if a == nil {
		return nil
	}
	b := a.budget
	b.mu.Lock()
	if h.takeLocked(int64(n)) {
		b.mu.Unlock()
		return nil
	}
	w := &waiter{hold: h, bytes: int64(n), served: make(chan struct{})}
	b.waiters = append(b.waiters, w)
	b.mu.Unlock()
	return b.wait(ctx, w)
}

// wait returns once w is served or has waited in vain.
func (b *Budget) wait(ctx context.Context, w *waiter) error {
	began := time.Now()
	timer := time.NewTimer(stuckPatience)
	defer timer.Stop()
	for {
		select {
		case <-w.served:
			return nil
		case <-ctx.Done():
			return b.giveUp(w, context.Cause(ctx))
		case <-timer.C:
		}
		next, err := b.impatient(w, began)
		if err != nil || next == 0 {
			return err
		}
		timer.Reset(next)
	}
}

// impatient returns how long w is to wait on, or why it must not. Zero and no error means that it was served.
func (b *Budget) impatient(w *waiter, began time.Time) (time.Duration, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(b.waiters, w)
	if i < 0 {
		return 0, nil
	}
	if b.progress.After(began) {
		began = b.progress
	}
	if rest := b.patienceLocked() - time.Since(began); rest > 0 {
		return min(rest, stuckPatience), nil // those who wait may get stuck meanwhile
	}
	if i < len(b.waiters)-1 {
		return stuckPatience, nil // a newer one gives up first, and what it has may be enough
	}
	b.waiters = slices.Delete(b.waiters, i, i+1)
	b.progress = time.Now() // what the one that gives up has is about to be released
	return 0, b.exhaustedLocked(w.hold.account.principal)
}

// giveUp ends a wait for another reason, unless w was served at the same moment.
func (b *Budget) giveUp(w *waiter, cause error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(b.waiters, w)
	if i < 0 {
		return nil
	}
	b.waiters = slices.Delete(b.waiters, i, i+1)
	return cause
}

// Release gives all that the hold has back.
func (h *Hold) Release() { h.Shrink(0) }

// Shrink gives back what the hold has beyond n bytes.
func (h *Hold) Shrink(n int64) {
	if h.account == nil {
		return
	}
	b := h.account.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	h.giveLocked(h.kept + h.more - n)
}

// Give gives n bytes back, or all that the hold has if that is less.
func (h *Hold) Give(n int) {
	if h.account == nil || n <= 0 {
		return
	}
	b := h.account.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	h.giveLocked(min(int64(n), h.kept+h.more))
}

// giveLocked gives so many bytes back, if it is a positive number, first those of the shared part.
func (h *Hold) giveLocked(surplus int64) {
	if surplus <= 0 {
		return
	}
	a := h.account
	b := a.budget
	more := min(surplus, h.more)
	kept := surplus - more
	h.more -= more
	h.kept -= kept
	a.more -= more
	a.kept -= kept
	b.releaseLocked(a.principal, more)
	a.settleLocked()
	b.leaveLocked(a.principal)
}

type contextKey struct{}

// NewContext returns a context that carries an account.
func NewContext(ctx context.Context, a *Account) context.Context {
	return context.WithValue(ctx, contextKey{}, a)
}

// FromContext returns the account that a context carries, or nil.
func FromContext(ctx context.Context) *Account {
	a, _ := ctx.Value(contextKey{}).(*Account)
	return a
}
