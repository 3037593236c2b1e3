package sdk

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

const (
	// usualPercent is Go's default percentage (GOGC): the garbage that may gather before a
	// collection, relative to the live heap.
	usualPercent = 100
	// mostPercent is the percentage for a small heap. A plugin has about 2 MiB of live data, and at
	// the default each further 2 MiB cause a collection, which together take a fifth of the
	// processor time of its calls.
	mostPercent = 400
	// smallGarbage is the amount of garbage, in bytes, up to which the percentage is above
	// usualPercent.
	smallGarbage = 8 << 20
)

// collector adapts the garbage collector's percentage to the live heap, after each collection.
type collector struct {
	stopped atomic.Bool
	percent int // as it is set now; only the runtime's goroutine for cleanups uses it
}

// tuneGarbage starts a collector, and returns a function that ends it. If a percentage is set, by
// GOGC or by debug.SetGCPercent, tuneGarbage does nothing.
func tuneGarbage(getenv func(string) string) (stop func()) {
	if getenv("GOGC") != "" {
		return func() {}
	}
	chosen := debug.SetGCPercent(mostPercent)
	if chosen != usualPercent {
		debug.SetGCPercent(chosen)
		return func() {}
	}
	c := &collector{percent: mostPercent}
	c.await()
	return func() {
		c.stopped.Store(true)
		debug.SetGCPercent(usualPercent)
	}
}

// await arranges a call of adjust after the next collection.
func (c *collector) await() {
	fleeting := new(*collector) // of a type with a pointer: the runtime allocates small values without one together with others
	runtime.AddCleanup(fleeting, (*collector).adjust, c)
}

// adjust sets the percentage for the live heap of now.
func (c *collector) adjust() {
	if c.stopped.Load() {
		return
	}
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if percent := percentFor(sample[0].Value.Uint64()); percent != c.percent {
		c.percent = percent
		debug.SetGCPercent(percent)
	}
	c.await()
}

// percentFor returns the percentage for a number of live bytes.
func percentFor(live uint64) int {
	return min(max(int(smallGarbage*100/max(live, 1)), usualPercent), mostPercent)
}
