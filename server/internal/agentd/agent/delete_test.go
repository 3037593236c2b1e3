package agent_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/sqlite"
	"github.com/toolhost/toolhost/tool"
)

// lastText returns the text of the last message, or nothing if it has results.
func lastText(req model.Request) string {
	for _, b := range req.Messages[len(req.Messages)-1].Blocks {
		if b.Text != nil {
			return b.Text.Text
		}
	}
	return ""
}

// layered is a run with a sub-run, which has a sub-run. The model holds back its answer to the
// prompt of hold until the context ends.
func layered(t *testing.T, hold string) (f *fixture, ids []string) {
	t.Helper()
	m := &fakeModel{answer: func(ctx context.Context, req model.Request) (*model.Response, error) {
		last := lastText(req)
		if hold != "" && last == hold {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		switch next := map[string]string{"hello": "one", "one": "two"}[last]; {
		case next != "":
			return response(model.StopToolUse, newTask("a", `{"task":"`+next+`"}`)), nil
		default:
			return response(model.StopEndTurn, text("done")), nil
		}
	}}
	f = newFixture(t, m, newTools(echo), func(c *agent.Config) { withSystem(c); reads("text/*")(c) })
	f.start(loop.Task{Attachments: []loop.NewAttachment{{Name: "a.txt", Data: []byte("a")}}})
	one := loop.SubRunID("r", "r.t1.c0")
	return f, []string{"r", one, loop.SubRunID(one, one+".t1.c0")}
}

// A finished run is deleted with its sub-runs. The same request, and any other with its id, is a
// conflict then, also in another process.
func TestDeleteRun(t *testing.T) {
	f, ids := layered(t, "")
	f.end()
	got, err := f.DeleteRun(t.Context(), "r")
	if err != nil || !slices.Equal(got, ids) {
		t.Fatalf("it deleted %q, %v; want %q", got, err, ids)
	}
	f.Close()
	f.open(withSystem)
	for _, id := range ids {
		if _, err := f.GetRun(t.Context(), id); tool.KindOf(err) != tool.KindNotFound {
			t.Errorf("run %s: %v", id, err)
		}
		for _, err := range f.WatchRun(t.Context(), id, 0) {
			if tool.KindOf(err) != tool.KindNotFound {
				t.Errorf("watching run %s: %v", id, err)
			}
		}
		for _, prompt := range []string{"hello", "another"} {
			_, err := f.StartRun(t.Context(), loop.Task{RunID: id, Prompt: prompt})
			if tool.KindOf(err) != tool.KindConflict || !strings.Contains(err.Error(), "was deleted; choose another id") {
				t.Errorf("starting run %s again: %v", id, err)
			}
		}
		if _, err := f.DeleteRun(t.Context(), id); tool.KindOf(err) != tool.KindNotFound {
			t.Errorf("deleting run %s again: %v", id, err)
		}
	}
	if runs, _, err := f.ListRuns(t.Context(), agent.RunQuery{}); err != nil || len(runs) != 0 {
		t.Errorf("the runs are %+v, %v", runs, err)
	}
}

// wantKept checks that a run cannot be deleted, for a reason, and that no run is deleted.
func wantKept(t *testing.T, f *fixture, runID, because string) {
	t.Helper()
	before, _, err := f.ListRuns(t.Context(), agent.RunQuery{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.DeleteRun(t.Context(), runID); tool.KindOf(err) != tool.KindConflict || !strings.Contains(err.Error(), because) {
		t.Errorf("deleting %s: %v, want %q", runID, err, because)
	}
	if after, _, err := f.ListRuns(t.Context(), agent.RunQuery{}); err != nil || len(after) != len(before) {
		t.Errorf("of %d runs, %d are left: %v", len(before), len(after), err)
	}
}

// A run that has not finished stays, and so does each run above and below it. When all have
// finished, a sub-run can be deleted alone, and its parent goes on without it.
func TestUnfinishedRunsAreNotDeleted(t *testing.T) {
	t.Run("a run at work", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f, ids := layered(t, "two")
			defer f.Close()
			synctest.Wait()
			for _, id := range ids {
				wantKept(t, f, id, "has not finished")
			}
		})
	})
	t.Run("a finished part of a run at work", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f, ids := layered(t, "two")
			defer f.Close()
			synctest.Wait()
			if err := f.CancelRun(t.Context(), ids[2], "enough"); err != nil {
				t.Fatal(err)
			}
			f.end()
			f.model.answer = func(ctx context.Context, _ model.Request) (*model.Response, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			if _, err := f.SendMessage(t.Context(), "r", "go on"); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			wantKept(t, f, ids[2], "is a part of run r, which has not finished")
			wantKept(t, f, ids[1], "is a part of run r, which has not finished")
			wantKept(t, f, "r", "run r has not finished")
		})
	})
	t.Run("a finished run with a part at work", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f, ids := layered(t, "wait")
			defer f.Close()
			f.end()
			if _, err := f.SendMessage(t.Context(), ids[2], "wait"); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			wantKept(t, f, "r", "run "+ids[2]+" has not finished")
		})
	})
	t.Run("all have finished", func(t *testing.T) {
		f, ids := layered(t, "")
		f.end()
		if got, err := f.DeleteRun(t.Context(), ids[1]); err != nil || !slices.Equal(got, ids[1:]) {
			t.Fatalf("it deleted %q, %v", got, err)
		}
		before := uint64(len(durable(f.watch(0))))
		if _, err := f.SendMessage(t.Context(), "r", "and now"); err != nil {
			t.Fatal(err)
		}
		if events := f.watch(before); len(events) == 0 || events[len(events)-1].Payload.Type() != loop.TypeRunFinished {
			t.Errorf("the parent goes on with %v", types(events))
		}
	})
}

