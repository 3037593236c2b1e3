// Package budget bounds the memory that callers can make toolhost hold at the same time: messages that are being
// received, arguments, calls under way and results that their callers have not read.
//
// A Budget is divided. One quarter belongs to the connections: each connection takes a fixed share when it opens, and
// keeps that share for its own small calls, whatever the other connections do. All connections share the rest. One
// principal can take only a part of the shared part, two thirds if nothing else is said. So one caller cannot take the memory of the others, and a
// connection with small calls never waits for a connection with large ones.
//
// Nobody holds a part of the budget for free while waiting for more of it: a wait ends with an error when nothing was
// released for a while, the newest waiter first. So calls that wait for each other cannot block each other for ever.
//
// The package counts bytes. It allocates nothing and does not know what the bytes are.
package budget

import (
	"fmt"
	"sync"
	"time"
)

const (
	// ConnectionBytes is what each connection takes and keeps. It covers the buffers of its transport, of at most 64 KiB,
	// and leaves room for some twenty small calls.
	ConnectionBytes = 256 << 10
	// transportBytes is the part of ConnectionBytes that the transport's buffers take.
	transportBytes = 64 << 10
	// patience is how long a reservation waits while nothing is released.
	patience = 5 * time.Second
	// stuckPatience is how long it waits where those who wait have nearly all of the budget themselves, so that nothing will
	// be released before one of them gives up.
	stuckPatience = 100 * time.Millisecond
)

// Budget is a number of bytes. All methods are safe for concurrent use.
type Budget struct {
	connections int64 // the most bytes of all connections' own shares
	shared      int64 // the most bytes beyond these shares
	each        int64 // the most bytes of these that one principal takes

	mu         sync.Mutex
	opened     int64 // bytes that connections took for their own shares
	used       int64 // bytes beyond these shares
	principals map[string]*principal
	waiters    []*waiter // the oldest first
	progress   time.Time // when something was released last
}

// principal is what one principal has of a budget. The budget's lock guards it.
type principal struct {
	name     string
	accounts int
	opened   int64
	used     int64
}

// New returns a budget of so many bytes, of which one principal can take each beyond the shares of its connections. total
// must be positive; each may be 0, which is two thirds of what does not belong to connections.
func New(total, each int64) *Budget {
	b := &Budget{connections: total / 4, shared: total - total/4, principals: map[string]*principal{}}
	if b.each = each; each == 0 {
		b.each = b.shared * 2 / 3
	}
	return b
}

// Open returns the account of a new connection of a principal. It fails if there are too many connections. Close must be
// called in the end.
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

// ExhaustedError says that a budget has no room.
type ExhaustedError struct {
	Principal string
	What      string // "bytes" or "connections"
	Used      int64  // by the principal
	Limit     int64  // of the principal
	Total     int64  // used by all principals; of bytes alone
}

func (e *ExhaustedError) Error() string {
	if e.What == "connections" {
		return fmt.Sprintf("%s has %d connections open, and toolhost's memory for calls in flight allows no more (at most %d for one principal)",
			e.Principal, e.Used, e.Limit)
	}
	return fmt.Sprintf("toolhost's memory for calls in flight is used up: %s has %d MiB of at most %d MiB in flight, all callers together have %d MiB",
		e.Principal, e.Used>>20, e.Limit>>20, e.Total>>20)
}

// Used returns how many bytes are reserved, without the connections' own shares.
func (b *Budget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// roomLocked reports whether n more bytes of the shared part may be taken for a principal, of which one holder has held
// before. A holder may take what it needs while all others together hold an eighth of the shared part at most: another limit
// bounds one call, and two holders cannot both exceed the budget, because each counts as another one for the other.
func (b *Budget) roomLocked(p *principal, n, held int64) bool {
	return b.used-held <= b.shared/8 || b.used+n <= b.shared && p.used+n <= b.each
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

// releaseLocked gives bytes of the shared part back, and serves those who wait.
func (b *Budget) releaseLocked(p *principal, n int64) {
	if n == 0 {
		return
	}
	b.used -= n
	p.used -= n
	b.progress = time.Now()
	waiting := b.waiters[:0]
	for _, w := range b.waiters {
		if !w.tryLocked() {
			waiting = append(waiting, w)
		}
	}
	clear(b.waiters[len(waiting):])
	b.waiters = waiting
}

// leaveLocked forgets a principal that has nothing any more.
func (b *Budget) leaveLocked(p *principal) {
	if p.accounts == 0 && p.used == 0 {
		delete(b.principals, p.name)
	}
}
