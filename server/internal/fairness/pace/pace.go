// Package pace makes work on large data give way to other work of the process.
//
// The problem: a small call passes through several goroutines, and each of them waits behind all
// queued work. While goroutines are queued, Go's runtime also looks at the network only every 10
// ms. So a few connections that carry megabytes can delay every other call.
//
// A goroutine that reads such a connection therefore yields after each Piece, and measures how long
// it was queued. If that is long, it pauses for a multiple of that time. The pauses keep the queue
// short, whatever else uses the processors.
//
// The package does not know connections and calls.
package pace

import (
	"runtime"
	"time"
)

// Piece is the number of bytes of large data after which a reader gives way.
const Piece = 64 << 10

// shortQueue is the time in the queue for which a reader does not pause.
const shortQueue = 500 * time.Microsecond

// Pause says how long a reader pauses: Times the time for which it was queued, and at most Longest.
type Pause struct {
	Times   int
	Longest time.Duration
}

// GiveWay yields the processor, and pauses if other work was queued. It blocks for about p.Longest
// at most, and for nothing but the queue if the queue is short.
func GiveWay(p Pause) {
	began := time.Now()
	runtime.Gosched()
	time.Sleep(p.after(time.Since(began)))
}

// after returns the pause of a reader that was queued for some time.
func (p Pause) after(queued time.Duration) time.Duration {
	if queued <= shortQueue {
		return 0
	}
	return min(time.Duration(p.Times)*queued, p.Longest)
}
