package limits

import (
	"sync"
	"time"
)

// watchInterval is the time between two looks of a watch. A program that takes a GiB a second has
// half of one by then.
const watchInterval = 500 * time.Millisecond

// killWatch tells the watches of all instances when the kernel has killed a process because memory
// ran out. Control groups of version 1 report that in no event: that of memory.oom_control precedes
// the kill, and is missing if the machine runs out of memory, and not the group. So one goroutine
// reads the count of the whole machine, and the instances read the count of their own groups only
// if it has changed. The zero value is ready for use. All methods are safe for concurrent use.
type killWatch struct {
	// read returns the number N of a line "name N" in a file. nil: counter
	read func(dir, file, name string) (uint64, error)

	mu        sync.Mutex
	followers map[chan struct{}]bool
	stop      func() // ends the goroutine, and waits for it; nil: it does not run
}

// follow returns a channel that gets a value when processes may have been killed. The caller must
// call end once. The channel keeps one value for a caller that is busy.
func (w *killWatch) follow() (kills <-chan struct{}, end func()) {
	c := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.followers == nil {
		w.followers = map[chan struct{}]bool{}
	}
	w.followers[c] = true
	if w.stop == nil {
		stopped, gone := make(chan struct{}), make(chan struct{})
		w.stop = func() { close(stopped); <-gone }
		go w.run(stopped, gone) // ends when the last follower has left
	}
	return c, func() { w.leave(c) }
}

func (w *killWatch) leave(c chan struct{}) {
	w.mu.Lock()
	delete(w.followers, c)
	var stop func()
	if len(w.followers) == 0 {
		stop, w.stop = w.stop, nil
	}
	w.mu.Unlock()
	if stop != nil {
		stop()
	}
}

func (w *killWatch) run(stopped <-chan struct{}, gone chan<- struct{}) {
	defer close(gone)
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	var last uint64
	known, again := false, false
	for {
		select {
		case <-stopped:
			return
		case <-tick.C:
		}
		n, err := w.counter("/proc", "vmstat")
		changed := err != nil || !known || n != last // without a count, there may be kills
		// The kernel counts a kill for the machine first, and then for the group.
		if changed || again {
			w.tell()
		}
		last, known, again = n, err == nil, changed
	}
}

// of returns how many processes of the group the kernel has killed. The group has the controller of
// memory. A nil killWatch can be asked, too.
func (w *killWatch) of(g group) (uint64, error) {
	if g.version == 2 {
		return w.counter(g.dir, "memory.events")
	}
	return w.counter(g.dir, "memory.oom_control")
}

func (w *killWatch) counter(dir, file string) (uint64, error) {
	const name = "oom_kill"
	if w != nil && w.read != nil {
		return w.read(dir, file, name)
	}
	return counter(dir, file, name)
}

func (w *killWatch) tell() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.followers {
		select {
		case c <- struct{}{}:
		default: // it has not looked since the last value
		}
	}
}
