package storetest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

// watcher has what it learned of the decisions of runs: only a position and the sets.
type watcher struct {
	query   runstore.ChangedQuery
	waiting map[string]string
}

// read reads one page.
func (w *watcher) read(t *testing.T, store runstore.Store) {
	t.Helper()
	runs, next, err := store.Changed(t.Context(), w.query)
	if err != nil {
		t.Error(err)
		return
	}
	for _, r := range runs {
		if delete(w.waiting, r.ID); len(r.Head.Decisions) > 0 {
			w.waiting[r.ID] = string(r.Head.Decisions)
		}
	}
	w.query.After = next
}

// present returns the decisions that runs wait for, by run.
func present(t *testing.T, store runstore.Store) map[string]string {
	t.Helper()
	runs, _, err := store.Waiting(t.Context(), runstore.WaitingQuery{})
	if err != nil {
		t.Error(err)
	}
	all := map[string]string{}
	for _, r := range runs {
		all[r.ID] = string(r.Head.Decisions)
	}
	return all
}

// testChanged checks what Changed returns of single changes.
func testChanged(t *testing.T, store runstore.Store) {
	last := map[string]uint64{}
	put := func(id, decisions, owner string) {
		t.Helper()
		head := runstore.Head{Unfinished: true, Decisions: []byte(decisions), Owner: owner, Tenant: "red", DecideBy: time.Unix(9, 0)}
		if err := store.Append(t.Context(), runstore.Batch{RunID: id, After: last[id], Records: Records(int(last[id])+1, 1), Head: head}); err != nil {
			t.Fatal(err)
		}
		last[id]++
	}
	changed := func(q runstore.ChangedQuery) (ids []string, next int64) {
		t.Helper()
		runs, next, err := store.Changed(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range runs {
			ids = append(ids, fmt.Sprintf("%s %s", r.ID, r.Head.Decisions))
		}
		return ids, next
	}
	readable := func(change string) { // an append that is open somewhere else may hold it back
		t.Helper()
		eventually.Holds(t, "the change "+change+" can be read", func() bool {
			ids, _ := changed(runstore.ChangedQuery{})
			return slices.Contains(ids, change)
		})
	}
	put("works", "", "ada")
	_, start := changed(runstore.ChangedQuery{After: runstore.Now})
	put("works", "", "ada")
	put("a", `["1"]`, "ada")
	put("b", `["1"]`, "bob")
	put("c", "", "ada")
	put("c", `["1"]`, "ada")
	put("a", "", "ada")
	readable("a ")
	for _, test := range []struct {
		query runstore.ChangedQuery
		want  []string
	}{
		{runstore.ChangedQuery{After: start}, []string{`b ["1"]`, `c ["1"]`, "a "}}, {runstore.ChangedQuery{}, []string{`b ["1"]`, `c ["1"]`, "a "}},
		{runstore.ChangedQuery{After: start, Owner: "ada"}, []string{`c ["1"]`, "a "}}, {runstore.ChangedQuery{After: start, Tenant: "blue"}, nil},
		{runstore.ChangedQuery{After: start, Limit: 2}, []string{`b ["1"]`, `c ["1"]`}}, {runstore.ChangedQuery{After: runstore.Now}, nil},
	} {
		got, next := changed(test.query)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", test.query, diff)
		}
		test.query.After = next
		if rest, _ := changed(test.query); (len(rest) > 0) != (test.query.Limit == 2) {
			t.Errorf("after %+v: %q", test.query, rest)
		}
	}
	_, now := changed(runstore.ChangedQuery{After: runstore.Now})
	if err := store.Delete(t.Context(), runstore.Deletion{Time: time.Unix(9, 0), Last: map[string]uint64{"a": last["a"]}}); err != nil {
		t.Fatal(err)
	}
	put("d", `["1"]`, "ada")
	readable(`d ["1"]`)
	if got, _ := changed(runstore.ChangedQuery{After: now}); !slices.Equal(got, []string{`d ["1"]`}) {
		t.Errorf("after a run was deleted: %q", got)
	}
	if _, _, err := store.Changed(t.Context(), runstore.ChangedQuery{After: math.MaxInt64}); !errors.Is(err, runstore.ErrPosition) {
		t.Errorf("a position of another store: %v", err)
	}
}

// testWatchers compares watchers that begin, read and pause at any time with the store: each has
// what runs wait for in the end, whatever it has missed.
func testWatchers(t *testing.T, store runstore.Store) {
	const writers, steps = 4, 60
	var writing, reading sync.WaitGroup
	done := make(chan struct{})
	for n := range writers {
		random := rand.New(rand.NewPCG(uint64(n), 7))
		writing.Go(func() { // ends after its steps
			last := map[string]uint64{}
			for step := range steps {
				id := fmt.Sprintf("run %d-%d", n, random.IntN(3))
				head := runstore.Head{Unfinished: true}
				if random.IntN(3) > 0 {
					head.Decisions = fmt.Appendf(nil, "[%d]", step)
				}
				if err := store.Append(t.Context(), runstore.Batch{RunID: id, After: last[id], Records: Records(int(last[id])+1, 1), Head: head}); err != nil {
					t.Error(err)
					return
				}
				last[id]++
			}
		})
	}
	watchers := make([]*watcher, 6)
	for n := range watchers {
		w := &watcher{query: runstore.ChangedQuery{Limit: n}, waiting: map[string]string{}}
		watchers[n] = w
		reading.Go(func() { // ends after the writers
			if n%2 == 1 { // begins with the present state, which belongs to a position before it
				_, now, err := store.Changed(t.Context(), runstore.ChangedQuery{After: runstore.Now})
				if err != nil {
					t.Error(err)
					return
				}
				w.query.After, w.waiting = now, present(t, store)
			}
			for {
				select {
				case <-done:
					return
				default:
					w.read(t, store)
				}
			}
		})
	}
	writing.Wait()
	close(done)
	reading.Wait()
	want := present(t, store)
	for n, w := range watchers {
		eventually.Shows(t, fmt.Sprintf("watcher %d has what waits", n), func() (bool, any) {
			w.read(t, store)
			diff := cmp.Diff(want, w.waiting)
			return diff == "", diff
		})
	}
}
