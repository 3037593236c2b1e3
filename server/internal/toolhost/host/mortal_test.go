package host_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// mortal is a process that may be dead before the supervisor notices.
type mortal struct {
	*hosttest.Process
	dead atomic.Bool
}

func (p *mortal) Alive() bool { return !p.dead.Load() && p.Process.Alive() }

// A call does not go to a process that ended before the call arrived, even if the connection to the
// process still exists.
func TestADeadProcessGetsNoCallThatCameAfterItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tools := []hosttest.Tool{{Spec: tool.Spec{Name: "log", Description: "Says its id.", ReadOnly: true}, Run: echoLog}}
		r := newRig(t, tools, nil)
		var latest *mortal
		r.launch = func(ctx context.Context, _ *catalog.Plugin, _ string) (host.Process, error) {
			p, err := r.start(ctx, hosttest.NewPlugin(tools))
			if err != nil {
				return nil, err
			}
			latest = &mortal{Process: p.(*hosttest.Process)}
			return latest, nil
		}
		if got := outcome(t, r, call("log", "{}")); got.Err != nil {
			t.Fatal(got.Err)
		}
		first := latest
		first.dead.Store(true)
		told, _ := unary(t.Context(), t, r, call("log", "{}"))
		synctest.Wait()
		first.End(tool.Exit{Signal: "SIGKILL"})
		if got := <-told; got.Err != nil || r.started() != 2 {
			t.Errorf("with %d processes started, the call that came after the end of the first ended with %+v", r.started(), got)
		}
	})
}
