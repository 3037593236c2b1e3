package catalog

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// sweeper removes copies from the store. It keeps the copies of a digest that a record of a source,
// a question in progress, or an instance needs.
//
// The catalog does not know instances. So the sweeper keeps a digest that was in service for the
// time of retention, which begins with the first sweep that finds it unused. A digest that was not
// in service since toolhost started has no instances, and the sweeper removes it at once.
//
// mu guards the fields below it. It may be locked while Catalog.mu is held. While mu is held, no
// other lock is taken, except in tasks.
type sweeper struct {
	retention time.Duration
	store     *store
	index     *index
	asker     *asker
	sources   *sources
	tasks     *tasks
	log       *slog.Logger

	mu        sync.Mutex
	served    map[string]bool      // digests that may have instances
	retired   map[string]time.Time // digests that are not needed any more, and since when
	scheduled bool                 // another sweep is scheduled
}

func newSweeper(cfg Config, sources *sources, asker *asker) *sweeper {
	return &sweeper{
		retention: cfg.Retention, store: sources.store, index: sources.index, asker: asker, sources: sources,
		tasks: sources.tasks, log: cfg.Logger, served: map[string]bool{}, retired: map[string]time.Time{},
	}
}

// serve records that a digest may have instances from now on.
func (w *sweeper) serve(digest string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.served[digest] = true
}

// sweep removes the copies that are not needed. If digests wait for the end of their retention, it
// schedules another sweep. The caller holds the token of sources, so that no load copies into the
// store.
func (w *sweeper) sweep() {
	needed := w.index.digests()
	w.asker.addAsked(needed)
	w.retain(needed, time.Now())
	if err := w.store.sweep(func(digest string) bool { return needed[digest] }); err != nil {
		w.log.Warn("old copies of plugins are not removed", "error", err)
	}
}

// retain adds the digests to needed whose retention has not ended.
func (w *sweeper) retain(needed map[string]bool, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for digest := range needed {
		delete(w.retired, digest)
	}
	for digest := range w.served {
		if !needed[digest] && w.retired[digest].IsZero() {
			w.retired[digest] = now
		}
	}
	next := w.retention
	for digest, since := range w.retired {
		if left := w.retention - now.Sub(since); left > 0 {
			needed[digest] = true
			next = min(next, left)
			continue
		}
		delete(w.retired, digest)
		delete(w.served, digest)
	}
	if len(w.retired) > 0 {
		w.laterLocked(next)
	}
}

// laterLocked schedules a sweep, unless one is scheduled.
func (w *sweeper) laterLocked(after time.Duration) {
	if w.scheduled {
		return
	}
	w.scheduled = true
	timer := time.AfterFunc(after, func() { w.tasks.spawn(w.again) })
	context.AfterFunc(w.tasks.ctx, func() { timer.Stop() })
}

// again sweeps when no load copies into the store. It ends with the catalog.
func (w *sweeper) again() {
	_, release, err := w.sources.acquire(w.tasks.ctx)
	if err != nil {
		return
	}
	defer release()
	w.mu.Lock()
	w.scheduled = false
	w.mu.Unlock()
	w.sweep()
}
