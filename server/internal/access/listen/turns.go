package listen

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/internal/processors"
)

// turnLength bounds how long a goroutine can keep a turn, because it may also wait for its client.
const turnLength = 10 * time.Millisecond

// turns limits how many goroutines work at the same time on what the connections of one client have
// sent. The client is a principal, or the strangers of an address.
//
// A goroutine reads a connection, handles what has arrived, and reads again. A client that sends
// without pause keeps it busy, and with many connections it keeps many goroutines busy. The
// scheduler of Go gives each of them up to 10 ms before it continues with the goroutines of another
// client, and a call needs several goroutines one after the other. So such a client would delay the
// calls of others by seconds. With turns, it delays them as a client with few connections does.
type turns struct {
	connections atomic.Int32

	mu      sync.Mutex
	taken   int
	waiting []chan struct{} // oldest first
}

// most returns the number of turns. A client with as many connections needs none.
func (t *turns) most() int { return max(1, processors.Given()/2) }

// take waits for a turn. The caller must call the result when it has used the turn.
func (t *turns) take() (done func()) {
	if int(t.connections.Load()) <= t.most() {
		return func() {}
	}
	t.mu.Lock()
	if t.taken < t.most() {
		t.taken++
		t.mu.Unlock()
	} else {
		mine := make(chan struct{})
		t.waiting = append(t.waiting, mine)
		t.mu.Unlock()
		<-mine // each turn ends in time
	}
	end := time.AfterFunc(turnLength, t.pass)
	return func() {
		if end.Stop() {
			t.pass()
		}
	}
}

// pass passes a turn to the goroutine that has waited longest.
func (t *turns) pass() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) == 0 {
		t.taken--
		return
	}
	close(t.waiting[0])
	t.waiting = t.waiting[1:]
}
