package postgres

import (
	"crypto/rand"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/tool"
)

type verb string

const (
	verbBegin  verb = "beginning"
	verbEnd    verb = "ending"
	verbForget verb = "forgetting"
	verbSettle verb = "settling"
)

// op is one operation for the writer. Its caller waits for the result, and may stop waiting.
type op struct {
	verb   verb
	key    callstore.Key
	hash   callstore.Hash
	token  []byte // the same in all attempts, so that one whose answer was lost is found
	entry  callstore.Entry
	quota  callstore.Quota
	ending callstore.Ending
	ended  time.Time
	number int64            // of verbSettle, and of verbEnd once the writer has it: of the call
	begin  []byte           // of verbForget, once the writer has it: the token of the Begin
	closes []callstore.Hash // of the calls that a Begin supersedes
	said   tool.Settlement

	over atomic.Bool // it was answered, or its caller has left
	done chan error  // of capacity 1

	// The writer alone uses these.
	refused error // why it was not written
	sent    bool  // a Begin was sent, so that the database may have it
}

func newOp(v verb, key callstore.Key) *op {
	return &op{verb: v, key: key, hash: key.Hash(), token: []byte(rand.Text()), done: make(chan error, 1)}
}

// answer passes the result to the caller, and reports whether the caller was still waiting.
func (o *op) answer(err error) bool {
	if !o.over.CompareAndSwap(false, true) {
		return false
	}
	o.done <- err
	return true
}

const (
	// maxGroup and maxGroupBytes bound the operations that share a commit, so that no caller waits
	// long for one.
	maxGroup      = 256
	maxGroupBytes = 16 << 20
)

// queue holds the operations that wait for the writer, in order. It is never full, so that the end
// of a call can always be passed on. Begins are bounded by the calls that toolhost takes.
type queue struct {
	wake chan struct{} // of capacity 1: there is an operation, or the queue is closed

	mu     sync.Mutex
	ops    []*op
	closed bool
}

func newQueue() queue { return queue{wake: make(chan struct{}, 1)} }

// push adds an operation. It returns false if the queue is closed. The writer takes every operation
// that was added.
func (q *queue) push(o *op) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.ops = append(q.ops, o)
	q.signal()
	return true
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.signal()
}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take returns the next group, and whether no operation will ever follow it. A group has at most
// one operation on each call, because a later operation on the same call has to see the effect of
// the earlier one. It drops Begins whose callers have left.
func (q *queue) take() (group []*op, last bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ops = slices.DeleteFunc(q.ops, func(o *op) bool { return o.verb == verbBegin && o.over.Load() })
	n := groupOf(q.ops)
	group = slices.Clone(q.ops[:n])
	clear(q.ops[:n])
	if q.ops = q.ops[n:]; len(q.ops) == 0 {
		q.ops = nil
	}
	return group, q.closed && len(q.ops) == 0
}

// groupOf returns how many of the operations can share a commit. A Begin that supersedes calls is
// alone, so that all of it can be taken back.
func groupOf(ops []*op) (n int) {
	bytes, keys := 0, map[callstore.Hash]bool{}
	for ; n < min(len(ops), maxGroup); n++ {
		o := ops[n]
		bytes += len(o.ending.Data) + len(o.entry.Arguments)
		changes := append(slices.Clip(o.closes), o.hash)
		if n > 0 && (bytes > maxGroupBytes || len(o.closes)+len(ops[0].closes) > 0 || slices.ContainsFunc(changes, func(h callstore.Hash) bool { return keys[h] })) {
			break
		}
		for _, h := range changes {
			keys[h] = true
		}
	}
	return n
}
