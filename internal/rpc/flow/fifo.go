package flow

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
