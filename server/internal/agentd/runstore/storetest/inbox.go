package storetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

// Sharer is a store whose runs several servers work on.
type Sharer interface {
	Claimer
	runstore.Sharing
}

// RunInbox runs the suite of runstore.Inbox. open opens two stores of one journal without runs,
// which end with the test at the latest.
func RunInbox(t *testing.T, open func(t *testing.T) (one, other Sharer)) {
	for name, test := range map[string]func(t *testing.T, owner, other Sharer){
		"Consumed": testConsumed, "Refused": testRefused, "Fenced": testFencedInbox, "Leave": testLeave, "Families": testFamilies, "LeftRun": testLeftRun, "LeftFamily": testLeftFamily, "Delete": testDeleteInbox, "Full": testFull,
		"SameAtOnce": testSameAtOnce, "Positions": testPositions,
	} {
		t.Run(name, func(t *testing.T) {
			owner, other := open(t)
			Must(t, owner, "r", 0, 1)
			test(t, owner, other)
		})
	}
}

func ref(runID, id string) runstore.EntryRef { return runstore.EntryRef{RunID: runID, ID: id} }

func post(t *testing.T, store Sharer, runID, id string, contents ...runstore.Content) {
	t.Helper()
	err := store.Post(t.Context(), runstore.Entry{EntryRef: ref(runID, id), Data: json.RawMessage(`{"of":"` + id + `"}`), Contents: contents})
	if err != nil {
		t.Fatal(err)
	}
}

// consuming is a batch of one record that consumes an entry.
func consuming(runID, entry string, epoch, after uint64) runstore.Batch {
	b := under(runID, epoch, after, 1)
	b.Entry = entry
	return b
}

func wantEntries(t *testing.T, store Sharer, runID string, want ...string) {
	t.Helper()
	entries, err := store.Entries(t.Context(), runID)
	var ids []string
	for _, e := range entries {
		ids = append(ids, e.ID)
		if string(e.Data) != `{"of":"`+e.ID+`"}` || e.RunID != runID {
			t.Errorf("entry %s of run %s has %s", e.ID, e.RunID, e.Data)
		}
	}
	if !slices.Equal(ids, want) || err != nil {
		t.Errorf("the entries of %s: %q, %v, want %q", runID, ids, err, want)
	}
}

