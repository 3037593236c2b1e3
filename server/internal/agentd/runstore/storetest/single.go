package storetest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

func testAppendThenRead(t *testing.T, store runstore.Store) {
	Must(t, store, "r", 0, 1)
	Must(t, store, "r", 1, 3)
	Want(t, store, "r", 4)
	got := Collect(t, store, "r", 2)
	if len(got) != 2 || got[0].Seq != 3 || got[1].Seq != 4 {
		t.Errorf("reading after 2 gave %v", got)
	}
}

func testReadAfterTheLast(t *testing.T, store runstore.Store) {
	Must(t, store, "r", 0, 2)
	for _, after := range []uint64{2, 3, 1 << 63, 1<<64 - 1} {
		if got := Collect(t, store, "r", after); len(got) != 0 {
			t.Errorf("reading after %d gave %v", after, got)
		}
	}
}

func testConflicts(t *testing.T, store runstore.Store) {
	Must(t, store, "r", 0, 2)
	for _, after := range []uint64{0, 1, 3, 1 << 62} {
		err := store.Append(t.Context(), runstore.Batch{RunID: "r", After: after, Records: Records(9, 1)})
		wantError(t, err, runstore.ErrConflict)
	}
	wantError(t, store.Append(t.Context(), runstore.Batch{RunID: "new", After: 1, Records: Records(9, 1)}), runstore.ErrConflict)
	Want(t, store, "r", 2)
	if run, err := store.Get(t.Context(), "r"); err != nil || !run.Head.Unfinished {
		t.Errorf("a refused batch changed the head: %+v, %v", run, err)
	}
	_, err := store.Get(t.Context(), "new")
	wantError(t, err, runstore.ErrNotFound)
}

func testBadBatches(t *testing.T, store runstore.Store) {
	good := Records(1, 1)
	noType, badData := Records(1, 1), Records(1, 1)
	noType[0].Type, badData[0].Data = "", json.RawMessage(`{"torn`)
	for name, batch := range map[string]runstore.Batch{
		"no run":      {Records: good},
		"no records":  {RunID: "r"},
		"no type":     {RunID: "r", Records: noType},
		"bad data":    {RunID: "r", Records: badData},
		"bad summary": {RunID: "r", Records: good, Head: runstore.Head{Summary: json.RawMessage("x")}},
	} {
		if err := store.Append(t.Context(), batch); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	_, err := store.Get(t.Context(), "r")
	wantError(t, err, runstore.ErrNotFound)
}

func testNotFound(t *testing.T, store runstore.Store) {
	Must(t, store, "r", 0, 1)
	_, err := store.Get(t.Context(), "x")
	wantError(t, err, runstore.ErrNotFound)
	_, err = store.List(t.Context(), runstore.Query{Before: "x"})
	wantError(t, err, runstore.ErrNotFound)
	yields := 0
	for _, err := range store.Read(t.Context(), "x", 0) {
		yields++
		wantError(t, err, runstore.ErrNotFound)
	}
	if yields != 1 {
		t.Errorf("reading a run that does not exist yielded %d times", yields)
	}
}

func testHead(t *testing.T, store runstore.Store) {
	first, second := Records(1, 2), Records(3, 1)
	head := runstore.Head{Unfinished: true, Summary: json.RawMessage(`{"turns":1}`)}
	if err := store.Append(t.Context(), runstore.Batch{RunID: "r", Records: first, Head: head}); err != nil {
		t.Fatal(err)
	}
	want := runstore.Run{ID: "r", CreateTime: first[0].Time, UpdateTime: first[1].Time, LastSeq: 2, Head: head}
	got, err := store.Get(t.Context(), "r")
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if err := store.Append(t.Context(), runstore.Batch{RunID: "r", After: 2, Records: second}); err != nil {
		t.Fatal(err)
	}
	want.UpdateTime, want.LastSeq, want.Head = second[0].Time, 3, runstore.Head{}
	got, err = store.Get(t.Context(), "r")
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func testCancelled(t *testing.T, store runstore.Store) {
	Must(t, store, "r", 0, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantError(t, store.Append(ctx, runstore.Batch{RunID: "r", After: 1, Records: Records(2, 1)}), context.Canceled)
	_, err := store.Get(ctx, "r")
	wantError(t, err, context.Canceled)
	_, err = store.Snapshot(ctx, "r")
	wantError(t, err, context.Canceled)
	_, err = store.List(ctx, runstore.Query{})
	wantError(t, err, context.Canceled)
	for _, err := range store.Read(ctx, "r", 0) {
		wantError(t, err, context.Canceled)
	}
	Want(t, store, "r", 1)
}

func testStopsWhenTold(t *testing.T, store runstore.Store) {
	Must(t, store, "r", 0, 300)
	seen := 0
	for rec, err := range store.Read(t.Context(), "r", 0) {
		if err != nil {
			t.Fatal(err)
		}
		seen++
		if rec.Seq == 200 {
			break
		}
	}
	if seen != 200 {
		t.Errorf("saw %d records, want 200", seen)
	}
	Must(t, store, "r", 300, 1) // the reader holds nothing any more
}

func testGrowsWhileRead(t *testing.T, store runstore.Store) {
	Must(t, store, "r", 0, 1)
	seen := uint64(0)
	for rec, err := range store.Read(t.Context(), "r", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if seen++; rec.Seq != seen {
			t.Fatalf("record %d has seq %d", seen, rec.Seq)
		}
		if seen < 500 {
			Must(t, store, "r", seen, 1)
		}
	}
	if seen != 500 {
		t.Errorf("a reader that keeps pace with its writer saw %d of 500", seen)
	}
}

func testIsolated(t *testing.T, store runstore.Store) {
	data := []byte(`{"n":1}`)
	summary := []byte(`{"s":1}`)
	batch := runstore.Batch{RunID: "r", Records: Records(1, 1), Head: runstore.Head{Summary: summary}}
	batch.Records[0].Data = data
	if err := store.Append(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	copy(data, "SPOILED")
	copy(summary, "SPOILED")
	copy(Collect(t, store, "r", 0)[0].Data, "SPOILED")
	Want(t, store, "r", 1)
	if run, err := store.Get(t.Context(), "r"); err != nil || string(run.Head.Summary) != `{"s":1}` {
		t.Errorf("summary %s, %v", run.Head.Summary, err)
	}
}

func testLargeAndStrange(t *testing.T, store runstore.Store) {
	for i, text := range []string{
		strings.Repeat("x", 4<<20), "\x00 nul", "' ; DROP TABLE runs; --", "日本語 🙂 \u2028", "",
	} {
		data, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		rec := runstore.Record{Time: time.Unix(0, int64(i)), Type: "note", Data: data}
		id := "run-" + string(rune('a'+i))
		if err := store.Append(t.Context(), runstore.Batch{RunID: id, Records: []runstore.Record{rec}}); err != nil {
			t.Fatal(err)
		}
		if got := Collect(t, store, id, 0); len(got) != 1 || string(got[0].Data) != string(data) {
			t.Errorf("text %d came back changed", i)
		}
	}
}
