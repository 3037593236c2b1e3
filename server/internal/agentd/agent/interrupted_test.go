package agent_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/sqlite"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/storetest"
	"github.com/toolhost/toolhost/tool"
)

// Another process sees in lists and lookups whether an agent works on a run, and cannot take such a
// run.
func TestInterruptedRuns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	open := func() *sqlite.Store {
		store, err := sqlite.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		return store
	}
	stuck := &fakeModel{answer: func(ctx context.Context, _ model.Request) (*model.Response, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	newAgent := func() *agent.Agent {
		a, err := agent.New(agent.Config{Store: open(), Model: stuck, Tools: newTools(echo)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(a.Close)
		return a
	}
	works, looks := newAgent(), newAgent()
	for _, task := range []loop.Task{{RunID: "served", Prompt: "p"}, {RunID: "foreground", Prompt: "p", Foreground: true}} {
		if _, err := works.StartRun(t.Context(), task); err != nil {
			t.Fatal(err)
		}
	}
	states := func(want agent.RunState) {
		t.Helper()
		runs, _, err := looks.ListRuns(t.Context(), agent.RunQuery{States: []agent.RunState{want}})
		if err != nil || len(runs) != 2 {
			t.Errorf("%d runs are %s, %v", len(runs), want, err)
		}
		for _, id := range []string{"served", "foreground"} {
			if r, err := looks.GetRun(t.Context(), id); err != nil || r.State() != want {
				t.Errorf("run %s is %s, want %s: %v", id, r.State(), want, err)
			}
		}
	}
	states(agent.RunRunning)
	if err := looks.ResumeRun(t.Context(), "served"); tool.KindOf(err) != tool.KindConflict {
		t.Errorf("a second agent takes the run: %v", err)
	}
	if n, err := looks.Resume(t.Context()); n != 0 || err != nil {
		t.Errorf("a second agent takes %d runs, %v", n, err)
	}
	works.Close()
	states(agent.RunInterrupted)
	if n, err := looks.Resume(t.Context()); n != 1 || err != nil {
		t.Errorf("the next agent goes on with %d runs, %v; want the one that is not in the foreground", n, err)
	}
	if r, err := looks.GetRun(t.Context(), "served"); err != nil || r.State() != agent.RunRunning {
		t.Errorf("the run that goes on is %s: %v", r.State(), err)
	}
}

// countedStore counts the requests to a store that may be on another machine.
type countedStore struct {
	*sqlite.Store
	requests atomic.Int64
}

func (s *countedStore) List(ctx context.Context, q runstore.Query) ([]runstore.Run, error) {
	s.requests.Add(1)
	return s.Store.List(ctx, q)
}

func (s *countedStore) Get(ctx context.Context, id string) (runstore.Run, error) {
	s.requests.Add(1)
	return s.Store.Get(ctx, id)
}

func (s *countedStore) Claimed(ids []string) (map[string]bool, error) {
	s.requests.Add(1)
	return s.Store.Claimed(ids)
}

func (s *countedStore) Claim(id string) (uint64, error) {
	s.requests.Add(1)
	return s.Store.Claim(id)
}

func (s *countedStore) ClaimAll(ids []string) (map[string]uint64, error) {
	s.requests.Add(1)
	return s.Store.ClaimAll(ids)
}

// A list leaves out a run that is deleted while it is made.
func TestARunIsDeletedDuringAList(t *testing.T) {
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, id := range []string{"stays", "goes"} {
		head := runstore.Head{Unfinished: true, Summary: []byte(`{"prompt":"p"}`)}
		if err := db.Append(t.Context(), runstore.Batch{RunID: id, Records: storetest.Records(1, 1), Head: head}); err != nil {
			t.Fatal(err)
		}
	}
	a, err := agent.New(agent.Config{Store: &deletingStore{db}, Model: turns(), Tools: newTools(echo)})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	listed, _, err := a.ListRuns(t.Context(), agent.RunQuery{})
	if err != nil || len(listed) != 1 || listed[0].ID != "stays" || !listed[0].Interrupted {
		t.Errorf("%+v, %v", listed, err)
	}
}

// deletingStore deletes a run when it is asked which runs are claimed.
type deletingStore struct{ *sqlite.Store }

func (s *deletingStore) Claimed(ids []string) (map[string]bool, error) {
	if err := s.Delete(context.Background(), runstore.Deletion{Last: map[string]uint64{"goes": 1}}); err != nil {
		return nil, err
	}
	return s.Store.Claimed(ids)
}

// Requests to the store do not grow with the number of runs on a page.
func TestManyInterruptedRuns(t *testing.T) {
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const runs = 30
	for n := range runs {
		head := runstore.Head{Unfinished: true, Summary: []byte(`{"prompt":"p"}`)}
		if err := db.Append(t.Context(), runstore.Batch{RunID: fmt.Sprint("r", n), Records: storetest.Records(1, 1), Head: head}); err != nil {
			t.Fatal(err)
		}
	}
	store := &countedStore{Store: db}
	a, err := agent.New(agent.Config{Store: store, Model: turns(), Tools: newTools(echo)})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for _, c := range []struct {
		name string
		do   func() (int, error)
	}{
		{"list", func() (int, error) {
			listed, _, err := a.ListRuns(t.Context(), agent.RunQuery{States: []agent.RunState{agent.RunInterrupted}})
			return len(listed), err
		}},
		{"resume", func() (int, error) { return a.Resume(t.Context()) }},
	} {
		before := store.requests.Load()
		if n, err := c.do(); n != runs || err != nil {
			t.Errorf("%s: %d runs, %v", c.name, n, err)
		}
		if n := store.requests.Load() - before; n > 5 {
			t.Errorf("%s: %d requests", c.name, n)
		}
	}
}
