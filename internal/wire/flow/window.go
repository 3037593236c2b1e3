package flow

import (
	"context"
	"errors"
	"sync"
)

// Credit is a number of bytes that may be sent. The zero value is 0 bytes. Waiters are served in
// order. All methods are safe for concurrent use.
type Credit struct {
	mu      sync.Mutex
	left    int64
	waiters fifo[*creditWaiter] // empty while left is positive
	err     error               // set by Close
}

type creditWaiter struct {
	size int64
	done chan struct{} // closed when the waiter was served or refused
	err  error         // why it was refused; set before done is closed
}

// NewCredit returns a credit of n bytes.
func NewCredit(n int) *Credit { return &Credit{left: int64(n)} }

// Acquire waits until the credit is positive and then takes size bytes, which may make it negative.
// It fails with the error of Close, or with the cause of ctx if ctx ends while it waits; then it
// takes nothing. It ignores ctx if it does not have to wait.
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

// TryAcquire takes size bytes if Acquire would not wait, and reports whether it did.
func (c *Credit) TryAcquire(size int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil || c.left <= 0 {
		return false
	}
	c.left -= int64(size)
	return true
}

// giveUp removes w from the queue, unless w was served at the same moment.
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

// Grant adds n bytes and serves waiters.
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

// Close makes all current and later Acquires fail with err, which must not be nil. Only the first
// Close has an effect.
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

// Errors of Inbox.Put.
var (
	// ErrOverrun says that the peer sent without credit.
	ErrOverrun = errors.New("more was sent than the credit allows")
	// ErrFinished says that the inbox accepts no more items.
	ErrFinished = errors.New("nothing may come after the end")
)

// Inbox is the receiving end of one call: it stores received items until the reader of the call
// takes them, and grants the sender credit for items that were taken. Next must not be called
// concurrently; all other methods are safe for concurrent use. Use NewInbox or Init first. An Inbox
// must not be copied.
type Inbox[T any] struct {
	window int
	grant  func(bytes int)
	ready  chan struct{} // contains a token when a waiting Next can continue; nil: Next has not waited yet

	mu      sync.Mutex
	queue   fifo[sized[T]]
	first   [1]sized[T] // memory for the queue; calls of which only the outcome is wanted never have more items
	credit  int         // how many bytes the peer may still send
	taken   int         // bytes that were taken but not yet granted again
	waiting bool
	err     error // returned after the last item; set once
}

type sized[T any] struct {
	item T
	size int
}

// NewInbox returns an inbox whose sender starts with a credit of window bytes. Next calls grant,
// without a lock, to give the sender more credit; grant must not block.
func NewInbox[T any](window int, grant func(bytes int)) *Inbox[T] {
	b := &Inbox[T]{}
	b.Init(window, grant)
	return b
}

// Init initializes an inbox that is a field of another type.
func (b *Inbox[T]) Init(window int, grant func(bytes int)) {
	b.window, b.credit, b.grant = window, window, grant
	b.queue.items = b.first[:0]
}

// Put adds an item that cost its sender size bytes. It does not block. It fails with ErrOverrun if
// the sender had no credit, and with ErrFinished after Finish or Abort; then the item is dropped.
func (b *Inbox[T]) Put(item T, size int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.err != nil:
		return ErrFinished
	case b.credit <= 0:
		return ErrOverrun
	}
	b.credit -= size
	b.queue.push(sized[T]{item, size})
	b.notifyLocked()
	return nil
}

// Finish ends the inbox: after the queued items, Next fails with err, which must not be nil. last
// are final items, which need no credit. Finish reports whether it was the first Finish or Abort;
// later ones have no effect.
func (b *Inbox[T]) Finish(err error, last ...T) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return false
	}
	b.err = err
	for _, item := range last {
		b.queue.push(sized[T]{item: item})
	}
	b.notifyLocked()
	return true
}

// Abort is Finish, but also drops the queued items. After a Finish it only drops the items.
func (b *Inbox[T]) Abort(err error) bool {
	first := b.Finish(err)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue.reset()
	return first
}

// Next returns the next item and blocks until there is one. After the last item it fails with the
// error of Finish or Abort. If ctx ends while there is no item, it fails with the cause of ctx.
func (b *Inbox[T]) Next(ctx context.Context) (T, error) {
	for {
		item, ok, grant, err := b.take()
		if grant > 0 {
			b.grant(grant)
		}
		if ok || err != nil {
			return item, err
		}
		select {
		case <-b.ready:
		case <-ctx.Done():
			var zero T
			return zero, context.Cause(ctx)
		}
	}
}

func (b *Inbox[T]) take() (item T, ok bool, grant int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.queue.len() == 0 {
		if b.waiting = b.err == nil; b.waiting && b.ready == nil {
			b.ready = make(chan struct{}, 1)
		}
		return item, false, 0, b.err
	}
	next := b.queue.pop()
	b.taken += next.size
	// Grants are half a window each: fewer frames than one per item, and early enough that the
	// sender does not run out of credit. A sender that has finished needs none.
	if b.taken > 0 && b.taken >= b.window/2 && b.err == nil {
		grant, b.taken = b.taken, 0
		b.credit += grant
	}
	return next.item, true, grant, nil
}

// notifyLocked wakes a waiting Next.
func (b *Inbox[T]) notifyLocked() {
	if b.waiting {
		b.waiting = false
		select {
		case b.ready <- struct{}{}:
		default:
		}
	}
}

// fifo is a queue in one slice. The slice is reused, so a queue that becomes empty from time to
// time does not allocate. The zero value is empty.
type fifo[T any] struct {
	items []T
	head  int // the items before it were removed
}

func (q *fifo[T]) len() int { return len(q.items) - q.head }

func (q *fifo[T]) push(item T) {
	// If the queue never becomes empty, the space of removed items is reused instead of growing.
	if len(q.items) == cap(q.items) && q.head > len(q.items)/2 {
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
	q.items = append(q.items, item)
}

// pop must not be called on an empty queue.
func (q *fifo[T]) pop() T {
	var zero T
	item := q.items[q.head]
	q.items[q.head] = zero
	q.head++
	if q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	}
	return item
}

// remove removes the first item that matches.
func (q *fifo[T]) remove(match func(T) bool) {
	for i := q.head; i < len(q.items); i++ {
		if match(q.items[i]) {
			copy(q.items[i:], q.items[i+1:])
			clear(q.items[len(q.items)-1:])
			q.items = q.items[:len(q.items)-1]
			return
		}
	}
}

// reset drops all items and their memory.
func (q *fifo[T]) reset() { *q = fifo[T]{} }
