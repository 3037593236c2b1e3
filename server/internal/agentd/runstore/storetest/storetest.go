// Package storetest is the conformance suite of runstore.Store. It checks what the agent relies on.
package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

// Harness creates the stores under test.
type Harness struct {
	// New returns an empty store, which ends with the test.
	New func(t *testing.T) runstore.Store
	// Reopen closes a store and returns one with the same content. Nil for a store that ends with
	// its process.
	Reopen func(t *testing.T, store runstore.Store) runstore.Store
}

// Run runs the suite.
func Run(t *testing.T, h Harness) {
	for name, test := range map[string]func(*testing.T, runstore.Store){
		"AppendThenRead":   testAppendThenRead,
		"Conflicts":        testConflicts,
		"BadBatches":       testBadBatches,
		"NotFound":         testNotFound,
		"Head":             testHead,
		"List":             testList,
		"Owners":           testOwners,
		"Waiting":          testWaiting,
		"Changed":          testChanged,
		"Watchers":         testWatchers,
		"Cancelled":        testCancelled,
		"GrowsWhileRead":   testGrowsWhileRead,
		"Isolated":         testIsolated,
		"AppendersOfRuns":  testAppendersOfRuns,
		"AppendersOfOne":   testAppendersOfOne,
		"TenThousand":      testTenThousand,
		"LargeAndStrange":  testLargeAndStrange,
		"StopsWhenTold":    testStopsWhenTold,
		"ReadAfterTheLast": testReadAfterTheLast,
		"Snapshots":        testSnapshots,
		"SnapshotsApart":   testSnapshotsApart,
		"Contents":         testContents,
		"BadContents":      testBadContents,
		"Delete":           testDelete,
		"DeleteRaces":      testDeleteRaces,
		"Outbox":           testOutbox,
		"Verdicts":         testVerdicts,
	} {
		t.Run(name, func(t *testing.T) { test(t, h.New(t)) })
	}
	if h.Reopen != nil {
		t.Run("Reopen", func(t *testing.T) { testReopen(t, h) })
	}
}

// Records returns n different records, numbered from from.
func Records(from, n int) []runstore.Record {
	records := make([]runstore.Record, n)
	for i := range records {
		records[i] = runstore.Record{
			Time:    time.Date(2026, 1, 2, 3, 4, 5, from+i, time.UTC),
			Type:    "note",
			Version: 1 + (from+i)%3,
			Data:    json.RawMessage(fmt.Sprintf(`{"n":%d}`, from+i)),
		}
	}
	return records
}

// Must appends n records to a run and fails the test if that fails.
func Must(t *testing.T, store runstore.Store, runID string, after uint64, n int) {
	t.Helper()
	MustUnder(t, store, runID, 0, after, n)
}

// Collect reads a run's journal and fails the test if that fails.
func Collect(t *testing.T, store runstore.Store, runID string, after uint64) []runstore.Record {
	t.Helper()
	var records []runstore.Record
	for rec, err := range store.Read(t.Context(), runID, after) {
		if err != nil {
			t.Fatalf("reading after %d: %v", after, err)
		}
		records = append(records, rec)
	}
	return records
}

// Want compares a run's journal with the first n of Records.
func Want(t *testing.T, store runstore.Store, runID string, n int) {
	t.Helper()
	want := Records(1, n)
	for i := range want {
		want[i].Seq = uint64(i + 1)
	}
	if diff := cmp.Diff(want, Collect(t, store, runID, 0)); diff != "" {
		t.Errorf("journal of %s (-want +got):\n%s", runID, diff)
	}
}

func wantError(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}
