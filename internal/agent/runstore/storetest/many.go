package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/agent/runstore"
)

func testList(t *testing.T, store runstore.Store) {
	for i := range 7 {
		batch := runstore.Batch{RunID: fmt.Sprintf("r%d", i), Records: Records(1, 1), Head: runstore.Head{Unfinished: i%3 == 0}}
		if err := store.Append(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	// A later append does not move a run, so pages stay stable while runs grow.
	if err := store.Append(t.Context(), runstore.Batch{RunID: "r2", After: 1, Records: Records(2, 1)}); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		query runstore.Query
		want  []string
	}{
		{runstore.Query{}, []string{"r6", "r5", "r4", "r3", "r2", "r1", "r0"}},
		{runstore.Query{Limit: 3}, []string{"r6", "r5", "r4"}},
		{runstore.Query{Limit: 3, Before: "r4"}, []string{"r3", "r2", "r1"}},
		{runstore.Query{Limit: 3, Before: "r0"}, nil},
		{runstore.Query{UnfinishedOnly: true}, []string{"r6", "r3", "r0"}},
		{runstore.Query{UnfinishedOnly: true, Limit: 1, Before: "r5"}, []string{"r3"}},
	} {
		runs, err := store.List(t.Context(), test.query)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, run := range runs {
			got = append(got, run.ID)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", test.query, diff)
		}
	}
}

// testAppendersOfRuns checks that many runs can grow concurrently.
func testAppendersOfRuns(t *testing.T, store runstore.Store) {
	const runs, appends = 16, 20
	var group sync.WaitGroup
	for i := range runs {
		group.Go(func() {
			for seq := range uint64(appends) {
				batch := runstore.Batch{RunID: fmt.Sprint("r", i), After: seq, Records: Records(int(seq)+1, 1)}
				if err := store.Append(t.Context(), batch); err != nil {
					t.Errorf("run %d after %d: %v", i, seq, err)
					return
				}
			}
		})
	}
	group.Wait()
	for i := range runs {
		Want(t, store, fmt.Sprint("r", i), appends)
	}
}

// testAppendersOfOne checks that concurrent writers of one run never share a position.
func testAppendersOfOne(t *testing.T, store runstore.Store) {
	const writers, records = 8, 40
	var group sync.WaitGroup
	won := make([]int, writers)
	for w := range writers {
		group.Go(func() {
			for seq := uint64(0); seq < records; seq++ {
				err := store.Append(t.Context(), runstore.Batch{RunID: "r", After: seq, Records: Records(int(seq)+1, 1)})
				switch {
				case err == nil:
					won[w]++
				case !errors.Is(err, runstore.ErrConflict):
					t.Errorf("writer %d after %d: %v", w, seq, err)
					return
				}
			}
		})
	}
	group.Wait()
	total := 0
	for _, n := range won {
		total += n
	}
	if total != records {
		t.Errorf("%d appends were accepted for %d places", total, records)
	}
	Want(t, store, "r", records)
}

func testTenThousand(t *testing.T, store runstore.Store) {
	const total, size = 10_000, 250
	for after := 0; after < total; after += size {
		Must(t, store, "r", uint64(after), size)
	}
	Want(t, store, "r", total)
	if got := Collect(t, store, "r", total-1); len(got) != 1 || got[0].Seq != total {
		t.Errorf("the last record: %v", got)
	}
}

func testReopen(t *testing.T, h Harness) {
	store := h.New(t)
	for round := range 4 {
		Must(t, store, "r", uint64(round*3), 3)
		store = h.Reopen(t, store)
		Want(t, store, "r", round*3+3)
	}
	last := runstore.Batch{RunID: "s", Records: Records(1, 1), Snapshot: &runstore.Renewal{State: []byte("state"), Parts: parts("part")}}
	if err := store.Append(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	store = h.Reopen(t, store)
	wantSnapshot(t, store, "s", runstore.Snapshot{State: []byte("state"), Parts: parts("part")})
	run, err := store.Get(t.Context(), "r")
	if err != nil || run.LastSeq != 12 || !run.Head.Unfinished {
		t.Errorf("after reopening: %+v, %v", run, err)
	}
}
