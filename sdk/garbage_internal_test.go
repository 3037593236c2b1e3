package sdk

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

func currentPercent() int {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return int(sample[0].Value.Uint64())
}

func TestPercentFor(t *testing.T) {
	for live, want := range map[uint64]int{0: 400, 1 << 20: 400, 2 << 20: 400, 4 << 20: 200, 8 << 20: 100, 1 << 40: 100} {
		if got := percentFor(live); got != want {
			t.Errorf("%d bytes live: %d %%, want %d", live, got, want)
		}
	}
}

// While a plugin is served, tuneGarbage sets the garbage collector's percentage by the amount of
// live memory, unless GOGC or other code has set it.
func TestGarbage(t *testing.T) {
	nothing := func(string) string { return "" }
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)

	stop := tuneGarbage(nothing)
	if got := currentPercent(); got != mostPercent {
		t.Errorf("at first it is %d %%", got)
	}
	held := make([]byte, 64<<20)
	for currentPercent() != usualPercent { // until a collection has seen what lives
		runtime.GC()
	}
	runtime.KeepAlive(held)
	stop()
	if got := currentPercent(); got != usualPercent {
		t.Errorf("in the end it is %d %%", got)
	}
	runtime.GC()

	tuneGarbage(func(name string) string { return map[string]string{"GOGC": "50"}[name] })()
	if got := currentPercent(); got != usualPercent {
		t.Errorf("it is %d %% where GOGC is set", got)
	}
	debug.SetGCPercent(70)
	tuneGarbage(nothing)()
	if got := currentPercent(); got != 70 {
		t.Errorf("it is %d %% where the author has set 70", got)
	}
}
