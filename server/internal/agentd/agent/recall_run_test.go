package agent_test

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/agentd/snapshot"
)

// countingStore counts the records that are read, and can corrupt snapshots.
type countingStore struct {
	runstore.Store
	read  atomic.Int64
	spoil func(*runstore.Snapshot) error // nil: nothing
}

func (s *countingStore) Read(ctx context.Context, runID string, after uint64) iter.Seq2[runstore.Record, error] {
	return func(yield func(runstore.Record, error) bool) {
		for rec, err := range s.Store.Read(ctx, runID, after) {
			s.read.Add(1)
			if !yield(rec, err) {
				return
			}
		}
	}
}

func (s *countingStore) Snapshot(ctx context.Context, runID string) (runstore.Snapshot, error) {
	snapshot, err := s.Store.Snapshot(ctx, runID)
	if s.spoil != nil {
		err = errors.Join(err, s.spoil(&snapshot))
	}
	return snapshot, err
}

// resumed finishes a run of some turns that began at a given time, starts another agent with its
// journal, and lets the run answer a message. It returns the request for the answer, the number of
// records that were read for it, and the run's final snapshot.
func resumed(t *testing.T, begun time.Duration, turnsOfARun int, spoil func(*runstore.Snapshot) error) (req model.Request, read int64, left runstore.Snapshot) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(begun) // virtual
		var answers []*model.Response
		for range turnsOfARun {
			answers = append(answers, response(model.StopToolUse, call("", "echo")))
		}
		answers = append(answers, response(model.StopEndTurn, text("done")), response(model.StopEndTurn, text("and that")))
		f := newFixture(t, turns(answers...), newTools(echo), nil)
		store := &countingStore{Store: f.store}
		change := func(c *agent.Config) { c.Store, c.SnapshotEvery = store, 0 }
		f.Close()
		f.open(change)
		f.start(loop.Task{Limits: loop.Limits{MaxTurns: 1 << 20, MaxCalls: 1 << 20, MaxRepeats: 1 << 20}})
		f.end()
		f.Close()
		store.spoil = spoil
		f.open(change)
		defer f.Close()
		store.read.Store(0)
		seq, err := f.SendMessage(t.Context(), "r", "and that?")
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range f.WatchRun(t.Context(), "r", seq) {
			if err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		read = store.read.Load()
		asked := f.model.seen()
		req = asked[len(asked)-1]
		if left, err = f.store.Snapshot(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
	})
	return req, read, left
}

// The number of records that continuing a run reads does not depend on the length of its journal.
func TestGoingOnReadsLittle(t *testing.T) {
	for _, length := range []int{30, 700} {
		if _, read, _ := resumed(t, 0, length, nil); read > 100 {
			t.Errorf("after %d turns, %d records are read", length, read)
		}
	}
}

// A run continues from its journal if its snapshot is missing, corrupt or of another journal. The
// next snapshot is correct.
func TestAnyJournalGoesOn(t *testing.T) {
	const length = 50
	want, least, _ := resumed(t, 0, length, nil)
	_, _, other := resumed(t, time.Second, length, nil) // the same turns at different times
	_, _, longer := resumed(t, 0, 2*length, nil)
	for name, spoil := range map[string]func(*runstore.Snapshot) error{
		"none":               func(s *runstore.Snapshot) error { *s = runstore.Snapshot{}; return nil },
		"torn":               func(s *runstore.Snapshot) error { s.State = s.State[:len(s.State)/2]; return nil },
		"torn part":          func(s *runstore.Snapshot) error { s.Parts[0][9]++; return nil },
		"no parts":           func(s *runstore.Snapshot) error { s.Parts = nil; return nil },
		"of another journal": func(s *runstore.Snapshot) error { *s = other; return nil },
		"of a later journal": func(s *runstore.Snapshot) error { *s = longer; return nil },
		"cannot be read":     func(*runstore.Snapshot) error { return errors.New("the disk is broken") },
	} {
		t.Run(name, func(t *testing.T) {
			got, read, left := resumed(t, 0, length, spoil)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the model is asked something else (-want +got):\n%s", diff)
			}
			if read <= least {
				t.Errorf("%d records were read, and %d from a snapshot", read, least)
			}
			s, _, err := snapshot.Read(&left)
			if err != nil || s.Seq() < 3*length {
				t.Errorf("afterwards the snapshot is of event %d: %v", s.Seq(), err)
			}
		})
	}
}
