package budget

import (
	"context"
	"slices"
	"sync/atomic"
	"time"
)

// Account is the part of a budget that one connection uses. It exists as long as the connection or
// any reservation of it. All methods are safe for concurrent use. A nil Account has room for
// everything.
type Account struct {
	budget    *Budget
	principal *principal
	own       int64        // the share of the connection; negative: it was released
	slow      atomic.Int64 // until when the connection must not be read, in nanoseconds since 1970
	bulk      atomic.Int64 // bytes of large text since Due last returned true

	// The mutex of the budget guards these.
	open bool
	kept int64 // the reserved part of own
	more int64 // reserved bytes of the shared part
}

// Close ends the connection. Reservations last until they are released.
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

// settleLocked releases the share of a closed connection when nothing of it is reserved.
func (a *Account) settleLocked() {
	if a.open || a.kept > 0 || a.own < 0 {
		return
	}
	a.own = -1 // the share is released
	a.budget.opened -= ConnectionBytes
	a.principal.opened -= ConnectionBytes
	a.budget.leaveLocked(a.principal)
}

// slowness is how long toolhost does not read a connection that has sent something for which there
// was no room. Without a pause, a caller whose messages are refused could keep toolhost as busy as
// a caller that is served.
const slowness = 50 * time.Millisecond

// Slow records that the connection has sent something for which there was no room. Pause then
// returns a short time.
func (a *Account) Slow() {
	if a != nil {
		a.slow.Store(time.Now().Add(slowness).UnixNano())
	}
}

// Pause returns how long the connection must not be read; 0: it may be read.
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

// turnBytes is how much large text a connection may send before other connections get their turn.
const turnBytes = 64 << 10

// Carry records that the connection has sent n bytes of large text, for which other connections may
// have to wait.
func (a *Account) Carry(n int) {
	if a != nil {
		a.bulk.Add(int64(n))
	}
}

// Due reports whether the connection has sent so much large text that other connections get their
// turn before it is read further. If so, Due starts to count again.
func (a *Account) Due() bool {
	if a == nil || a.bulk.Load() < turnBytes {
		return false
	}
	a.bulk.Store(0)
	return true
}

// Hold is what one call has reserved on an account. The zero value has reserved nothing and needs
// no account. All methods are safe for concurrent use, except On and For. A Hold must not be
// copied.
//
// The calls of one connection can belong to many principals: a delegate makes calls for others, and
// callers with tokens may come from one address. So the bytes beyond the share of the connection
// count for the principal of the hold, and not for the one that opened the connection.
type Hold struct {
	account *Account
	name    string // of the principal; empty: that of the account

	// The mutex of the budget guards these.
	kept, more int64
	payer      *principal // for which more counts; nil: more is 0
	delegated  bool       // see Move
	most       int64      // see Bound; 0: no bound
}

// On sets the account of the hold. It must be called before anything is reserved.
func (h *Hold) On(a *Account) { h.account = a }

// For sets the principal for which the hold counts; empty: the one of the account. delegated says
// that the caller of the connection acts for that principal; see Move. It must be called before
// anything is reserved.
func (h *Hold) For(principal string, delegated bool) { h.name, h.delegated = principal, delegated }

// Bound says how much the hold may take beyond its principal's part while others have little. A
// hold for one call needs no bound, because the size of one call has one. A hold for many things,
// such as all messages of a connection, needs it. Bound must be called before anything is reserved.
func (h *Hold) Bound(n int64) { h.most = n }

// Move makes the hold count for the principal for which a delegate has made the call. It fails with
// an *ExhaustedError if that principal has no room. Whether it does or not, a lack of room for this
// hold does not slow the connection from then on, because calls of other principals come over it.
func (h *Hold) Move(principal string) error {
	a := h.account
	if a == nil || principal == h.name {
		return nil
	}
	b := a.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	h.delegated = true
	from, to := h.payer, b.principalLocked(a, principal)
	if h.more > 0 && !b.mayMoveLocked(to, h.more) {
		return b.exhaustedLocked(to)
	}
	h.name = principal
	if h.more > 0 {
		from.used -= h.more
		to.used += h.more
		h.payer, b.principals[to.name] = to, to
		b.leaveLocked(from)
	}
	return nil
}

type lenderKey struct{}

// Lend returns a context with which Reserve moves what it needs from another hold of the same
// budget, as far as there is any. That needs no room.
func Lend(ctx context.Context, from *Hold) context.Context {
	return context.WithValue(ctx, lenderKey{}, from)
}

