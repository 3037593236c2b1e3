package catalog

import (
	"context"
	"sync"
)

// tasks runs the goroutines of a catalog in the background. The context ends when the catalog is
// closed, and every goroutine returns then.
//
// mu makes spawn and close exclude each other: otherwise a goroutine could start while close waits
// for the others, or after it. Goroutines may hold Catalog.mu when they call spawn or closed.
type tasks struct {
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu    sync.Mutex
	ended bool // close was called
}

func newTasks() *tasks {
	t := &tasks{}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	return t
}

// spawn runs f in a goroutine that close waits for, and reports whether it does: after close, it
// runs nothing. f must return when t.ctx ends.
func (t *tasks) spawn(f func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		t.wg.Go(f)
	}
	return !t.ended
}

// closed reports whether close was called.
func (t *tasks) closed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended
}

// close ends the context and waits for all goroutines. It reports whether it is the first call.
func (t *tasks) close() bool {
	t.mu.Lock()
	first := !t.ended
	t.ended = true
	t.mu.Unlock()
	t.cancel()
	t.wg.Wait()
	return first
}
