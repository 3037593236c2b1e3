package agent_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

func ended(t *testing.T, f *fixture, id string) *loop.RunFinished {
	t.Helper()
	var end *loop.RunFinished
	for e, err := range f.WatchRun(t.Context(), id, 0) {
		if err != nil {
			t.Fatalf("watching %s: %v", id, err)
		}
		end, _ = e.Payload.(*loop.RunFinished)
	}
	return end
}

// Runs wait for a slot. A run that waits for a person gives its slot up, a sub-run needs none, and
// a waiting run accepts messages, cancels and watchers.
func TestWorkingRunsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		m := slotModel(release)
		small := func(c *agent.Config) { withPeople(c); c.MaxRuns = 1 }
		f := newFixture(t, m, newTools(echo), small)
		start := func(id, prompt string, parent *loop.Parent) {
			if _, err := f.StartRun(t.Context(), loop.Task{RunID: id, Prompt: prompt, Parent: parent}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		start("asks", "ask", nil)
		start("works", "wait", nil)
		start("queued", "quick", nil)
		start("unwanted", "quick", nil)
		if n := len(m.seen()); n != 2 {
			t.Fatalf("%d responses were asked for, want those of two runs", n)
		}
		start("child", "quick", &loop.Parent{RunID: "works", CallID: "works.t1.c0"})
		if end := ended(t, f, "child"); end == nil {
			t.Error("a sub-run waited for a slot")
		}
		if err := f.CancelRun(t.Context(), "unwanted", ""); err != nil {
			t.Error(err)
		}
		if end := ended(t, f, "unwanted"); end.StopReason != loop.StopCancelled {
			t.Errorf("ended with %+v", end)
		}
		if _, err := f.Respond(t.Context(), "asks", loop.DecisionMade{ID: "d1", Verdict: loop.VerdictAnswer, Text: "this"}); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if n := len(m.seen()); n != 3 {
			t.Errorf("%d responses were asked for while another run had the slot", n)
		}
		for e, err := range f.WatchRun(t.Context(), "queued", 0) {
			if err != nil || e.Payload.Type() != loop.TypeRunStarted {
				t.Errorf("a watcher of a run that waits sees %v, %v", e.Payload, err)
			}
			break
		}
		close(release)
		for _, id := range []string{"asks", "works", "queued"} {
			if end := ended(t, f, id); end.StopReason != loop.StopEndTurn {
				t.Errorf("%s ended with %+v", id, end)
			}
		}
		page, _, err := f.ListRuns(t.Context(), agent.RunQuery{Parent: "works"})
		if err != nil || len(page) != 1 || page[0].ID != "child" {
			t.Errorf("sub-runs: %+v, %v", page, err)
		}
	})
}

// slotModel returns a model that asks a question at "ask", waits for release at "wait", and answers
// everything else at once.
func slotModel(release <-chan struct{}) *fakeModel {
	return &fakeModel{answer: func(ctx context.Context, req model.Request) (*model.Response, error) {
		switch req.Messages[0].Blocks[0].Text.Text {
		case "ask":
			if len(req.Messages) == 1 {
				return response(model.StopToolUse, question("which?")), nil
			}
		case "wait":
			select {
			case <-release:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		return response(model.StopEndTurn, text("ok")), nil
	}}
}

// Many runs share a few slots. Each ends as it should, and all slots are free afterwards.
// TestAThousandRuns has a thousand runs at work at the same time.
func TestManyRunsForFewSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const runs, turnsEach, seats = 200, 6, 20
		m := &fakeModel{answer: func(_ context.Context, req model.Request) (*model.Response, error) {
			if len(req.Messages) < 2*turnsEach-1 {
				return response(model.StopToolUse, call("a", "echo"), call("b", "echo")), nil
			}
			last := req.Messages[len(req.Messages)-1].Blocks[1].ToolResult.Content[0].Text
			return response(model.StopEndTurn, text(last)), nil
		}}
		tools := newTools(func(ctx context.Context, call tool.Call, status func(tool.Status)) tool.Outcome {
			time.Sleep(time.Second)
			return echo(ctx, call, status)
		})
		f := newFixture(t, m, tools, func(c *agent.Config) { c.MaxRuns = seats })
		before := heap()
		for i := range runs {
			if _, err := f.StartRun(t.Context(), loop.Task{RunID: fmt.Sprint("run", i), Prompt: "go"}); err != nil {
				t.Fatal(err)
			}
		}
		for i := range runs {
			id := fmt.Sprint("run", i)
			end := ended(t, f, id)
			if want := fmt.Sprintf("echo %s.t%d.c1", id, turnsEach-1); end.Text != want || end.Turns != turnsEach || end.Calls != 2*(turnsEach-1) {
				t.Errorf("%s ended with %+v", id, end)
			}
		}
		for id, n := range tools.executions() {
			if n != 1 {
				t.Errorf("call %s was executed %d times", id, n)
			}
		}
		if n := len(tools.executions()); n != runs*2*(turnsEach-1) {
			t.Errorf("%d calls", n)
		}
		m.mu.Lock()
		m.requests = nil
		m.mu.Unlock()
		tools.mu.Lock()
		clear(tools.calls)
		tools.mu.Unlock()
		// The remaining memory is the journals, which this store keeps in memory: about 10 KiB per
		// run.
		if kept := heap() - before; kept > runs*32<<10 {
			t.Errorf("%d KiB are kept for each run", kept/runs>>10)
		}
	})
}

func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