// moveLocked moves at most n bytes from another hold to h, and returns how many.
func (h *Hold) moveLocked(from *Hold, n int64) int64 {
	moved := min(n, from.more)
	if from.account == nil || from.account.budget != h.account.budget || moved <= 0 {
		return 0
	}
	b, giver, payer := h.account.budget, from.payer, h.payerLocked()
	from.more -= moved
	from.account.more -= moved
	giver.used -= moved
	h.more += moved
	h.account.more += moved
	payer.used += moved
	h.payer, b.principals[payer.name] = payer, payer
	if from.more == 0 {
		from.payer = nil
	}
	b.leaveLocked(giver)
	b.serveLocked()
	return moved
}

// Account returns the account of the hold, or nil.
func (h *Hold) Account() *Account { return h.account }

// TryReserve reserves n more bytes. If there is no room, it fails at once with an *ExhaustedError.
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
	if !h.delegated {
		a.Slow()
	}
	return b.exhaustedLocked(h.payerLocked())
}

// payerLocked returns the principal for which the hold counts. The budget may not know it yet.
func (h *Hold) payerLocked() *principal {
	if h.payer != nil {
		return h.payer
	}
	return h.account.budget.principalLocked(h.account, h.name)
}

// takeLocked reserves n bytes if there is room.
func (h *Hold) takeLocked(n int64) bool {
	a := h.account
	b := a.budget
	switch {
	case a.own >= 0 && a.kept+n <= a.own:
		a.kept += n
		h.kept += n
	default:
		p := h.payerLocked()
		if !b.roomLocked(p, n, h.more, h.most) {
			return false
		}
		a.more += n
		b.used += n
		p.used += n
		h.more += n
		h.payer, b.principals[p.name] = p, p
	}
	return true
}

// waiter is a reservation that waits.
type waiter struct {
	hold   *Hold
	bytes  int64
	served chan struct{} // closed when the bytes are reserved
}

func (w *waiter) tryLocked() bool {
	if !w.hold.takeLocked(w.bytes) {
		return false
	}
	close(w.served)
	return true
}

// Reserve reserves n more bytes and waits while there is no room. It fails with the cause of ctx if
// ctx ends first. It fails with an *ExhaustedError if nothing was released for a while and no
// reservation has begun to wait later.
func (h *Hold) Reserve(ctx context.Context, n int) error {
	a := h.account
	if a == nil {
		return nil
	}
	b := a.budget
	b.mu.Lock()
	if from, ok := ctx.Value(lenderKey{}).(*Hold); ok {
		n -= int(h.moveLocked(from, int64(n)))
	}
	if n == 0 || h.takeLocked(int64(n)) {
		b.mu.Unlock()
		return nil
	}
	w := &waiter{hold: h, bytes: int64(n), served: make(chan struct{})}
	b.waiters = append(b.waiters, w)
	b.mu.Unlock()
	return b.wait(ctx, w)
}

// wait returns when w is served or has waited long enough.
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

// impatient returns how long w has to wait on, or why it must give up. Zero without an error means
// that w was served.
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
		// in that time, the waiting calls may reserve nearly everything
		return min(rest, stuckPatience), nil
	}
	if i < len(b.waiters)-1 {
		return stuckPatience, nil // a newer reservation gives up first, and may release enough
	}
	b.waiters = slices.Delete(b.waiters, i, i+1)
	b.progress = time.Now() // the call that gives up is about to release what it has
	return 0, b.exhaustedLocked(w.hold.payerLocked())
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

// Release releases everything that the hold has reserved.
func (h *Hold) Release() { h.Shrink(0) }

// Shrink releases what the hold has reserved beyond n bytes.
func (h *Hold) Shrink(n int64) {
	if h.account == nil {
		return
	}
	b := h.account.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	h.giveLocked(h.kept + h.more - n)
}

// Give releases n bytes, or everything if the hold has reserved less.
func (h *Hold) Give(n int) {
	if h.account == nil || n <= 0 {
		return
	}
	b := h.account.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	h.giveLocked(min(int64(n), h.kept+h.more))
}

// giveLocked releases surplus bytes, if that is positive, of the shared part first.
func (h *Hold) giveLocked(surplus int64) {
	if surplus <= 0 {
		return
	}
	a := h.account
	b := a.budget
	more := min(surplus, h.more)
	kept := surplus - more
	payer := h.payerLocked()
	h.more -= more
	h.kept -= kept
	a.more -= more
	a.kept -= kept
	if h.more == 0 {
		h.payer = nil
	}
	b.releaseLocked(payer, more)
	a.settleLocked()
	b.leaveLocked(payer)
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
