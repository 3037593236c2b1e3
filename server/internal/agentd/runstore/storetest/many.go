package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

func testList(t *testing.T, store runstore.Store) {
	for i := range 7 {
		batch := runstore.Batch{RunID: fmt.Sprintf("r%d", i), Records: Records(1, 1), Head: runstore.Head{Unfinished: i%3 == 0, Ended: i%3 == 1}}
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
		{runstore.Query{OpenOnly: true}, []string{"r6", "r5", "r3", "r2", "r0"}},
		{runstore.Query{OpenOnly: true, Limit: 2, Before: "r4"}, []string{"r3", "r2"}}, // which has ended
		{runstore.Query{OpenOnly: true, UnfinishedOnly: true}, []string{"r6", "r3", "r0"}},
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

// testOwners checks that queries select the runs of an owner or a tenant, and that a page cannot
// begin after a run that the query does not select.
func testOwners(t *testing.T, store runstore.Store) {
	heads := map[string]runstore.Head{
		"red/1": {Owner: "red/ada", Tenant: "red"}, "red/2": {Owner: "red/bob", Tenant: "red"}, "3": {Owner: "ada", Tenant: "default"},
	}
	for _, id := range []string{"red/1", "red/2", "3"} {
		if err := store.Append(t.Context(), runstore.Batch{RunID: id, Records: Records(1, 1), Head: heads[id]}); err != nil {
			t.Fatal(err)
		}
	}
	testSpending(t, store)
	// Later appends do not change the owner.
	if err := store.Append(t.Context(), runstore.Batch{RunID: "red/1", After: 3, Records: Records(4, 1), Head: runstore.Head{Owner: "eve", Ended: true}}); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		query runstore.Query
		want  []string
	}{
		{runstore.Query{Owner: "red/ada"}, []string{"red/1"}}, {runstore.Query{Owner: "eve"}, nil}, {runstore.Query{Tenant: "red"}, []string{"red/2", "red/1"}},
		{runstore.Query{Tenant: "red", Before: "red/2"}, []string{"red/1"}}, {runstore.Query{Tenant: "red", OpenOnly: true}, []string{"red/2"}},
		{runstore.Query{Owner: "red/ada", OpenOnly: true}, nil}, {runstore.Query{}, []string{"3", "red/2", "red/1"}},
	} {
		page, err := store.List(t.Context(), test.query)
		var ids []string
		for i := range page {
			ids = append(ids, page[i].ID)
			if h := heads[page[i].ID]; page[i].Head.Owner != h.Owner || page[i].Head.Tenant != h.Tenant {
				t.Errorf("run %s belongs to %+v", page[i].ID, page[i].Head)
			}
		}
		if diff := cmp.Diff(test.want, ids); diff != "" || err != nil {
			t.Errorf("%+v: %v (-want +got):\n%s", test.query, err, diff)
		}
	}
	for _, query := range []runstore.Query{{Owner: "red/ada", Before: "3"}, {Tenant: "default", Before: "red/1"}} {
		_, err := store.List(t.Context(), query)
		wantError(t, err, runstore.ErrNotFound)
	}
}

// testSpending checks the sums of what the owners of the runs red/1, red/2 and 3 spend.
func testSpending(t *testing.T, store runstore.Store) {
	ledger, ok := store.(runstore.Spending)
	if !ok {
		t.Fatalf("a %T knows no spending", store)
	}
	for i, id := range []string{"red/1", "red/1", "red/2", "3"} {
		run, err := store.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		spent := runstore.Spent{Day: 7, Tokens: int64(10 + i), Cost: 0.5, Attached: int64(i)}
		if err := store.Append(t.Context(), runstore.Batch{RunID: id, After: run.LastSeq, Records: Records(int(run.LastSeq)+1, 1), Head: run.Head, Spent: spent}); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		day  int64
		of   runstore.Query
		want runstore.Spent
	}{
		{7, runstore.Query{Owner: "red/ada"}, runstore.Spent{Day: 7, Tokens: 21, Cost: 1, Attached: 1}}, {7, runstore.Query{Tenant: "red"}, runstore.Spent{Day: 7, Tokens: 33, Cost: 1.5, Attached: 3}},
		{7, runstore.Query{Owner: "eve"}, runstore.Spent{Day: 7}}, {8, runstore.Query{Tenant: "red"}, runstore.Spent{Day: 8}},
	} {
		if got, err := ledger.Spent(t.Context(), test.day, test.of); err != nil || got != test.want {
			t.Errorf("day %d, %+v: %+v, %v; want %+v", test.day, test.of, got, err, test.want)
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
	store, epoch := h.New(t), uint64(0)
	for round := range 4 {
		MustUnder(t, store, "r", epoch, uint64(round*3), 3)
		store = h.Reopen(t, store)
		if claims, ok := store.(runstore.Claims); ok {
			epoch = MustClaim(t, claims, "r")
		}
		Want(t, store, "r", round*3+3)
	}
	attached := content(700 << 10)
	last := runstore.Batch{RunID: "s", Records: Records(1, 1), Contents: []runstore.Content{attached}, Snapshot: &runstore.Renewal{State: []byte("state"), Parts: parts("part")}}
	if err := store.Append(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	store = h.Reopen(t, store)
	wantSnapshot(t, store, "s", runstore.Snapshot{State: []byte("state"), Parts: parts("part")})
	wantContent(t, store, "s", attached)
	run, err := store.Get(t.Context(), "r")
	if err != nil || run.LastSeq != 12 || !run.Head.Unfinished {
		t.Errorf("after reopening: %+v, %v", run, err)
	}
	if err := store.Delete(t.Context(), deletion(map[string]uint64{"s": 1})); err != nil {
		t.Fatal(err)
	}
	store = h.Reopen(t, store)
	wantError(t, store.Append(t.Context(), last), runstore.ErrDeleted)
	Want(t, store, "r", 12)
}
