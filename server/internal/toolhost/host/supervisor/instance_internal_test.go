package supervisor

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/tool"
)

// The reason of the first request to stop stays, and any request can add force.
func TestRequestStop(t *testing.T) {
	in := newInstance(&Supervisor{}, "p-1", Owner{}, &catalog.Plugin{})
	for i, step := range []struct {
		reason string
		force  bool
		want   string
		forced bool
	}{
		{"it is idle", false, "it is idle", false},
		{"restart", true, "it is idle", true},
		{"toolhost is stopping", false, "it is idle", true},
	} {
		in.requestStop(step.reason, step.force)
		if in.stopReason() != step.want || in.stopsByForce() != step.forced {
			t.Errorf("step %d: the reason is %q, forced %t", i, in.stopReason(), in.stopsByForce())
		}
		select {
		case <-in.stop:
		default:
			t.Errorf("step %d: the process is not asked to stop", i)
		}
	}
}

// A message about a crash names the calls in the order of their arrival.
func TestExecutedCallsAreInOrder(t *testing.T) {
	in := newInstance(&Supervisor{}, "p-1", Owner{}, &catalog.Plugin{})
	received := time.Unix(1e9, 0)
	var want []*Lease
	for i := range 20 {
		call := &fakeCall{received: received.Add(time.Duration(i/2) * time.Second)}
		want = append(want, &Lease{request: Request{Call: &tool.Call{ID: fmt.Sprintf("c-%02d", i)}, State: call}})
		in.addLease(want[i])
	}
	if got := in.executing(); !slices.Equal(got, want) {
		t.Errorf("the calls are %v", exitCalls(got))
	}
}

// The end of an instance cancels its calls. Those that it only previewed were not executed, and
// those that have their result are not affected.
func TestLeasesOfAnInstance(t *testing.T) {
	in := newInstance(&Supervisor{}, "p-1", Owner{}, &catalog.Plugin{})
	executed, previewed, released := &fakeCall{same: "a"}, &previewedCall{fakeCall{same: "b"}}, &fakeCall{same: "c"}
	leases := []*Lease{{request: Request{State: executed}}, {request: Request{State: previewed}}, {request: Request{State: released}},
		{request: Request{State: &fakeCall{same: "d", succeeded: true}}}}
	for _, l := range leases {
		in.addLease(l)
	}
	in.removeLease(leases[2])
	if got := in.executing(); len(got) != 1 || got[0] != leases[0] {
		t.Errorf("%d calls are executed", len(got))
	}
	in.cancelCalls("it hangs")
	for _, c := range []*fakeCall{executed, &previewed.fakeCall} {
		if c.cancelled == nil || !strings.Contains(c.cancelled.Error(), "it hangs") {
			t.Errorf("the call %s ended with %v", c.same, c.cancelled)
		}
	}
	if released.cancelled != nil {
		t.Error("a call without a lease was cancelled")
	}
}

// previewedCall is a call whose arguments are incomplete.
type previewedCall struct{ fakeCall }

func (*previewedCall) Executed() bool { return false }
