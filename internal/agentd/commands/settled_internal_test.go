package commands

import (
	"testing"

	"github.com/toolhost/toolhost/internal/agentd/agent"
	"github.com/toolhost/toolhost/internal/agentd/loop"
)

// Lists count the settled calls of a run, and its story says how they were settled.
func TestSettledCallsAreShown(t *testing.T) {
	for _, test := range []struct {
		settled     loop.Settlements
		calls, fact string
	}{
		{loop.Settlements{}, "7", ""},
		{loop.Settlements{Unknown: 1}, "7", "1 call asked about, and still unknown"},
		{loop.Settlements{Happened: 2, Repeated: 1}, "7 (3 settled)", "2 calls had happened; 1 call had not happened, and made again"},
	} {
		if got := callsOf(&agent.Run{Calls: 7, Settled: test.settled}); got != test.calls {
			t.Errorf("the calls are %q, want %q", got, test.calls)
		}
		if got := settlementsOf(test.settled); got != test.fact {
			t.Errorf("the settled calls are %q, want %q", got, test.fact)
		}
	}
}
