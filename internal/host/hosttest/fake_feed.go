package hosttest

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/toolhost/toolhost/tool"
)

// feed is a list of events or log lines that only grows. Any number of readers can follow it.
type feed[T any] struct {
	mutex   sync.Mutex
	items   []T
	changed chan struct{} // closed and replaced when items grow
}

func newFeed[T any]() *feed[T] { return &feed[T]{changed: make(chan struct{})} }

// add appends an item. item gets the number of the item, from 1.
func (f *feed[T]) add(item func(seq uint64) T) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.items = append(f.items, item(uint64(len(f.items))+1))
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *feed[T]) after(n int) ([]T, <-chan struct{}) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return slices.Clone(f.items[min(n, len(f.items)):]), f.changed
}

// read yields the items that match: first the stored ones, or only the last ones of them if last is
// positive; then, if follow is set, new ones until ctx or stop ends. The end of ctx is an error.
func (f *feed[T]) read(ctx, stop context.Context, last int, follow bool, matches func(*T) bool) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		seen := 0
		for first := true; ; first = false {
			items, changed := f.after(seen)
			seen += len(items)
			items = slices.DeleteFunc(items, func(item T) bool { return !matches(&item) })
			if first && last > 0 {
				items = items[max(0, len(items)-last):]
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if !follow {
				return
			}
			select {
			case <-changed:
			case <-stop.Done():
				return
			case <-ctx.Done():
				var none T
				yield(none, tool.AsError(context.Cause(ctx)))
				return
			}
		}
	}
}
