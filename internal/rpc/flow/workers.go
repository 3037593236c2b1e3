package flow

import "sync"

// maxIdleWorkers bounds the goroutines that wait for work: as many calls as usually run at once on one machine. Each
// holds a stack of some kilobytes.
const maxIdleWorkers = 64

// Workers runs functions, each at once, in goroutines that it uses again: a call needs a stack of some kilobytes, and to let it
// grow from nothing for each call costs more than to hand the call over. Functions that come together and end at once share a
// goroutine, since to wake one costs as much as many of them do: one goroutine is woken at a time, and wakes the next, should
// there be more to do, before it does anything itself. So none waits for another that waits. The zero value is ready for use.
// All methods may be called from any goroutine.
type Workers struct {
	mu     sync.Mutex
	queue  fifo[func()]
	wake   sync.Cond // its lock is mu
	idle   int       // goroutines that wait and are not woken
	coming bool      // one was started or woken, and has not looked into the queue yet
	closed bool
	group  sync.WaitGroup
}

// Go runs f in a goroutine. It never blocks. It must not be called once Close has been.
func (w *Workers) Go(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wake.L = &w.mu
	w.queue.push(f)
	w.rouse()
}

// rouse has somebody come for what is in the queue.
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

// Close ends the goroutines that wait, and waits for those that work. It must be called once, in the end.
func (w *Workers) Close() {
	w.mu.Lock()
	w.closed = true
	w.wake.Broadcast()
	w.mu.Unlock()
	w.group.Wait()
}
