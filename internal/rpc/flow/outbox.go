package flow

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
)

// Errors that end an outbox, besides those of its send function.
var (
	// ErrClosed says that the outbox was closed.
	ErrClosed = errors.New("the outbox is closed")
	// ErrStalled says that the other end takes nothing while more and more urgent frames wait for it.
	ErrStalled = errors.New("the other end of the stream takes nothing")
)

const (
	// frameOverhead is what a frame costs besides its size, so that a bound in bytes also bounds the number of frames.
	frameOverhead = 64
	// maxUrgent bounds the frames that came by PutNow and are not sent. A sender has a few of them per open call.
	maxUrgent = 1 << 16
	// A putter sends by itself what is small, while so few messages are not known to have been read that a stream of gRPC
	// takes them without waiting: it has room for 64 KiB (google.golang.org/grpc/internal/transport, defaultWriteQuota).
	// Where there are more, many calls are at work, whose frames cost less together.
	maxDirectBytes  = 2 << 10
	maxDirectFrames = 2
	// marksKept is of how many messages the marks are known: more than are under way where a putter sends.
	marksKept = 8
)

// Outbox is the sending side of a stream: one goroutine of its own sends what any goroutine puts in, in the order in
// which it was put in. Where nothing waits and the other end is known to keep up, whoever puts a small frame in sends it
// himself: to hand it over would cost more than to send it. All methods may be called from any goroutine.
type Outbox[T any] struct {
	send func(frames []T, mark uint64) error
	room *Credit
	done chan struct{} // closed when the goroutine has ended

	mu     sync.Mutex
	queue  batch[T]
	most   int  // bytes that are handed to send at once; see Together
	urgent int  // how many of queue took no room
	idle   bool // the goroutine waits for wake
	direct bool // a putter sends
	last   bool // nothing may be added any more; see Drain
	err    error
	wake   chan struct{} // holds one token

	sent   uint64            // messages that were handed to send, or are about to be
	read   uint64            // of those, up to which the other end has shown that it has read them
	behind uint64            // of those the goroutine has sent: until they are read, nobody else sends
	marks  [marksKept]uint64 // of the last messages, by their number

	putters sync.WaitGroup // that send
	ended   chan struct{}  // closed with err
}

// NewOutbox starts an outbox that calls send, from one goroutine at a time, with the next frame, or with the next few (see
// Together), and the mark of the message that they make (see Read). send must not keep the slice. limit is the number of bytes that may wait before Put blocks; with what is just
// being sent, up to twice as much is held. The outbox ends with the first error of send, or with Close; one of them must
// come.
func NewOutbox[T any](send func(frames []T, mark uint64) error, limit int) *Outbox[T] {
	o := &Outbox[T]{
		send:  send,
		room:  NewCredit(limit),
		done:  make(chan struct{}),
		wake:  make(chan struct{}, 1),
		ended: make(chan struct{}),
	}
	go o.run() // ends by fail; Close waits for it
	return o
}

// Together says that frames which wait at the same time may be handed to send together, as long as they have at most so many
// bytes. Until it is called, send gets one at a time. It may be called at any time; 0 takes it back.
func (o *Outbox[T]) Together(bytes int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.most = bytes
}

// Read says the mark of the last message that the other end has read. Nobody can guess a mark, so that an end that takes
// nothing cannot make a putter believe otherwise, whom it would hold up. As long as Read is not called, every frame goes
// through the goroutine.
func (o *Outbox[T]) Read(mark uint64) {
	if mark == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for number := o.sent; number > o.read && number+marksKept > o.sent; number-- {
		if o.marks[number%marksKept] == mark {
			o.read = number
		}
	}
}

// stampLocked counts a message that is about to be sent, and returns its mark.
func (o *Outbox[T]) stampLocked() uint64 {
	o.sent++
	mark := rand.Uint64() // of runtime's generator, ChaCha8
	o.marks[o.sent%marksKept] = mark
	return mark
}

// Put queues a frame of size bytes and blocks while there is no room. It fails with ctx's cause if that ends first, or
// with what ended the outbox; then the frame is not sent. No error does not mean that it was.
func (o *Outbox[T]) Put(ctx context.Context, frame T, size int) error {
	if done, err := o.sendNow(frame, size); done {
		return err
	}
	cost := size + frameOverhead
	if err := o.room.Acquire(ctx, cost); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.refusal(); err != nil {
		return err
	}
	o.queue.room += cost
	o.add(frame, cost)
	return nil
}

