// Package budget bounds the memory that callers can make toolhost hold at the same time: messages
// that are being received, arguments, calls in progress, and results that their callers have not
// read.
//
// A Budget is divided. One quarter belongs to the connections: each connection takes a fixed share
// when it opens, and keeps that share for its own small calls, whatever the other connections do.
// All connections share the rest. One principal can take only a part of the rest, by default two
// thirds, over whichever connections its calls come. So one caller cannot take the memory of the
// others, and a connection with small calls never waits for a connection with large ones.
//
// A reservation that waits for more memory keeps what it has, but not for ever: if no memory is
// released for a while, waits end with an error, the newest first. So calls that wait for each
// other cannot block each other for ever.
//
// The package counts bytes. It allocates no memory for callers and does not know what the bytes
// are.
package budget

import (
	"fmt"
	"sync"
	"time"
)

const (
	// ConnectionBytes is the share of each connection. It covers the buffers of the transport, of
	// at most 64 KiB, and leaves room for about twenty small calls.
	ConnectionBytes = 256 << 10
	// transportBytes is the part of ConnectionBytes that the buffers of the transport take.
	transportBytes = 64 << 10
	// patience is how long a reservation waits while nothing is released.
	patience = 5 * time.Second
	// stuckPatience is how long a reservation waits if the waiting calls hold nearly all of the
	// budget themselves. Then nothing is released before one of them gives up.
	stuckPatience = 100 * time.Millisecond
)

// Budget is a number of bytes that callers can reserve. Use New to make one. All methods are safe
// for concurrent use.
type Budget struct {
	connections int64 // bounds the shares of all connections
	shared      int64 // bounds the bytes beyond these shares
	each        int64 // bounds the shared bytes of one principal

	mu         sync.Mutex
	opened     int64 // the shares of open connections
	used       int64 // reserved bytes beyond these shares
	principals map[string]*principal
	waiters    []*waiter // the oldest first
	progress   time.Time // when bytes were last released
}

// principal is what one principal has reserved. The mutex of the budget guards it.
type principal struct {
	name     string
	accounts int
	opened   int64
	used     int64
}

// New returns a budget of total bytes, which must be positive. each bounds the bytes that one
// principal can take beyond the shares of its connections; 0: two thirds of what does not belong to
// connections.
func New(total, each int64) *Budget {
	b := &Budget{connections: total / 4, shared: total - total/4, principals: map[string]*principal{}}
	if b.each = each; each == 0 {
		b.each = b.shared * 2 / 3
	}
	return b
}

// Connections returns for how many connections a budget of total bytes has room.
func Connections(total int64) int { return int(total / 4 / ConnectionBytes) }

// Open returns the account of a new connection of a principal. It fails with an *ExhaustedError if
// there are too many connections. The caller must close the account.
func (b *Budget) Open(name string) (*Account, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.principals[name]
	if p == nil {
		p = &principal{name: name}
	}
	if b.opened+ConnectionBytes > b.connections || p.opened+ConnectionBytes > b.connections*2/3 {
		return nil, &ExhaustedError{Principal: name, What: "connections", Used: p.opened / ConnectionBytes,
			Limit: b.connections * 2 / 3 / ConnectionBytes}
	}
	b.principals[name] = p
	b.opened += ConnectionBytes
	p.opened += ConnectionBytes
	p.accounts++
	return &Account{budget: b, principal: p, own: ConnectionBytes - transportBytes, open: true}, nil
}

// Inner returns an account for what no connection brings. It has no share of its own. Each Hold on
// it must say for whom it counts (see Hold.For).
func (b *Budget) Inner() *Account {
	if b == nil {
		return nil
	}
	return &Account{budget: b, principal: &principal{}, own: -1}
}

// ExhaustedError is the error of a budget that has no room.
type ExhaustedError struct {
	Principal string
	What      string // "bytes" or "connections"
	Used      int64  // by the principal
	Limit     int64  // of the principal
	Total     int64  // used by all principals; for "bytes" only
}

func (e *ExhaustedError) Error() string {
	if e.What == "connections" {
		return fmt.Sprintf("%s has %d connections open, and the memory for connections allows no more (at most %d for one principal)",
			e.Principal, e.Used, e.Limit)
	}
	return fmt.Sprintf("the memory for messages and calls in flight is used up: %s has %d MiB of at most %d MiB in flight, all callers together have %d MiB",
		e.Principal, e.Used>>20, e.Limit>>20, e.Total>>20)
}

// Used returns how many bytes are reserved beyond the shares of the connections.
func (b *Budget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// roomLocked reports whether a hold may take n more bytes of the shared part for a principal. The
// parameter held is the number of bytes that the hold has already. While all other holds together
// have at most an eighth of the shared part, a hold may take what it needs, because another bound
// limits one call, and at most most bytes if that is not 0. Two holds cannot both exceed the budget
// this way, because each counts as another hold for the other.
func (b *Budget) roomLocked(p *principal, n, held, most int64) bool {
	return b.used-held <= b.shared/8 && (most == 0 || held+n <= most) || b.used+n <= b.shared && p.used+n <= b.each
}

// patienceLocked returns how long a reservation waits while nothing is released.
func (b *Budget) patienceLocked() time.Duration {
	var waiting int64
	for _, w := range b.waiters {
		waiting += w.hold.more
	}
	if waiting >= b.used/4*3 {
		return stuckPatience
	}
	return patience
}

func (b *Budget) exhaustedLocked(p *principal) error {
	return &ExhaustedError{Principal: p.name, What: "bytes", Used: p.used, Limit: b.each, Total: b.used}
}

// releaseLocked releases bytes of the shared part, and serves waiting reservations.
func (b *Budget) releaseLocked(p *principal, n int64) {
	if n == 0 {
		return
	}
	b.used -= n
	p.used -= n
	b.progress = time.Now()
	b.serveLocked()
}

// serveLocked serves the waiting reservations for which there is room.
func (b *Budget) serveLocked() {
	waiting := b.waiters[:0]
	for _, w := range b.waiters {
		if !w.tryLocked() {
			waiting = append(waiting, w)
		}
	}
	clear(b.waiters[len(waiting):])
	b.waiters = waiting
}

// principalLocked returns the principal with a name; empty: the one of an account. If the budget
// does not know it, the caller must add it before it counts anything for it.
func (b *Budget) principalLocked(a *Account, name string) *principal {
	if name == "" || name == a.principal.name {
		return a.principal
	}
	if p := b.principals[name]; p != nil {
		return p
	}
	return &principal{name: name}
}

// mayMoveLocked reports whether n reserved bytes may count for another principal.
func (b *Budget) mayMoveLocked(to *principal, n int64) bool {
	return to.used+n <= b.each || b.used-n <= b.shared/8
}

// leaveLocked forgets a principal that has no connection and no reservation.
func (b *Budget) leaveLocked(p *principal) {
	if p.accounts == 0 && p.used == 0 {
		delete(b.principals, p.name)
	}
}
