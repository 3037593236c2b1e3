package host_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// failLaunches makes the next launches fail with ends of processes.
func failLaunches(r *rig, tools []hosttest.Tool, ends ...tool.Exit) (launches *atomic.Int32) {
	launches = new(atomic.Int32)
	r.launch = func(ctx context.Context, _ *catalog.Plugin, _ string) (host.Process, error) {
		if n := int(launches.Add(1)); n <= len(ends) {
			return nil, &tool.Error{Kind: tool.KindUnavailable, Message: "it ended before it could be used", Exit: &ends[n-1]}
		}
		return r.start(ctx, hosttest.NewPlugin(tools))
	}
	return launches
}

// A launch that ends by a signal is tried once more for a call, whatever retries its tool allows:
// nothing was sent.
func TestAKilledLaunchIsTriedAgain(t *testing.T) {
	killed := tool.Exit{Code: -1, Signal: "SIGKILL"}
	for name, test := range map[string]struct {
		ends     []tool.Exit
		want     tool.Kind // empty: the call succeeds
		launches int32
	}{
		"killed":           {[]tool.Exit{killed}, "", 2},
		"segmentation":     {[]tool.Exit{{Code: -1, Signal: "SIGSEGV"}}, "", 2},
		"killed twice":     {[]tool.Exit{killed, killed, killed}, tool.KindUnavailable, 2},
		"it exits":         {[]tool.Exit{{Code: 3}}, tool.KindUnavailable, 1},
		"killed, exits":    {[]tool.Exit{killed, {Code: 3}}, tool.KindUnavailable, 2},
		"out of memory":    {[]tool.Exit{{Code: -1, Signal: "SIGKILL", OutOfMemory: true}}, tool.KindUnavailable, 1},
		"toolhost ends it": {[]tool.Exit{{Code: -1, Signal: "SIGKILL", Reason: "it did not answer in time"}}, tool.KindUnavailable, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPayments()
				p.finish.Store(true)
				r := newRig(t, p.tools(), func(cfg *host.Config) { cfg.Calls = openMemory(t) })
				launches := failLaunches(r, p.tools(), test.ends...)
				got := outcome(t, r, payment())
				if test.want == "" && got.Err != nil || test.want != "" && endKind(got) != test.want {
					t.Errorf("the call ended with %+v, %v", got, got.Err)
				}
				if launches.Load() != test.launches {
					t.Errorf("%d launches, want %d", launches.Load(), test.launches)
				}
			})
		})
	}
}

// A check that could not be asked is asked again, with pauses, before the caller reads the outcome.
func TestACheckThatCouldNotBeAskedIsAskedAgain(t *testing.T) {
	for name, test := range map[string]struct {
		end   tool.Exit
		times int
		asked int32 // 0: the outcome stays unknown
	}{
		"killed once":        {tool.Exit{Code: -1, Signal: "SIGKILL"}, 1, 1},
		"killed three times": {tool.Exit{Code: -1, Signal: "SIGKILL"}, 3, 1},
		"exits twice":        {tool.Exit{Code: 1}, 2, 1},
		"always":             {tool.Exit{Code: 1}, 100, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPayments()
				p.saysAlways(textSettlement(tool.VerdictHappened, "paid before"))
				r := newRig(t, p.tools(), func(cfg *host.Config) { cfg.Calls = openMemory(t) })
				p.lose(t, r, 0, payment())
				ends := make([]tool.Exit, test.times)
				for i := range ends {
					ends[i] = test.end
				}
				launches := failLaunches(r, p.tools(), ends...)
				began := time.Now()
				got := outcome(t, r, payment())
				p.want(t, 1, test.asked)
				switch {
				case test.asked > 0 && (got.Err != nil || got.Result.Text() != "paid before"):
					t.Errorf("the call ended with %+v, %v", got, got.Err)
				case test.asked == 0 && endKind(got) != tool.KindOutcomeUnknown:
					t.Errorf("the call ended with %+v, %v", got, got.Err)
				}
				if took := time.Since(began); launches.Load() > 6 || took > 40*time.Second {
					t.Errorf("%d launches in %v", launches.Load(), took)
				}
			})
		})
	}
}