// A run that another process has claimed stays.
func TestClaimedRunsAreNotDeleted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	open := func() *sqlite.Store {
		store, err := sqlite.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { store.Close() })
		return store
	}
	mine, other := open(), open()
	f := newFixture(t, turns(response(model.StopEndTurn, text("done"))), newTools(echo), func(c *agent.Config) { c.Store = mine })
	f.start(loop.Task{})
	f.end()
	f.Close() // the run is not at work any more
	f.open(func(c *agent.Config) { c.Store = mine })
	if _, err := other.Claim("r"); err != nil {
		t.Fatal(err)
	}
	wantKept(t, f, "r", "another process works on the run")
	other.Release("r", 0)
	if _, err := f.DeleteRun(t.Context(), "r"); err != nil {
		t.Error(err)
	}
}

// Finished runs expire by their age and by their number. A run that works, or whose sub-run does,
// does not.
func TestExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &fakeModel{answer: func(ctx context.Context, req model.Request) (*model.Response, error) {
			switch last := lastText(req); {
			case last == "wait":
				<-ctx.Done()
				return nil, ctx.Err()
			case last == "delegate":
				return response(model.StopToolUse, newTask("a", `{"task":"part"}`)), nil
			}
			return response(model.StopEndTurn, text("done")), nil
		}}
		var keep agent.Retention
		configure := func(c *agent.Config) { withSystem(c); c.Retention = keep }
		f := newFixture(t, m, newTools(echo), configure)
		for _, run := range [][2]string{{"oldest", "p"}, {"parent", "delegate"}, {"busy", "delegate"}, {"newest", "p"}} {
			if _, err := f.StartRun(t.Context(), loop.Task{RunID: run[0], Prompt: run[1]}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour) // fake time
		}
		time.Sleep(time.Hour)
		if _, err := f.StartRun(t.Context(), loop.Task{RunID: "works", Prompt: "wait"}); err != nil {
			t.Fatal(err)
		}
		if _, err := f.SendMessage(t.Context(), loop.SubRunID("busy", "busy.t1.c0"), "wait"); err != nil {
			t.Fatal(err)
		}
		if _, err := f.SendMessage(t.Context(), loop.SubRunID("parent", "parent.t1.c0"), "and then"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		defer f.Close()
		begun := time.Now()
		for _, test := range []struct {
			keep  agent.Retention
			after time.Duration // since the message to the sub-run of parent
			want  string
		}{
			{agent.Retention{}, 1000 * time.Hour, ""},
			{agent.Retention{Keep: 5 * time.Hour}, -time.Minute, ""},
			{agent.Retention{Keep: 5 * time.Hour}, 0, "oldest"},
			{agent.Retention{Keep: 5 * time.Hour}, 5*time.Hour - time.Minute, "newest oldest"},
			{agent.Retention{Keep: 5 * time.Hour}, 5 * time.Hour, "newest parent oldest"},
			{agent.Retention{MaxCount: 4}, 0, ""},
			{agent.Retention{MaxCount: 2}, 0, "parent oldest"},
			{agent.Retention{Keep: 1000 * time.Hour, MaxCount: 3}, 0, "oldest"},
		} {
			keep = test.keep
			cfg := agent.Config{Store: f.store, Model: m, Tools: f.tools}
			configure(&cfg)
			if err := f.Reconfigure(cfg); err != nil {
				t.Fatal(err)
			}
			got, err := f.Expired(t.Context(), begun.Add(test.after))
			if err != nil || strings.Join(got, " ") != test.want {
				t.Errorf("%+v after %v: %q, %v; want %q", test.keep, test.after, got, err, test.want)
			}
		}
	})
}
