package agent_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/tool"
)

// takes returns a tool that takes some time.
func takes(d time.Duration) func(context.Context, tool.Call, func(tool.Status)) tool.Outcome {
	return func(ctx context.Context, call tool.Call, status func(tool.Status)) tool.Outcome {
		time.Sleep(d) // virtual
		return echo(ctx, call, status)
	}
}

// The time budget does not include time in which no process worked on the run.
func TestTheTimeThatAgentdWasAwayDoesNotCount(t *testing.T) {
	for name, tc := range map[string]struct {
		limit time.Duration
		want  loop.StopReason
	}{
		"enough":     {10 * time.Minute, loop.StopEndTurn},
		"not enough": {3 * time.Minute, loop.StopWallTime},
		"no bound":   {0, loop.StopEndTurn},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := turns(
					response(model.StopToolUse, call("a", "echo")), response(model.StopToolUse, call("b", "echo")),
					response(model.StopToolUse, call("c", "echo")), response(model.StopEndTurn, text("done")),
				)
				f := newFixture(t, m, newTools(takes(2*time.Minute)), nil)
				f.start(loop.Task{Limits: loop.Limits{MaxWallTime: tc.limit}})
				for range 2 {
					time.Sleep(2*time.Minute + time.Second) // virtual; during a call
					f.Close()
					time.Sleep(time.Hour) // virtual
					f.open(nil)
					if _, err := f.Resume(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				events := f.watch(0)
				if end := events[len(events)-1].Payload.(*loop.RunFinished); end.StopReason != tc.want {
					t.Errorf("the run ended with %+v", end)
				}
				resumed := 0
				for _, e := range events {
					if e.Payload.Type() == loop.TypeRunResumed {
						resumed++
					}
				}
				if noted := resumed > 0; noted != (tc.limit > 0) {
					t.Errorf("it was noted %d times that the run went on: %v", resumed, types(events))
				}
			})
		})
	}
}

// fullStore fails all writes for a while.
type fullStore struct {
	runstore.Store
	full atomic.Bool
}

func (s *fullStore) Append(ctx context.Context, b runstore.Batch) error {
	if s.full.Load() {
		return errors.New("the disk is full")
	}
	return s.Store.Append(ctx, b)
}

// A run continues by itself when its journal can be written again, and makes no call twice.
func TestARunGoesOnOnceItsJournalCanBeWrittenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := turns(response(model.StopToolUse, call("a", "echo")), response(model.StopEndTurn, text("done")))
		f := newFixture(t, m, newTools(takes(time.Minute)), nil)
		store := &fullStore{Store: f.store}
		f.Close()
		f.open(func(c *agent.Config) { c.Store = store })
		f.start(loop.Task{})
		time.Sleep(time.Second) // virtual; the call is in progress
		store.full.Store(true)
		time.Sleep(10 * time.Minute) // virtual
		store.full.Store(false)
		time.Sleep(time.Minute) // virtual
		if end := f.end(); end.StopReason != loop.StopEndTurn || end.Text != "done" {
			t.Errorf("the run ended with %+v", end)
		}
		for id, n := range f.tools.executions() {
			if n != 1 {
				t.Errorf("call %s was executed %d times", id, n)
			}
		}
	})
}

// One broken summary affects neither the list of runs nor the other runs.
func TestABrokenSummaryDelaysNoOtherRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := turns(response(model.StopToolUse, call("a", "echo")), response(model.StopEndTurn, text("done")))
		f := newFixture(t, m, newTools(takes(time.Minute)), nil)
		store := &breakingStore{Store: f.store}
		f.start(loop.Task{})
		time.Sleep(time.Second) // virtual; the call is under way
		f.Close()
		f.open(func(c *agent.Config) { c.Store = store })
		runs, _, err := f.ListRuns(t.Context(), agent.RunQuery{})
		if err != nil || len(runs) != 1 || !runs[0].Unreadable || runs[0].ID != "r" || runs[0].LastSeq == 0 {
			t.Errorf("listed: %+v, %v", runs, err)
		}
		if n, err := f.Resume(t.Context()); n != 1 || err != nil {
			t.Fatalf("%d runs go on, %v", n, err)
		}
		store.whole.Store(true)
		if end := f.end(); end.StopReason != loop.StopEndTurn {
			t.Errorf("the run ended with %+v", end)
		}
	})
}

// breakingStore returns broken summaries until it is repaired.
type breakingStore struct {
	runstore.Store
	whole atomic.Bool
}

func (s *breakingStore) List(ctx context.Context, q runstore.Query) ([]runstore.Run, error) {
	runs, err := s.Store.List(ctx, q)
	runs = slices.Clone(runs)
	for i := range runs {
		if !s.whole.Load() {
			runs[i].Head.Summary = []byte("{")
		}
	}
	return runs, err
}

// The model reads a message that arrives together with the end of the run. This holds also if the
// run would be complete, or if a result is returned directly to the user.
func TestAMessageThatComesWithTheEndIsRead(t *testing.T) {
	for name, last := range map[string]model.Block{
		"completion": {ToolCall: &model.ToolCall{ID: "c", Name: loop.SystemAttemptCompletion, Arguments: `{"result":"all done"}`}},
		"a result":   call("c", "direct"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := turns(response(model.StopToolUse, last), response(model.StopEndTurn, text("and that, too")))
				answer := m.answer
				m.answer = func(ctx context.Context, req model.Request) (*model.Response, error) {
					time.Sleep(time.Minute) // virtual
					return answer(ctx, req)
				}
				f := newFixture(t, m, newTools(echo), nil)
				f.start(loop.Task{SystemTools: []string{loop.SystemAttemptCompletion}})
				time.Sleep(time.Second) // virtual; the model is answering
				if _, err := f.SendMessage(t.Context(), "r", "and this"); err != nil {
					t.Fatal(err)
				}
				if end := f.end(); end.StopReason != loop.StopEndTurn || end.Text != "and that, too" {
					t.Errorf("the run ended with %+v", end)
				}
			})
		})
	}
}

// batches is a store that keeps what is appended.
type batches struct {
	runstore.Store
	mu   sync.Mutex
	list []runstore.Batch
}

func (s *batches) Append(ctx context.Context, b runstore.Batch) error {
	s.mu.Lock()
	s.list = append(s.list, b)
	s.mu.Unlock()
	return s.Store.Append(ctx, b)
}

// The event that work on a run goes on is no progress, or a run with a time budget that ends its
// agents would never be parked.
func TestGoingOnIsNoProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, turns(response(model.StopToolUse, call("a", "echo")), response(model.StopEndTurn, text("done"))), newTools(takes(3*time.Minute)), nil)
		f.start(loop.Task{Limits: loop.Limits{MaxWallTime: time.Hour}})
		time.Sleep(time.Minute)
		f.Close()
		store := &batches{Store: f.store}
		f.open(func(c *agent.Config) { c.Store = store })
		if err := f.ResumeRun(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		f.end()
		for i, b := range store.list {
			if first := i == 0; b.Resumed != first || first != (b.Records[0].Type == string(loop.TypeRunResumed)) {
				t.Errorf("batch %d, resumed: %t: %+v", i, b.Resumed, b.Records)
			}
		}
	})
}
