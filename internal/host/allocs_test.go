//go:build !race

package host_test

import (
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// maxAllocs is the number of allocations of a call, including the test's own. Disabled features,
// such as an observer, must not add any. The half allocation allows for maps that grow.
const maxAllocs = 43.5

// The test counts the allocations of a call without an observer. It is not built with the race
// detector, which allocates as well.
func TestCallWithoutObserverAllocates(t *testing.T) {
	h := benchHost(t)
	text := []byte(`{"size":1024,"note":"` + strings.Repeat("all work and no play ", 8) + `"}`)
	most, ended, n := 1<<20, make(chan tool.Event, 1), 0
	do := func() {
		n++
		call := tool.Call{ID: "call-" + strconv.Itoa(n), Tool: "echo", Principal: "somebody", Arguments: text, MaxShown: &most}
		h.Do(t.Context(), call, time.Time{}, func(tool.Execution) {}, func(ev tool.Event) { ended <- ev })
		if o := (<-ended).Ended; o == nil || o.Err != nil {
			t.Fatalf("the call ended with %+v", o)
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
