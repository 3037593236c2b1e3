package commands

import (
	"testing"

	"github.com/toolhost/toolhost/client"
)

// Lists count the settled calls of a run, and its story says how they were settled.
func TestSettledCallsAreShown(t *testing.T) {
	for _, test := range []struct {
		settled     client.Settlements
		calls, fact string
	}{
		{client.Settlements{}, "7", ""},
		{client.Settlements{Unknown: 1}, "7", "1 call asked about, and still unknown"},
		{client.Settlements{Happened: 2, Repeated: 1}, "7 (3 settled)", "2 calls had happened; 1 call had not happened, and made again"},
	} {
		if got := callsOf(&client.Run{Calls: 7, Settlements: test.settled}); got != test.calls {
			t.Errorf("the calls are %q, want %q", got, test.calls)
		}
		if got := settlementsOf(test.settled); got != test.fact {
			t.Errorf("the settled calls are %q, want %q", got, test.fact)
		}
	}
}
