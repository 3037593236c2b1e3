//go:build !race

package host_test

import (
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/tool"
)

// maxAllocs is the number of allocations of a call, including the test's own. Disabled features,
// such as an observer, must not add any. The half allocation allows for maps that grow.
const maxAllocs = 51.5

// The test counts the allocations of a call without an observer. It is not built with the race
// detector, which allocates as well.
func TestCallWithoutObserverAllocates(t *testing.T) {
	h := benchHost(t)
	text := []byte(`{"size":1024,"note":"` + strings.Repeat("all work and no play ", 8) + `"}`)
	most, n := 1<<20, 0
	do := func() {
		n++
		call := tool.Call{ID: "call-" + strconv.Itoa(n), Tool: "echo", Principal: "somebody", Arguments: text, MaxShown: &most, OutcomeOnly: true}
		e, err := h.Open(t.Context(), call, true)
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		if ev, err := e.Next(t.Context()); err != nil || ev.Ended == nil || ev.Ended.Err != nil {
			t.Fatalf("the call ended with %+v, %v", ev.Ended, err)
		}
	}
	const calls = 4000
	for range calls {
		do()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range calls {
		do()
	}
	runtime.ReadMemStats(&after)
	got := float64(after.Mallocs-before.Mallocs) / calls
	t.Logf("%.2f allocations", got)
	if got > maxAllocs {
		t.Errorf("a call makes %.2f allocations, want at most %.1f", got, maxAllocs)
	}
}
