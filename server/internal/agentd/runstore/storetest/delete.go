package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

var whenDeleted = time.Date(2026, 5, 6, 7, 8, 9, 10, time.UTC)

// deletion deletes runs that have these last records.
func deletion(last map[string]uint64) runstore.Deletion {
	return runstore.Deletion{Time: whenDeleted, Last: last}
}

// begin appends the first two records of a run, with a content and a snapshot.
func begin(t *testing.T, store runstore.Store, runID, parent string) runstore.Content {
	t.Helper()
	attached := content(300 << 10)
	batch := runstore.Batch{
		RunID: runID, Records: Records(1, 2), Head: runstore.Head{Owner: "ada", Tenant: "red", Parent: parent}, Contents: []runstore.Content{attached},
		Snapshot: &runstore.Renewal{State: []byte("state"), Parts: parts("part")}, Spent: runstore.Spent{Day: 7, Tokens: 5},
	}
	if err := store.Append(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	return attached
}

// wantGone checks that nothing of a run is left, and that no run can have its id again.
func wantGone(t *testing.T, store runstore.Store, runID, digest string) {
	t.Helper()
	ctx := t.Context()
	_, got := store.Get(ctx, runID)
	_, snapshot := store.Snapshot(ctx, runID)
	_, content := store.Content(ctx, runID, digest)
	var read error
	for _, err := range store.Read(ctx, runID, 0) {
		read = err
	}
	_, listed := store.List(ctx, runstore.Query{Before: runID})
	for _, err := range []error{got, snapshot, content, read, listed, store.Delete(ctx, deletion(map[string]uint64{runID: 2}))} {
		wantError(t, err, runstore.ErrNotFound)
	}
	wantError(t, store.Append(ctx, runstore.Batch{RunID: runID, Records: Records(1, 1)}), runstore.ErrDeleted)
	wantError(t, store.Append(ctx, runstore.Batch{RunID: runID, After: 2, Records: Records(3, 1)}), runstore.ErrConflict)
}

func idsOf(t *testing.T, store runstore.Store, query runstore.Query) []string {
	t.Helper()
	runs, err := store.List(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, r := range runs {
		ids = append(ids, r.ID)
	}
	return ids
}

// testDelete checks that runs are deleted with all that they have, together or not at all.
func testDelete(t *testing.T, store runstore.Store) {
	attached := map[string]runstore.Content{}
	for _, run := range [][2]string{{"top", ""}, {"other", ""}, {"below", "top"}, {"deep", "below"}} {
		attached[run[0]] = begin(t, store, run[0], run[1])
	}
	if got := idsOf(t, store, runstore.Query{Parent: "top"}); !slices.Equal(got, []string{"below"}) {
		t.Errorf("the sub-runs of top are %q", got)
	}
	for _, other := range []runstore.Query{{Owner: "eve"}, {Tenant: "blue"}, {UnfinishedOnly: true}} {
		other.Parent = "top"
		if got := idsOf(t, store, other); got != nil {
			t.Errorf("%+v selects %q", other, got)
		}
	}
	for _, refused := range []struct {
		last map[string]uint64
		want error
	}{
		{map[string]uint64{"top": 2, "below": 2, "deep": 2, "absent": 1}, runstore.ErrNotFound},
		{map[string]uint64{"top": 2, "below": 2, "deep": 1}, runstore.ErrConflict},
		{map[string]uint64{"top": 2, "below": 2}, runstore.ErrConflict}, // deep stays
		{map[string]uint64{"top": 2}, runstore.ErrConflict},
	} {
		wantError(t, store.Delete(t.Context(), deletion(refused.last)), refused.want)
	}
	for _, id := range []string{"top", "other", "below", "deep"} {
		Want(t, store, id, 2)
	}
	if err := store.Delete(t.Context(), deletion(map[string]uint64{"top": 2, "below": 2, "deep": 2})); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"top", "below", "deep"} {
		wantGone(t, store, id, attached[id].SHA256)
	}
	Want(t, store, "other", 2)
	wantContent(t, store, "other", attached["other"])
	wantSnapshot(t, store, "other", runstore.Snapshot{State: []byte("state"), Parts: parts("part")})
	begin(t, store, "later", "")
	if got := idsOf(t, store, runstore.Query{}); !slices.Equal(got, []string{"later", "other"}) {
		t.Errorf("the runs are %q", got)
	}
	if spending, ok := store.(runstore.Spending); ok {
		if spent, err := spending.Spent(t.Context(), 7, runstore.Query{Owner: "ada"}); err != nil || spent.Tokens != 25 {
			t.Errorf("ada has spent %+v, %v", spent, err)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	wantError(t, store.Delete(cancelled, deletion(map[string]uint64{"other": 2})), context.Canceled)
	Want(t, store, "other", 2)
}

// testDeleteRaces checks that of an append and a deletion of the same run one happens. The other
// one changes nothing.
func testDeleteRaces(t *testing.T, store runstore.Store) {
	for i := range 40 {
		id := fmt.Sprintf("r%d", i)
		Must(t, store, id, 0, 1)
		var deleted, appended error
		var group sync.WaitGroup
		group.Go(func() { deleted = store.Delete(t.Context(), deletion(map[string]uint64{id: 1})) })
		group.Go(func() {
			appended = store.Append(t.Context(), runstore.Batch{RunID: id, After: 1, Records: Records(2, 1)})
		})
		group.Wait()
		switch {
		case deleted == nil && errors.Is(appended, runstore.ErrConflict):
			_, err := store.Get(t.Context(), id)
			wantError(t, err, runstore.ErrNotFound)
		case appended == nil && errors.Is(deleted, runstore.ErrConflict):
			Want(t, store, id, 2)
		default:
			t.Errorf("deleting %s: %v, and appending: %v", id, deleted, appended)
		}
	}
}
