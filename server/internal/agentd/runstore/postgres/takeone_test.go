//go:build more

package postgres_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/storetest"
)

// A store takes the family that a run names if anything in it is due, and otherwise says when
// something is, by the clock of the database.
func TestTakeFamily(t *testing.T) {
	s := postgrestest.Shared(t)
	name := s.Create(t)
	owner, taker := open(t, s.URL(name)), open(t, s.URL(name))
	for _, run := range []struct {
		id, parent string
		finished   bool
	}{{"r", "", false}, {"r-child", "r", false}, {"r-ended", "r", true}, {"other", "", false}, {"ended", "", true}} {
		batch := runstore.Batch{RunID: run.id, Records: storetest.Records(1, 1), Head: runstore.Head{Unfinished: !run.finished, Ended: run.finished, Parent: run.parent}}
		if err := owner.Append(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	epochs := map[string]uint64{"r": 0, "r-child": 0}
	take := func(id string, wanted error, want ...string) runstore.Due {
		t.Helper()
		due, err := taker.TakeFamily(t.Context(), id)
		if !errors.Is(err, wanted) {
			t.Fatalf("%s: %v, want %v", id, err, wanted)
		}
		var got []string
		for _, k := range due.Taken {
			got, epochs[k.ID] = append(got, k.ID), k.Epoch
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Fatalf("%s: took %q, want %q", id, got, want)
		}
		return due
	}
	leave := func(store runstore.Sharing, wait, waitOfChild time.Duration) {
		t.Helper()
		if !store.Leave([]runstore.Leaving{{RunID: "r", Epoch: epochs["r"], Wait: wait}, {RunID: "r-child", Epoch: epochs["r-child"], Wait: waitOfChild}}) {
			t.Fatal("the family was not left")
		}
	}
	take("r", runstore.ErrClaimed)
	take("nothing", runstore.ErrNotFound)
	take("ill\x00formed", runstore.ErrNotFound)
	if due := take("ended", nil); due.Live {
		t.Errorf("a run that has ended: %+v", due)
	}
	for _, id := range []string{"r-child", "r", "ended"} {
		owner.Release(id, 0)
	}
	take("r", nil, "r", "r-child")
	take("r", runstore.ErrClaimed) // by this store
	leave(taker, 0, 0)
	if due := take("r", nil); !due.Live || due.Wait != 0 {
		t.Errorf("a family that waits for requests: %+v", due)
	}
	s.Do(t, name, "UPDATE agentd_runs SET wake_at = now() + interval '3 hours' WHERE id = 'r-child'")
	if due := take("r", nil); !due.Live || due.Wait < 2*time.Hour || due.Wait > 3*time.Hour {
		t.Errorf("a family that waits for a time: %+v", due)
	}
	s.Do(t, name, "UPDATE agentd_runs SET wake_at = now(), stalled = 3 WHERE id = 'r-child'")
	if due := take("r", nil); !due.Live || due.Wait != 0 {
		t.Errorf("a family with a parked run: %+v", due)
	}
	s.Do(t, name, "UPDATE agentd_runs SET wake_at = now(), stalled = 0 WHERE id = 'r-child'")
	take("r", nil, "r", "r-child")
	leave(taker, time.Hour, 0)
	for _, id := range []string{"r-child", "ended"} {
		if err := owner.Post(t.Context(), runstore.Entry{EntryRef: runstore.EntryRef{RunID: id, ID: "e"}, Data: []byte("1")}); err != nil {
			t.Fatal(err)
		}
	}
	take("r", nil, "r", "r-child")
	take("ended", nil, "ended")
	take("other", runstore.ErrClaimed)
}

// TakeFamily counts the stores that a run may have ended, as TakeOver does, and leaves it then.
func TestTakeFamilyParks(t *testing.T) {
	s := postgrestest.Shared(t)
	name := s.Create(t)
	store := open(t, s.URL(name))
	head := runstore.Head{Unfinished: true}
	write := func(after, epoch uint64) {
		t.Helper()
		if err := store.Append(t.Context(), runstore.Batch{RunID: "r", After: after, Epoch: epoch, Records: storetest.Records(int(after)+1, 1), Head: head}); err != nil {
			t.Fatal(err)
		}
	}
	write(0, 0)
	s.Do(t, name, "INSERT INTO agentd_nodes (node, since, renewed) VALUES (1, '2020-01-01', '2020-01-01')")
	take := func() (runstore.Due, error) {
		t.Helper()
		later(t, s, name)
		s.Do(t, name, "UPDATE agentd_runs SET claimer = 1")
		return store.TakeFamily(t.Context(), "r")
	}
	for range runstore.MaxStalled - 1 {
		if due, err := take(); err != nil || len(due.Taken) != 1 {
			t.Fatalf("taken: %+v, %v", due, err)
		}
	}
	for range 2 {
		if due, err := take(); !errors.Is(err, runstore.ErrParked) || len(due.Taken) > 0 {
			t.Fatalf("a run that ended %d agentds: %+v, %v", runstore.MaxStalled, due, err)
		}
		if err := store.Post(t.Context(), runstore.Entry{EntryRef: runstore.EntryRef{RunID: "r", ID: "e"}, Data: []byte("1")}); err != nil {
			t.Fatal(err)
		}
	}
	epoch, err := store.Claim("r")
	if err != nil {
		t.Fatal(err)
	}
	write(1, epoch)
	if due, err := take(); err != nil || len(due.Taken) != 1 {
		t.Errorf("after a record: %+v, %v", due, err)
	}
}
