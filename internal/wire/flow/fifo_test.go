package flow

import "testing"

// A queue that never becomes empty must not grow. Only its capacity shows this.
func TestQueueThatNeverRunsEmptyDoesNotGrow(t *testing.T) {
	var q fifo[int]
	next := 0
	for i := range 100_000 {
		q.push(i)
		if i < 3 {
			continue
		}
		if got := q.pop(); got != next {
			t.Fatalf("got %d, want %d", got, next)
		}
		next++
	}
	if q.len() != 3 || cap(q.items) > 64 {
		t.Errorf("%d items take room for %d", q.len(), cap(q.items))
	}
}