// Offer is Put for who must not wait: it reports whether the outbox took the frame. Where it did not and err is nil, there is
// no room.
func (o *Outbox[T]) Offer(frame T, size int) (taken bool, err error) {
	if done, err := o.sendNow(frame, size); done {
		return err == nil, err
	}
	cost := size + frameOverhead
	if !o.room.TryAcquire(cost) {
		return false, o.Err()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.refusal(); err != nil {
		return false, err
	}
	o.queue.room += cost
	o.add(frame, cost)
	return true, nil
}

// sendNow sends a frame at once where that does not block, and reports whether it did.
func (o *Outbox[T]) sendNow(frame T, size int) (done bool, err error) {
	o.mu.Lock()
	if size > maxDirectBytes || !o.idle || o.direct || len(o.queue.frames) > 0 || o.last || o.err != nil ||
		o.read == 0 || o.read < o.behind || o.sent-o.read >= maxDirectFrames {
		o.mu.Unlock()
		return false, nil
	}
	o.direct = true
	mark := o.stampLocked()
	o.putters.Add(1)
	o.mu.Unlock()
	defer o.putters.Done()
	err = o.send([]T{frame}, mark)
	if err != nil {
		o.fail(err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.direct = false
	if len(o.queue.frames) > 0 || o.last {
		o.rouse()
	}
	return true, err
}

// PutNow queues a small frame without waiting for room, behind all that was put before. It is for what must not block,
// such as cancelling and granting credit. So many of them that the other end must have stopped reading end the outbox
// with ErrStalled.
func (o *Outbox[T]) PutNow(frame T) error {
	if done, err := o.sendNow(frame, 0); done {
		return err
	}
	o.mu.Lock()
	if o.err == nil && o.urgent == maxUrgent {
		o.mu.Unlock()
		o.fail(ErrStalled)
		return ErrStalled
	}
	defer o.mu.Unlock()
	if err := o.refusal(); err != nil {
		return err
	}
	o.urgent++
	o.add(frame, frameOverhead)
	return nil
}

// Ended is closed when the outbox takes no more frames; Err then says why.
func (o *Outbox[T]) Ended() <-chan struct{} { return o.ended }

// Err returns what ended the outbox, nil if nothing has.
func (o *Outbox[T]) Err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// Drain refuses further frames with ErrClosed and waits until all that were put before are sent. It fails with ctx's
// cause if that ends first, or with what ended the outbox. Close must still come.
func (o *Outbox[T]) Drain(ctx context.Context) error {
	o.mu.Lock()
	o.last = true
	o.rouse()
	o.mu.Unlock()
	select {
	case <-o.done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := o.Err(); !errors.Is(err, ErrClosed) {
		return err
	}
	return nil
}

// Close ends the outbox, drops what is not sent, and waits for its goroutine. If send may block, what makes it return
// (the end of the stream's context) must come first.
func (o *Outbox[T]) Close() {
	o.fail(ErrClosed)
	<-o.done
	o.putters.Wait()
}

// refusal says why no frame may be added now; nil if one may.
func (o *Outbox[T]) refusal() error {
	if o.err == nil && o.last {
		return ErrClosed
	}
	return o.err
}

func (o *Outbox[T]) add(frame T, cost int) {
	o.queue.frames = append(o.queue.frames, frame)
	o.queue.costs = append(o.queue.costs, cost)
	o.rouse()
}

// rouse wakes the goroutine if it waits for something to do. While a putter sends, that one does it later.
func (o *Outbox[T]) rouse() {
	if o.idle && !o.direct {
		o.idle = false
		o.wake <- struct{}{} // never blocks: idle is set only while the token is not there
	}
}

func (o *Outbox[T]) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return
	}
	o.err = err
	o.queue = batch[T]{}
	close(o.ended)
	o.room.Close(err)
}

func (o *Outbox[T]) run() {
	defer close(o.done)
	var next batch[T]
	for {
		var most int
		if next, most = o.take(next); len(next.frames) == 0 {
			o.fail(ErrClosed) // drained, unless it has ended before
			return
		}
		for n := 0; len(next.frames[n:]) > 0; {
			together := next.together(n, most)
			if err := o.send(next.frames[n:n+together:n+together], o.stamp()); err != nil {
				o.fail(err)
				return
			}
			n += together
		}
	}
}

// stamp is stampLocked for what the goroutine sends.
func (o *Outbox[T]) stamp() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	mark := o.stampLocked()
	o.behind = o.sent
	return mark
}

// take waits for frames and returns all that are queued, and how many bytes of them may be sent at once. It returns none once the
// outbox has ended or is drained. It leaves the memory of spent, the batch before, to the queue.
func (o *Outbox[T]) take(spent batch[T]) (next batch[T], most int) {
	clear(spent.frames)
	o.mu.Lock()
	for o.err == nil && (o.direct || len(o.queue.frames) == 0 && !o.last) {
		o.idle = true
		o.mu.Unlock()
		select {
		case <-o.wake:
			runtime.Gosched() // who is about to put something in does it now, so that it goes together with this
		case <-o.ended:
		}
		o.mu.Lock()
	}
	defer o.mu.Unlock()
	if o.err != nil {
		return batch[T]{}, 0
	}
	next = o.queue
	o.queue, o.urgent = batch[T]{frames: spent.frames[:0], costs: spent.costs[:0]}, 0
	o.room.Grant(next.room)
	return next, o.most
}

// batch is frames in their order.
type batch[T any] struct {
	frames []T
	costs  []int // of each frame: its size and frameOverhead
	room   int   // what they take of the outbox's room
}

// together returns how many frames from the nth on are sent at once: those that have at most so many bytes, and at least one.
func (b batch[T]) together(n, most int) int {
	sum, end := b.costs[n], n+1
	for end < len(b.frames) && sum+b.costs[end] <= most {
		sum += b.costs[end]
		end++
	}
	return end - n
}
