//go:build !race

package counts_test

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"
)

// TestMemoryOfACall: the race detector allocates, and drops at random what is kept for use again; so this is counted without it.
func TestMemoryOfACall(t *testing.T) {
	for _, bound := range []struct {
		size, calls        int
		allocations, bytes float64 // for each call: client, toolhost and plugin together
	}{
		{size: 1 << 10, calls: 1000, allocations: 153, bytes: 16_000},
		{size: 64 << 10, calls: 200, allocations: 164, bytes: 158_800},
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

// memory returns what each of so many calls of f allocates, wherever in the program. One processor and no collection: what is
// allocated depends on neither then.
func memory(calls int, f func()) (allocations, bytes float64) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for range calls / 4 {
		f()
	}
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for range calls / 4 { // fills again what the collection emptied
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
