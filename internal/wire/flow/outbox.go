package flow

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
)

var (
	// ErrClosed is returned by an outbox after Close or Drain.
	ErrClosed = errors.New("the outbox is closed")
	// ErrStalled is returned by an outbox that has too many unsent urgent frames because the peer
	// does not read the stream.
	ErrStalled = errors.New("the peer does not read the stream")
)

const (
	// frameOverhead is added to the size of each frame, so that a limit in bytes also limits the
	// number of frames.
	frameOverhead = 64
	// maxUrgent limits the unsent frames of PutNow. A sender has a few of them per open call.
	maxUrgent = 1 << 16
	// maxDirectBytes and maxDirectMessages limit what Put sends in the caller's goroutine: small
	// frames, while few messages are unacknowledged. Then the gRPC stream accepts the frame without
	// blocking, because it has room for 64 KiB (google.golang.org/grpc/internal/transport,
	// defaultWriteQuota). With more messages, many calls are active, and batches are cheaper.
	maxDirectBytes    = 2 << 10
	maxDirectMessages = 2
	// tokensKept is the number of messages whose ack tokens are kept. It must exceed
	// maxDirectMessages.
	tokensKept = 8
)

// Outbox sends the frames of many goroutines on one stream, in the order in which they were put.
//
// Normally the outbox's own goroutine sends the queued frames. Handing a frame to another goroutine
// costs more than sending it, so the goroutine that puts a small frame sends it itself, if no other
// frame is queued and the peer is known to read the stream. Acks provide that knowledge: each
// message carries a random token, and the peer returns the token of the last message that it has
// read. Without acks, a send could block on flow control, and the caller of Put would wait for a
// peer that does not read. A peer cannot guess tokens, so it cannot pretend to read.
//
// All methods are safe for concurrent use.
type Outbox[T any] struct {
	send func(frames []T, ackToken uint64) error
	room *Credit
	done chan struct{} // closed when the goroutine has ended

	mu         sync.Mutex
	queue      queue[T]
	batchLimit int  // see SetBatchLimit
	urgent     int  // the number of queued frames from PutNow
	idle       bool // the goroutine waits for wake
	direct     bool // a caller of Put is sending its frame
	draining   bool // no frames are accepted; see Drain
	err        error
	wake       chan struct{} // holds one token

	sent   uint64             // the number of messages passed to send
	acked  uint64             // the number of the last message that the peer has acknowledged
	queued uint64             // the last message that the goroutine sent; direct sends wait for its ack
	tokens [tokensKept]uint64 // the tokens of the last messages, by message number

	senders sync.WaitGroup // callers of Put that are sending
	ended   chan struct{}  // closed when err is set
}

// NewOutbox starts an outbox. It calls send, never concurrently, with the next frame or the next
// few frames (see SetBatchLimit) and with the ack token of the message that they form (see Acked).
// send must not keep the slice.
//
// limit is the number of queued bytes from which Put blocks. With the frames that are being sent,
// the outbox holds up to twice as much. The outbox ends with the first error of send or with Close.
// The caller must call Close.
func NewOutbox[T any](send func(frames []T, ackToken uint64) error, limit int) *Outbox[T] {
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

// SetBatchLimit sets the maximum number of bytes that the outbox passes to send in one batch. 0,
// the initial value, means one frame at a time.
func (o *Outbox[T]) SetBatchLimit(bytes int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.batchLimit = bytes
}

// Acked processes an ack from the peer: the token of the last message that the peer has read. It
// ignores 0 and unknown tokens. Until the first call, the outbox's goroutine sends all frames.
func (o *Outbox[T]) Acked(token uint64) {
	if token == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for number := o.sent; number > o.acked && number+tokensKept > o.sent; number-- {
		if o.tokens[number%tokensKept] == token {
			o.acked = number
		}
	}
}

// nextTokenLocked counts a message that is about to be sent and returns its token.
func (o *Outbox[T]) nextTokenLocked() uint64 {
	o.sent++
	token := rand.Uint64() // cryptographically strong: ChaCha8, seeded by the runtime
	o.tokens[o.sent%tokensKept] = token
	return token
}

// Put sends or queues a frame of size bytes. It blocks while the queue is full. It fails with the
// cause of ctx if ctx ends first, and with the error that ended the outbox; then the frame is not
// sent. Success does not mean that the frame was sent.
func (o *Outbox[T]) Put(ctx context.Context, frame T, size int) error {
	if done, err := o.sendNow(frame, size); done {
		return err
	}
	cost := size + frameOverhead
	if err := o.room.Acquire(ctx, cost); err != nil {
		return err
	}
	return o.enqueue(frame, cost)
}

// enqueue queues a frame whose cost was acquired from room.
func (o *Outbox[T]) enqueue(frame T, cost int) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.refusalLocked(); err != nil {
		return err
	}
	o.queue.room += cost
	o.addLocked(frame, cost)
	return nil
}

