package sdk

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

const (
	// usualPercent is how much of what lives may gather as garbage before it is collected: Go's default (GOGC).
	usualPercent = 100
	// mostPercent is the same for a small heap: a plugin lives on some 2 MiB, and its garbage would be collected anew with
	// every 2 MiB more, at a fifth of what its calls cost.
	mostPercent = 400
	// smallGarbage bounds the garbage that gathers beyond what usualPercent allows, in bytes.
	smallGarbage = 8 << 20
)

// collector has the garbage of a small process collected less often. What it reads and sets is the runtime's own.
type collector struct {
	stopped atomic.Bool
	percent int // that is set; the goroutine's of cleanups
}

// tendGarbage starts a collector, and returns what ends it. Where somebody has chosen a percentage, by GOGC or by
// debug.SetGCPercent, it does nothing.
func tendGarbage(getenv func(string) string) (stop func()) {
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

// await has adjust called after the next collection.
func (c *collector) await() {
	fleeting := new(*collector) // with a pointer: what has none may be kept with others that live longer
	runtime.AddCleanup(fleeting, (*collector).adjust, c)
}

// adjust chooses the percentage for what lives now.
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

// percentFor returns how much garbage may gather where so many bytes live.
func percentFor(live uint64) int {
	return min(max(int(smallGarbage*100/max(live, 1)), usualPercent), mostPercent)
}
