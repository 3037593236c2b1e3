package flow

import "sync"

// maxIdleWorkers limits the idle goroutines to about the number of calls that run at once on one
// machine. Each has a stack of some kilobytes.
const maxIdleWorkers = 64

// Workers runs each function concurrently, in goroutines that it reuses. A call needs a stack of
// some kilobytes, and growing it for each call costs more than handing the call to another
// goroutine.
//
// Waking a goroutine costs as much as many short functions. So Workers wakes one goroutine at a
// time, and that goroutine wakes the next before it runs a function if more functions are queued.
// Short functions that are queued together thus share a goroutine. The invariant: while functions
// are queued, a goroutine is about to take one, so no function waits for the end of another.
//
// Measured with 64 callers: plain goroutines cost 21 to 27 % more processor time per call. The zero
// value is ready for use. All methods are safe for concurrent use.
type Workers struct {
	mu     sync.Mutex
	queue  fifo[func()]
	wake   sync.Cond // its lock is mu
	idle   int       // waiting goroutines that were not woken
	coming bool      // a goroutine was started or woken and has not yet looked into the queue
	closed bool
	group  sync.WaitGroup
}

// Go runs f in a goroutine. It does not block. It must not be called after Close.
func (w *Workers) Go(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wake.L = &w.mu
	w.queue.push(f)
	w.rouse()
}

// rouse makes a goroutine take the next queued function.
func (w *Workers) rouse() {
	if w.coming || w.queue.len() == 0 {
		return
	}
	w.coming = true
	if w.idle > 0 {
		w.idle--
		w.wake.Signal()
		return
	}
	w.group.Go(w.run) // ends when enough others are idle, or with Close
}

func (w *Workers) run() {
	w.mu.Lock()
	w.coming = false
	for {
		if w.queue.len() > 0 {
			f := w.queue.pop()
			w.rouse()
			w.mu.Unlock()
			f() // may end the goroutine
			w.mu.Lock()
			continue
		}
		if w.closed || w.idle == maxIdleWorkers {
			w.mu.Unlock()
			return
		}
		w.idle++
		w.wake.Wait()
		w.coming = false
	}
}

// Close ends the idle goroutines and waits for the others. It must be called exactly once.
func (w *Workers) Close() {
	w.mu.Lock()
	w.closed = true
	w.wake.Broadcast()
	w.mu.Unlock()
	w.group.Wait()
}