// sendNow sends a frame in the caller's goroutine if that does not block, and reports whether it
// did.
func (o *Outbox[T]) sendNow(frame T, size int) (done bool, err error) {
	o.mu.Lock()
	if size > maxDirectBytes || !o.idle || o.direct || len(o.queue.frames) > 0 || o.draining || o.err != nil ||
		o.acked == 0 || o.acked < o.queued || o.sent-o.acked >= maxDirectMessages {
		o.mu.Unlock()
		return false, nil
	}
	o.direct = true
	token := o.nextTokenLocked()
	o.senders.Add(1)
	o.mu.Unlock()
	defer o.senders.Done()
	err = o.send([]T{frame}, token)
	if err != nil {
		o.fail(err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.direct = false
	if len(o.queue.frames) > 0 || o.draining {
		o.wakeLocked()
	}
	return true, err
}

// PutNow queues a small frame without blocking, even if the queue is full. Use it for frames that
// must not wait, such as cancellations and grants of credit. It ends the outbox with ErrStalled if
// more than maxUrgent such frames are unsent.
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
	if err := o.refusalLocked(); err != nil {
		return err
	}
	o.urgent++
	o.addLocked(frame, frameOverhead)
	return nil
}

// Ended returns a channel that is closed when the outbox accepts no more frames. Err then returns
// the reason.
func (o *Outbox[T]) Ended() <-chan struct{} { return o.ended }

// Err returns the error that ended the outbox, or nil.
func (o *Outbox[T]) Err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// Drain makes the outbox refuse new frames with ErrClosed and waits until all queued frames are
// sent. It fails with the cause of ctx if ctx ends first, and with the error that ended the outbox.
// The caller must still call Close.
func (o *Outbox[T]) Drain(ctx context.Context) error {
	o.mu.Lock()
	o.draining = true
	o.wakeLocked()
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

// Close ends the outbox, drops unsent frames, and waits for its goroutine and for callers that are
// sending. If send may be blocked, end the context of the stream first.
func (o *Outbox[T]) Close() {
	o.fail(ErrClosed)
	<-o.done
	o.senders.Wait()
}

// refusalLocked returns why the outbox accepts no frames, or nil.
func (o *Outbox[T]) refusalLocked() error {
	if o.err == nil && o.draining {
		return ErrClosed
	}
	return o.err
}

func (o *Outbox[T]) addLocked(frame T, cost int) {
	o.queue.frames = append(o.queue.frames, frame)
	o.queue.costs = append(o.queue.costs, cost)
	o.wakeLocked()
}

// wakeLocked wakes the goroutine if it is idle. During a direct send it does nothing, because the
// sender wakes the goroutine afterwards.
func (o *Outbox[T]) wakeLocked() {
	if o.idle && !o.direct {
		o.idle = false
		o.wake <- struct{}{} // does not block: wake is empty while idle is set
	}
}

func (o *Outbox[T]) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return
	}
	o.err = err
	o.queue = queue[T]{}
	close(o.ended)
	o.room.Close(err)
}

func (o *Outbox[T]) run() {
	defer close(o.done)
	var next queue[T]
	for {
		var limit int
		if next, limit = o.take(next); len(next.frames) == 0 {
			o.fail(ErrClosed) // the queue is drained, or the outbox has already failed
			return
		}
		for n := 0; n < len(next.frames); {
			size := next.batchSize(n, limit)
			if err := o.send(next.frames[n:n+size:n+size], o.nextToken()); err != nil {
				o.fail(err)
				return
			}
			n += size
		}
	}
}

// nextToken is nextTokenLocked for messages that the outbox's goroutine sends.
func (o *Outbox[T]) nextToken() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	token := o.nextTokenLocked()
	o.queued = o.sent
	return token
}

// take waits for frames and returns all queued ones, with the current batch limit. It returns no
// frames if the outbox has ended or is drained. The queue reuses the memory of spent, the frames
// that take returned before.
func (o *Outbox[T]) take(spent queue[T]) (next queue[T], batchLimit int) {
	clear(spent.frames)
	o.mu.Lock()
	for o.err == nil && (o.direct || len(o.queue.frames) == 0 && !o.draining) {
		o.idle = true
		o.mu.Unlock()
		select {
		case <-o.wake:
			runtime.Gosched() // lets goroutines that are about to put frames join this batch
		case <-o.ended:
		}
		o.mu.Lock()
	}
	defer o.mu.Unlock()
	if o.err != nil {
		return queue[T]{}, 0
	}
	next = o.queue
	o.queue, o.urgent = queue[T]{frames: spent.frames[:0], costs: spent.costs[:0]}, 0
	o.room.Grant(next.room)
	return next, o.batchLimit
}

// queue holds unsent frames in order.
type queue[T any] struct {
	frames []T
	costs  []int // the size of each frame plus frameOverhead
	room   int   // the total cost of the frames that acquired room
}

// batchSize returns how many frames, from the nth, form the next batch: as many as fit into limit
// bytes, but at least one.
func (q queue[T]) batchSize(n, limit int) int {
	sum, end := q.costs[n], n+1
	for end < len(q.frames) && sum+q.costs[end] <= limit {
		sum += q.costs[end]
		end++
	}
	return end - n
}
