package deadline

import (
	"container/heap"
	"sync"
	"time"
)

// Queue ends the contexts of calls at their deadlines. The zero value is ready for use. All methods
// are safe for concurrent use.
//
// A runtime timer for each call would be set and stopped in vain, since nearly every call ends long
// before its deadline. So the queue holds a heap of deadlines and one runtime timer. The runtime timer
// fires at or before the earliest deadline: a call that ends leaves it unchanged, and a new call
// resets it only if the call is due earlier than the runtime timer fires.
type Queue struct {
	mu     sync.Mutex
	due    dueTimers
	timer  *time.Timer // nil until a deadline is set
	wakes  time.Time   // when timer fires; zero: it does not
	closed error       // not nil: the cause for which every context ends at once
}

// entry is the place of a Timer in its queue.
type entry struct {
	at      time.Time
	place   int  // the index in the heap plus 1; 0: not in the heap
	stopped bool // the timer gets no place any more
}

// set gives a timer a deadline, which replaces an earlier one.
func (q *Queue) set(t *Timer, at time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case t.entry.stopped:
		return
	case q.closed != nil:
		t.Cancel(q.closed)
		return
	}
	t.entry.at = at
	if t.entry.place > 0 {
		heap.Fix(&q.due, t.entry.place-1)
	} else {
		heap.Push(&q.due, t)
	}
	q.armLocked()
}

// postpone gives a timer that has a deadline a later one. It returns false and does nothing if the
// timer has no deadline, or its deadline has passed.
func (q *Queue) postpone(t *Timer, at time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if t.entry.place == 0 {
		return false
	}
	t.entry.at = at
	heap.Fix(&q.due, t.entry.place-1)
	q.armLocked()
	return true
}

// remove takes a timer out of the queue for good.
func (q *Queue) remove(t *Timer) {
	q.mu.Lock()
	defer q.mu.Unlock()
	t.entry.stopped = true
	if t.entry.place > 0 {
		heap.Remove(&q.due, t.entry.place-1)
	}
}

// Close ends the contexts of all timers in the queue, and of each that gets a deadline later, with a
// cause.
func (q *Queue) Close(cause error) {
	q.mu.Lock()
	due := q.due
	for _, t := range due {
		t.entry.place = 0
	}
	q.due, q.closed = nil, cause
	if q.timer != nil {
		q.timer.Stop()
	}
	q.mu.Unlock()
	for _, t := range due {
		t.Cancel(cause)
	}
}

// fire ends the contexts whose deadlines have passed. The runtime timer calls it.
func (q *Queue) fire() {
	var over []*Timer
	q.mu.Lock()
	q.wakes = time.Time{}
	for now := time.Now(); len(q.due) > 0 && !q.due[0].entry.at.After(now); {
		over = append(over, heap.Pop(&q.due).(*Timer))
	}
	q.armLocked()
	q.mu.Unlock()
	for _, t := range over {
		t.Cancel(ErrPassed)
	}
}

// armLocked sets the runtime timer if it would fire after the earliest deadline.
func (q *Queue) armLocked() {
	if len(q.due) == 0 || q.closed != nil {
		return
	}
	first := q.due[0].entry.at
	if !q.wakes.IsZero() && !first.Before(q.wakes) {
		return
	}
	q.wakes = first
	if q.timer == nil {
		q.timer = time.AfterFunc(time.Until(first), q.fire)
	} else {
		q.timer.Reset(time.Until(first))
	}
}

// dueTimers is a heap with the earliest deadline first. It implements heap.Interface.
type dueTimers []*Timer

func (h dueTimers) Len() int           { return len(h) }
func (h dueTimers) Less(i, j int) bool { return h[i].entry.at.Before(h[j].entry.at) }

func (h dueTimers) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].entry.place, h[j].entry.place = i+1, j+1
}

// Push implements heap.Interface.
func (h *dueTimers) Push(t any) {
	*h = append(*h, t.(*Timer))
	t.(*Timer).entry.place = len(*h)
}

// Pop implements heap.Interface.
func (h *dueTimers) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	t.entry.place = 0
	return t
}
