package host_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/internal/host"
	"github.com/toolhost/toolhost/internal/host/hosttest"
	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/tool"
)

// mortal is a process that may be dead before the supervisor notices. It counts how often Alive is
// called, and may panic there.
type mortal struct {
	*fakeProcess
	dead  atomic.Bool
	bug   atomic.Bool
	asked atomic.Int32
}

func (p *mortal) Alive() bool {
	p.asked.Add(1)
	if p.bug.Load() {
		panic("a bug")
	}
	return !p.dead.Load() && p.fakeProcess.Alive()
}

// Calls that arrived together check once whether their process lives. A call that arrived later
// checks again, so that it does not go to a dead process whose connection still exists.
func TestADeadProcessGetsNoCallThatCameAfterItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tools := []hosttest.Tool{{Spec: tool.Spec{Name: "log", Description: "Says its id.", ReadOnly: true}, Run: echoLog}}
		r := newRig(t, tools, nil)
		var latest *mortal
		r.launch = func(ctx context.Context, _ *catalog.Plugin, _ string) (host.Process, error) {
			p, err := r.start(ctx, newFixture(tools))
			if err != nil {
				return nil, err
			}
			latest = &mortal{fakeProcess: p.(*fakeProcess)}
			return latest, nil
		}
		if got := outcome(t, r, call("log", "{}")); got.Err != nil {
			t.Fatal(got.Err)
		}
		first := latest
		came := func(at time.Time) <-chan tool.Outcome {
			told, _ := doneReceived(t.Context(), t, r, call("log", "{}"), at)
			return told
		}
		time.Sleep(time.Second)
		together := time.Now()
		before := first.asked.Load()
		for range 3 {
			if got := <-came(together); got.Err != nil {
				t.Error(got.Err)
			}
		}
		if n := first.asked.Load() - before; n != 1 {
			t.Errorf("three calls that came together asked %d times", n)
		}
		first.dead.Store(true)
		time.Sleep(time.Nanosecond)
		told := came(time.Now())
		synctest.Wait()
		first.end(tool.Exit{Signal: "SIGKILL"})
		if got := <-told; got.Err != nil || r.started() != 2 {
			t.Errorf("with %d processes started, the call that came after the end of the first ended with %+v", r.started(), got)
		}
	})
}
