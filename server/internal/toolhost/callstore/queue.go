package callstore

import "sync"

const (
	// maxGroup and maxGroupBytes bound the operations that share a commit, so that no caller waits
	// long for one.
	maxGroup      = 128
	maxGroupBytes = 32 << 20
)

// queue holds the operations that wait for the writer, in order. It is never full, so that the end
// of a call can always be passed on.
type queue struct {
	wake chan struct{} // of capacity 1: there is an operation, or the queue is closed

	mu     sync.Mutex
	ops    []*op
	closed bool
}

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

// take returns the next group, and whether no operation will ever follow it.
func (q *queue) take() (group []*op, last bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, bytes := 0, 0
	for n < min(len(q.ops), maxGroup) && (n == 0 || bytes+len(q.ops[n].ending.Data) <= maxGroupBytes) {
		bytes += len(q.ops[n].ending.Data)
		n++
	}
	group = append(group, q.ops[:n]...)
	clear(q.ops[:n])
	if q.ops = q.ops[n:]; len(q.ops) == 0 {
		q.ops = nil
	}
	return group, q.closed && len(q.ops) == 0
}
