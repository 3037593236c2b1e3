package storetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

// testSnapshots checks all forms of Renewal.
func testSnapshots(t *testing.T, store runstore.Store) {
	Must(t, store, "r", 0, 1)
	wantSnapshot(t, store, "r", runstore.Snapshot{})
	after := uint64(1)
	renew := func(s *runstore.Renewal) {
		t.Helper()
		batch := runstore.Batch{RunID: "r", After: after, Records: Records(int(after)+1, 1), Snapshot: s}
		if err := store.Append(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		after++
	}
	renew(&runstore.Renewal{State: []byte("one"), Parts: parts("a", "b", "c")})
	wantSnapshot(t, store, "r", runstore.Snapshot{State: []byte("one"), Parts: parts("a", "b", "c")})
	renew(nil)
	wantSnapshot(t, store, "r", runstore.Snapshot{State: []byte("one"), Parts: parts("a", "b", "c")})
	renew(&runstore.Renewal{State: []byte("two"), Keep: 3, Parts: parts("d")})
	wantSnapshot(t, store, "r", runstore.Snapshot{State: []byte("two"), Parts: parts("a", "b", "c", "d")})
	renew(&runstore.Renewal{State: []byte("three"), Keep: 4})
	wantSnapshot(t, store, "r", runstore.Snapshot{State: []byte("three"), Parts: parts("a", "b", "c", "d")})
	renew(&runstore.Renewal{State: []byte("four"), Keep: 1, Parts: parts("\x00\xff", "")})
	wantSnapshot(t, store, "r", runstore.Snapshot{State: []byte("four"), Parts: parts("a", "\x00\xff", "")})
	renew(&runstore.Renewal{State: []byte("five"), Parts: parts("whole")})
	wantSnapshot(t, store, "r", runstore.Snapshot{State: []byte("five"), Parts: parts("whole")})
	Want(t, store, "r", int(after))
}

// testSnapshotsApart checks that a snapshot belongs to one run, is written with its append or not
// at all, and shares no memory with callers.
func testSnapshotsApart(t *testing.T, store runstore.Store) {
	state, part := []byte("state"), []byte("part")
	first := runstore.Batch{RunID: "r", Records: Records(1, 1), Snapshot: &runstore.Renewal{State: state, Parts: [][]byte{part}}}
	if err := store.Append(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	copy(state, "SPOIL")
	copy(part, "SPOIL")
	Must(t, store, "other", 0, 1)
	late := runstore.Batch{RunID: "r", After: 7, Records: Records(1, 1), Snapshot: &runstore.Renewal{State: []byte("late")}}
	wantError(t, store.Append(t.Context(), late), runstore.ErrConflict)
	for _, bad := range []runstore.Renewal{{}, {State: []byte("x"), Keep: -1}} {
		if err := store.Append(t.Context(), runstore.Batch{RunID: "r", After: 1, Records: Records(2, 1), Snapshot: &bad}); err == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
	got, err := store.Snapshot(t.Context(), "r")
	if err != nil || len(got.Parts) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	copy(got.State, "SPOIL")
	copy(got.Parts[0], "SPOIL")
	wantSnapshot(t, store, "r", runstore.Snapshot{State: []byte("state"), Parts: parts("part")})
	wantSnapshot(t, store, "other", runstore.Snapshot{})
	_, err = store.Snapshot(t.Context(), "x")
	wantError(t, err, runstore.ErrNotFound)
}

func parts(list ...string) [][]byte {
	var all [][]byte
	for _, text := range list {
		all = append(all, []byte(text))
	}
	return all
}

func wantSnapshot(t *testing.T, store runstore.Store, runID string, want runstore.Snapshot) {
	t.Helper()
	got, err := store.Snapshot(t.Context(), runID)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
		t.Errorf("snapshot of %s: %v (-want +got):\n%s", runID, err, diff)
	}
}
