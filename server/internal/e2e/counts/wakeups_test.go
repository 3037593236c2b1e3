//go:build !race

package counts_test

import (
	"runtime"
	"runtime/metrics"
	"testing"
)

// The test bounds how many goroutines a call wakes and starts, in client, toolhost and plugin
// together. The call waits for the scheduler each time. It is not built with the race detector,
// which wakes more.
func TestWakeUpsOfACall(t *testing.T) {
	const calls, wakeUps, goroutines = 4000, 22.5, 0.1
	r := newRig(t, nil, nil)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // a goroutine that looks for work on another processor is none of the call
	for range calls / 4 {
		r.call(t, 1<<10)
	}
	woken, started := scheduled()
	for range calls {
		r.call(t, 1<<10)
	}
	nowWoken, nowStarted := scheduled()
	if each := float64(nowWoken-woken) / calls; each > wakeUps {
		t.Errorf("a call wakes goroutines %.1f times, want at most %.1f", each, wakeUps)
	} else {
		t.Logf("%.1f wake-ups", each)
	}
	if each := float64(nowStarted-started) / calls; each > goroutines {
		t.Errorf("a call starts %.2f goroutines, want at most %.1f", each, goroutines)
	} else {
		t.Logf("%.2f goroutines", each)
	}
}

// scheduled returns how many times goroutines of this process began to run, and how many were
// started. The runtime counts every eighth wake-up of a goroutine.
func scheduled() (woken, started uint64) {
	s := []metrics.Sample{{Name: "/sched/latencies:seconds"}, {Name: "/sched/goroutines-created:goroutines"}}
	metrics.Read(s)
	for _, n := range s[0].Value.Float64Histogram().Counts {
		woken += 8 * n
	}
	return woken, s[1].Value.Uint64()
}
