package flow

import (
	"context"
	"errors"
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

// Errors of Inbox.Put.
var (
	// ErrOverrun says that the other end sent without credit.
	ErrOverrun = errors.New("more was sent than the credit allows")
	// ErrFinished says that the inbox takes nothing more.
	ErrFinished = errors.New("nothing may come after the end")
)

// Inbox is the receiving side of one call: it keeps what came until the call's reader takes it, and gives the sender
// credit for what was taken. Put, Finish and Abort may be called from any goroutine; Next from one at a time. It must not be
// copied, and Init or NewInbox come first.
type Inbox[T any] struct {
	window int
	grant  func(bytes int)
	ready  chan struct{} // holds one token for a Next that waits; nil: none has yet

	mu      sync.Mutex
	queue   fifo[sized[T]]
	first   [1]sized[T] // memory for the queue: that of a call whose outcome alone is wanted never has more
	credit  int         // what the other end may still send
	taken   int         // what was taken and is not granted again yet
	waiting bool
	armed   func(error) // see Arm; nil: nobody is to be called
	err     error       // what comes after the queue; set once
}

type sized[T any] struct {
	item T
	size int
}

// NewInbox returns an inbox whose sender starts with a credit of window bytes. Next calls grant, without a lock, when
// the sender should be given more; grant must not block.
func NewInbox[T any](window int, grant func(bytes int)) *Inbox[T] {
	b := &Inbox[T]{}
	b.Init(window, grant)
	return b
}

// Init makes an inbox that is part of something else what NewInbox returns.
func (b *Inbox[T]) Init(window int, grant func(bytes int)) {
	b.window, b.credit, b.grant = window, window, grant
	b.queue.items = b.first[:0]
}

// Put adds an item that cost its sender size bytes. It never blocks. It fails with ErrOverrun if the sender had no
// credit, and with ErrFinished after Finish or Abort; then the item is not kept.
func (b *Inbox[T]) Put(item T, size int) error {
	b.mu.Lock()
	if b.err != nil || b.credit <= 0 {
		defer b.mu.Unlock()
		if b.err != nil {
			return ErrFinished
		}
		return ErrOverrun
	}
	b.credit -= size
	b.queue.push(sized[T]{item, size})
	b.notifyAndUnlock()
	return nil
}

// Arm has f called once, as soon as Next need not wait, by who makes it so and without a lock; it is for who does not wait
// in Next. after is what Next fails with once all that is there was taken, nil as long as more may follow. It returns false,
// and calls nobody, if Next need not wait now. f must not block.
func (b *Inbox[T]) Arm(f func(after error)) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.queue.len() > 0 || b.err != nil {
		return false
	}
	b.armed = f
	return true
}

// Finish says that nothing follows: once the reader has taken what is there, Next fails with err, which must not be
// nil. last are items that come before that and need no credit. It reports whether it was the first Finish or Abort;
// any other does nothing.
func (b *Inbox[T]) Finish(err error, last ...T) bool {
	b.mu.Lock()
	if b.err != nil {
		b.mu.Unlock()
		return false
	}
	b.err = err
	for _, item := range last {
		b.queue.push(sized[T]{item: item})
	}
	b.notifyAndUnlock()
	return true
}

// Abort is Finish, but also drops what the reader has not taken; that it does even after a Finish, whose error stays.
func (b *Inbox[T]) Abort(err error) bool {
	first := b.Finish(err)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue.reset()
	return first
}

// Next returns the next item and waits until there is one. After the last it fails with what Finish or Abort said, any
// number of times. It fails with ctx's cause if that ends while there is nothing.
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
	// Half a window at a time: the sender never waits for a frame of credit per item, and never runs dry before it
	// comes. Nothing is granted to a sender that has ended.
	if b.taken > 0 && b.taken >= b.window/2 && b.err == nil {
		grant, b.taken = b.taken, 0
		b.credit += grant
	}
	return next.item, true, grant, nil
}

// notifyAndUnlock wakes the reader if it waits, or calls who is armed.
func (b *Inbox[T]) notifyAndUnlock() {
	f, after := b.armed, b.err
	b.armed = nil
	if b.waiting {
		b.waiting = false
		select {
		case b.ready <- struct{}{}:
		default:
		}
	}
	b.mu.Unlock()
	if f != nil {
		f(after)
	}
}

// fifo is a queue in one slice that is used again, so that a queue that is emptied now and then allocates nothing.
// The zero value is empty.
type fifo[T any] struct {
	items []T
	head  int // items before it are gone
}

func (q *fifo[T]) len() int { return len(q.items) - q.head }

func (q *fifo[T]) push(item T) {
	// Where the queue never runs empty, the gone half makes room instead of growing for ever.
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

// remove takes out the first item that match finds.
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