func wantOutcomes(t *testing.T, store Sharer, want map[runstore.EntryRef]runstore.Outcome, of ...runstore.EntryRef) {
	t.Helper()
	got, err := store.Outcomes(t.Context(), of)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func wantPosted(t *testing.T, store Sharer, want ...string) {
	t.Helper()
	runs, err := store.Posted(t.Context())
	var ids []string
	for i := range runs {
		ids = append(ids, runs[i].ID)
	}
	if slices.Sort(ids); !slices.Equal(ids, want) || err != nil {
		t.Errorf("posted: %q, %v, want %q", ids, err, want)
	}
}

func taken(t *testing.T, store Sharer) (ids []string, epochs map[string]uint64) {
	t.Helper()
	runs, err := store.TakeOver(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	epochs = make(map[string]uint64)
	for _, k := range runs {
		ids, epochs[k.ID] = append(ids, k.ID), k.Epoch
	}
	slices.Sort(ids)
	return ids, epochs
}

// An append consumes an entry once, with its contents, or writes nothing.
func testConsumed(t *testing.T, owner, other Sharer) {
	attached := content(3000)
	post(t, other, "r", "a", attached)
	post(t, other, "r", "b")
	post(t, owner, "r", "a") // it has it
	wantEntries(t, owner, "r", "a", "b")
	wantPosted(t, owner, "r")
	wantPosted(t, other)
	if _, err := owner.Content(t.Context(), "r", attached.SHA256); !errors.Is(err, runstore.ErrNotFound) {
		t.Errorf("before the append, the run has the content: %v", err)
	}
	wantOutcomes(t, other, map[runstore.EntryRef]runstore.Outcome{ref("r", "none"): {}, ref("none", "a"): {}}, ref("r", "a"), ref("r", "none"), ref("none", "a"))
	if err := owner.Append(t.Context(), consuming("r", "a", 0, 1)); err != nil {
		t.Fatal(err)
	}
	wantContent(t, owner, "r", attached)
	for _, entry := range []string{"a", "none"} {
		wantError(t, owner.Append(t.Context(), consuming("r", entry, 0, 2)), runstore.ErrConflict)
	}
	wantError(t, owner.Append(t.Context(), consuming("r", "b", 0, 1)), runstore.ErrConflict) // the journal has moved
	wantEntries(t, owner, "r", "b")
	if err := owner.Append(t.Context(), consuming("r", "b", 0, 2)); err != nil {
		t.Fatal(err)
	}
	Want(t, other, "r", 3)
	post(t, other, "r", "a") // a repetition
	wantEntries(t, owner, "r")
	wantPosted(t, owner)
	wantOutcomes(t, other, map[runstore.EntryRef]runstore.Outcome{ref("r", "a"): {Seq: 2}, ref("r", "b"): {Seq: 3}}, ref("r", "a"), ref("r", "b"))
	wantError(t, other.Post(t.Context(), runstore.Entry{EntryRef: ref("none", "a"), Data: json.RawMessage(`1`)}), runstore.ErrNotFound)
}

// A refusal is kept, and its contents go.
func testRefused(t *testing.T, owner, other Sharer) {
	attached := content(3000)
	post(t, other, "r", "a", attached)
	refused := runstore.Outcome{Seq: 1, Refusal: json.RawMessage(`{"why":"\u0000"}`)}
	if err := owner.Settle(t.Context(), ref("r", "a"), 0, refused); err != nil {
		t.Fatal(err)
	}
	wantError(t, owner.Settle(t.Context(), ref("r", "a"), 0, runstore.Outcome{Seq: 1}), runstore.ErrConflict)
	wantError(t, owner.Append(t.Context(), consuming("r", "a", 0, 1)), runstore.ErrConflict)
	post(t, other, "r", "a")
	wantEntries(t, owner, "r")
	wantPosted(t, owner)
	wantOutcomes(t, other, map[runstore.EntryRef]runstore.Outcome{ref("r", "a"): refused}, ref("r", "a"))
	if _, err := owner.Content(t.Context(), "r", attached.SHA256); !errors.Is(err, runstore.ErrNotFound) {
		t.Errorf("the run has the content of a refused entry: %v", err)
	}
}

// Only the newest claim consumes. The next owner consumes what the former one did not.
func testFencedInbox(t *testing.T, owner, other Sharer) {
	post(t, other, "r", "a")
	post(t, other, "r", "b")
	wantError(t, other.Append(t.Context(), consuming("r", "a", 0, 1)), runstore.ErrConflict)
	wantError(t, other.Settle(t.Context(), ref("r", "a"), 0, runstore.Outcome{Seq: 1}), runstore.ErrConflict)
	if err := owner.Append(t.Context(), consuming("r", "a", 0, 1)); err != nil {
		t.Fatal(err)
	}
	owner.Release("r", 0)
	ids, epochs := taken(t, other)
	if !slices.Equal(ids, []string{"r"}) {
		t.Fatalf("took %q", ids)
	}
	wantError(t, owner.Append(t.Context(), consuming("r", "b", 0, 2)), runstore.ErrConflict)
	wantError(t, owner.Settle(t.Context(), ref("r", "b"), 0, runstore.Outcome{Seq: 1}), runstore.ErrConflict)
	wantEntries(t, other, "r", "b")
	if err := other.Append(t.Context(), consuming("r", "b", epochs["r"], 2)); err != nil {
		t.Fatal(err)
	}
	Want(t, other, "r", 3)
}

func leave(store Sharer, epoch uint64) bool {
	return store.Leave([]runstore.Leaving{{RunID: "r", Epoch: epoch}})
}

// A run is not left while it has entries. A run that has ended is taken if it has some.
func testLeave(t *testing.T, owner, other Sharer) {
	last := under("r", 0, 1, 1)
	last.Head = runstore.Head{Ended: true}
	if err := owner.Append(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	post(t, other, "r", "a")
	if leave(owner, 0) || !Claimed(t, other, "r") {
		t.Error("a run with an entry is left")
	}
	if ids, _ := taken(t, other); len(ids) > 0 {
		t.Errorf("took %q", ids)
	}
	if err := owner.Settle(t.Context(), ref("r", "a"), 0, runstore.Outcome{Seq: 2}); err != nil {
		t.Fatal(err)
	}
	if !leave(owner, 0) || Claimed(t, other, "r") || !leave(owner, 0) {
		t.Error("a run without entries is not left")
	}
	if ids, _ := taken(t, other); len(ids) > 0 {
		t.Errorf("took %q, which has ended", ids)
	}
	post(t, other, "r", "b")
	ids, epochs := taken(t, other)
	if !slices.Equal(ids, []string{"r"}) || !leave(owner, epochs["r"]) || !Claimed(t, other, "r") {
		t.Errorf("took %q", ids)
	}
}

// An unfinished run that was left is taken when its wait is over, or when it has an entry. One that
// was released, or whose store has ended, is taken at once, also if it was left before.
func testLeftRun(t *testing.T, owner, other Sharer) {
	took := func(when string, want ...string) (epoch uint64) {
		t.Helper()
		ids, epochs := taken(t, other)
		if !slices.Equal(ids, want) {
			t.Errorf("%s, took %q, want %q", when, ids, want)
		}
		return epochs["r"]
	}
	if !owner.Leave([]runstore.Leaving{{RunID: "r", Wait: time.Hour}}) || Claimed(t, owner, "r") {
		t.Fatal("the run is not left")
	}
	took("before its time")
	other.Release("r", MustClaim(t, other, "r"))
	epoch := took("after a release", "r")
	MustUnder(t, other, "r", epoch, 1, 1)
	if !other.Leave([]runstore.Leaving{{RunID: "r", Epoch: epoch}}) {
		t.Fatal("the run is not left")
	}
	took("without a time")
	post(t, owner, "r", "a")
	epoch = took("with an entry", "r")
	if err := other.Append(t.Context(), consuming("r", "a", epoch, 2)); err != nil {
		t.Fatal(err)
	}
	if !other.Leave([]runstore.Leaving{{RunID: "r", Epoch: epoch, Wait: time.Microsecond}}) {
		t.Fatal("the run is not left")
	}
	took("after its time", "r")
}

// A family is left as a whole, or not, and taken as a whole when one of it is due.
func testLeftFamily(t *testing.T, owner, other Sharer) {
	family := []string{"child", "grandchild", "r"}
	parent := "r"
	for _, id := range family[:2] {
		if err := owner.Append(t.Context(), runstore.Batch{RunID: id, Records: Records(1, 1), Head: runstore.Head{Unfinished: true, Parent: parent}}); err != nil {
			t.Fatal(err)
		}
		parent = id
	}
	epochs := make(map[string]uint64)
	left := func(store Sharer, wait time.Duration) bool { // of the grandchild
		t.Helper()
		var all []runstore.Leaving
		for _, id := range family {
			k := runstore.Leaving{RunID: id, Epoch: epochs[id]}
			if id == "grandchild" {
				k.Wait = wait
			}
			all = append(all, k)
		}
		return store.Leave(all)
	}
	post(t, other, "grandchild", "a")
	if left(owner, 0) || !Claimed(t, other, "r") || !Claimed(t, other, "grandchild") {
		t.Error("a family with an entry is left")
	}
	if err := owner.Settle(t.Context(), ref("grandchild", "a"), 0, runstore.Outcome{Seq: 1}); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for when, act := range []func(){
		func() { left(owner, time.Microsecond) },
		func() { left(other, 0); post(t, owner, "grandchild", "b") },
	} {
		if act(); Claimed(t, owner, "r") || Claimed(t, owner, "child") || Claimed(t, owner, "grandchild") {
			t.Errorf("%d: the family is not left", when)
		}
		if ids, epochs = taken(t, other); !slices.Equal(ids, family) {
			t.Fatalf("%d: took %q", when, ids)
		}
	}
	if err := other.Append(t.Context(), consuming("grandchild", "b", epochs["grandchild"], 1)); err != nil {
		t.Fatal(err)
	}
	if left(owner, time.Microsecond); !Claimed(t, owner, "r") {
		t.Error("a store leaves runs that it does not have")
	}
	left(other, time.Hour)
	if ids, _ = taken(t, other); len(ids) > 0 {
		t.Errorf("took %q, before their time", ids)
	}
}

// A sub-run goes to the owner of its parent, and with it.
func testFamilies(t *testing.T, owner, other Sharer) {
	for _, id := range []string{"child", "ended"} {
		batch := runstore.Batch{RunID: id, Records: Records(1, 1), Head: runstore.Head{Unfinished: id == "child", Ended: id == "ended", Parent: "r"}}
		if err := owner.Append(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		owner.Release(id, 0)
	}
	post(t, other, "ended", "a")
	if ids, _ := taken(t, other); len(ids) > 0 {
		t.Errorf("took %q without the parent", ids)
	}
	for _, id := range []string{"child", "ended"} {
		_, err := other.Claim(id)
		wantError(t, err, runstore.ErrClaimed)
	}
	wantPosted(t, other)
	wantPosted(t, owner, "ended")
	owner.Release("ended", MustClaim(t, owner, "ended"))
	owner.Release("r", 0)
	_, err := other.Claim("child") // nobody has the parent
	wantError(t, err, runstore.ErrClaimed)
	if ids, _ := taken(t, other); !slices.Equal(ids, []string{"child", "ended", "r"}) {
		t.Errorf("took %q", ids)
	}
}

// The inbox goes with its run, which is not deleted while a request waits.
func testDeleteInbox(t *testing.T, owner, other Sharer) {
	post(t, other, "r", "a")
	wantError(t, owner.Delete(t.Context(), deletion(map[string]uint64{"r": 1})), runstore.ErrConflict)
	if err := owner.Settle(t.Context(), ref("r", "a"), 0, runstore.Outcome{Seq: 1}); err != nil {
		t.Fatal(err)
	}
	if err := owner.Delete(t.Context(), deletion(map[string]uint64{"r": 1})); err != nil {
		t.Fatal(err)
	}
	wantOutcomes(t, other, map[runstore.EntryRef]runstore.Outcome{ref("r", "a"): {}}, ref("r", "a"))
	wantError(t, other.Post(t.Context(), runstore.Entry{EntryRef: ref("r", "b"), Data: json.RawMessage(`1`)}), runstore.ErrNotFound)
}

// A run has a bounded number of entries that wait.
func testFull(t *testing.T, owner, other Sharer) {
	data := json.RawMessage(bytes.Repeat([]byte("1"), 20))
	for i := range runstore.MaxPosted {
		if err := other.Post(t.Context(), runstore.Entry{EntryRef: ref("r", fmt.Sprint(i)), Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	more := runstore.Entry{EntryRef: ref("r", "more"), Data: data}
	wantError(t, other.Post(t.Context(), more), runstore.ErrUnavailable)
	if err := owner.Append(t.Context(), consuming("r", "0", 0, 1)); err != nil {
		t.Fatal(err)
	}
	if err := other.Post(t.Context(), more); err != nil {
		t.Error(err)
	}
}

// Many requests with one id, at both stores, are one entry, and it is the only one that counts.
func testSameAtOnce(t *testing.T, owner, other Sharer) {
	var group sync.WaitGroup
	for _, store := range []Sharer{owner, other, owner, other} {
		group.Go(func() {
			for i := range 20 {
				if err := store.Post(t.Context(), runstore.Entry{EntryRef: ref("r", fmt.Sprint(i)), Data: json.RawMessage(`1`)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	for i := range 20 {
		if leave(owner, 0) {
			t.Fatalf("the run is left with %d entries", 20-i)
		}
		if err := owner.Append(t.Context(), consuming("r", fmt.Sprint(i), 0, uint64(i+1))); err != nil {
			t.Fatal(err)
		}
	}
	if !leave(owner, 0) {
		t.Error("the run is not left")
	}
}

func testPositions(t *testing.T, owner, other Sharer) {
	Must(t, owner, "s", 0, 3)
	want := func(want map[string]runstore.Position) {
		t.Helper()
		if got, err := other.Positions(t.Context(), []string{"r", "s", "none", "\x00"}); err != nil || !maps.Equal(got, want) {
			t.Errorf("the positions are %v, %v, want %v", got, err, want)
		}
	}
	want(map[string]runstore.Position{"r": {Seq: 1}, "s": {Seq: 3}})
	Must(t, owner, "r", 1, 2)
	owner.Release("s", 0)
	if err := owner.Delete(t.Context(), runstore.Deletion{Last: map[string]uint64{"s": 3}}); err != nil {
		t.Fatal(err)
	}
	want(map[string]runstore.Position{"r": {Seq: 3}})
}
