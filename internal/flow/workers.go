package flow

import (
	"sync"
	"sync/atomic"
)

// maxIdleWorkers bounds the goroutines that wait for work: as many calls as usually run at once on one machine. Each
// holds a stack of some kilobytes.
const maxIdleWorkers = 64

// Workers runs functions, each in a goroutine at once, and uses goroutines again: a call needs a stack of some kilobytes, and
// to let it grow from nothing for each call costs more than to hand the call over. The zero value is ready for use.
// All methods may be called from any goroutine.
type Workers struct {
	once  sync.Once
	work  chan func()
	close chan struct{}
	idle  atomic.Int32
	group sync.WaitGroup
}

func (w *Workers) init() {
	w.once.Do(func() { w.work, w.close = make(chan func()), make(chan struct{}) })
}

// Go runs f in a goroutine. It never blocks. It must not be called once Close has been.
func (w *Workers) Go(f func()) {
	w.init()
	select {
	case w.work <- f: // only where somebody waits for it
	default:
		w.group.Go(func() { w.run(f) }) // ends when enough others are idle, or with Close
	}
}

func (w *Workers) run(f func()) {
	for f != nil {
		f()
		if f = nil; w.idle.Add(1) <= maxIdleWorkers {
			select {
			case f = <-w.work:
			case <-w.close:
			}
		}
		w.idle.Add(-1)
	}
}

// Close ends the goroutines that wait, and waits for those that work. It must be called once, in the end.
func (w *Workers) Close() {
	w.init()
	close(w.close)
	w.group.Wait()
}
