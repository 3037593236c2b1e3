//go:build !race

package counts_test

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"
)

// The test bounds the allocations of a small and a large call. It is not built with the race
// detector, which allocates and drops pooled objects at random.
func TestMemoryOfACall(t *testing.T) {
	for _, bound := range []struct {
		size, calls        int
		allocations, bytes float64 // per call: client, toolhost and plugin together
	}{
		{size: 1 << 10, calls: 1000, allocations: 157, bytes: 17_900},
		{size: 64 << 10, calls: 200, allocations: 166, bytes: 152_300},
	} {
		t.Run(fmt.Sprintf("%d KiB", bound.size>>10), func(t *testing.T) {
			r := newRig(t, nil, nil)
			allocations, bytes := memory(bound.calls, func() { r.call(t, bound.size) })
			t.Logf("%.1f allocations, %.0f bytes", allocations, bytes)
			if allocations > bound.allocations {
				t.Errorf("a call makes %.1f allocations, want at most %.0f", allocations, bound.allocations)
			}
			if bytes > bound.bytes {
				t.Errorf("a call allocates %.0f bytes, want at most %.0f", bytes, bound.bytes)
			}
		})
	}
}

// memory returns the average allocations of one call of f in the whole process. It uses one
// processor and disables the garbage collector, so that the numbers depend on neither.
func memory(calls int, f func()) (allocations, bytes float64) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for range calls / 4 {
		f()
	}
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for range calls / 4 { // refills the pools that the collection emptied
		f()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range calls {
		f()
	}
	runtime.ReadMemStats(&after)
	each := func(a, b uint64) float64 { return float64(b-a) / float64(calls) }
	return each(before.Mallocs, after.Mallocs), each(before.TotalAlloc, after.TotalAlloc)
}
