package agent_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// Calls that an earlier agent began are cancelled by their ids, without opening them, and keep
// their results. A call that has ended in the meantime keeps its result, too.
func TestCancelAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		tools := newTools(func(ctx context.Context, call tool.Call, status func(tool.Status)) tool.Outcome {
			if call.ID == "r.t1.c1" {
				<-release
				return echo(ctx, call, status)
			}
			<-ctx.Done()
			return tool.Outcome{CallID: call.ID, Err: tool.AsError(context.Cause(ctx))}
		})
		tools.infos = []tool.Info{{Spec: tool.Spec{Name: "write", Parallel: true}}, {Spec: tool.Spec{Name: "read", ReadOnly: true}}}
		f := newFixture(t, turns(response(model.StopToolUse, call("a", "write"), call("b", "write"), call("c", "read"))), tools, nil)
		dying := &dyingStore{Store: f.store, after: true}
		dying.left.Store(2)
		f.Close()
		f.open(func(c *agent.Config) { c.Store = dying })
		f.start(loop.Task{})
		synctest.Wait()
		if err := f.CancelRun(t.Context(), "r", "stop"); err == nil {
			t.Fatal("the store did not die")
		}
		f.Close()
		close(release)
		synctest.Wait()
		f.open(nil)
		defer f.Close()
		if err := f.ResumeRun(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		if end := f.end(); end.StopReason != loop.StopCancelled {
			t.Errorf("ended with %+v", end)
		}
		got := make(map[string]string)
		for _, e := range f.watch(0) {
			if p, ok := e.Payload.(*loop.CallResult); ok {
				got[p.CallID] = p.Result.Text()
			}
		}
		want := map[string]string{"r.t1.c0": "[cancelled] stop", "r.t1.c1": "echo r.t1.c1", "r.t1.c2": "[cancelled] stop"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("results (-want +got):\n%s", diff)
		}
	})
}
