package storetest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/tool"
)

func superseding(id string, ids ...string) callstore.Entry {
	e := settling(id)
	e.Supersedes = ids
	return e
}

// testSuperseded checks that what a call has repeated is never free and never begins, whatever its
// tool says: unknown, free, or not there at all.
func testSuperseded(t *testing.T, h Harness) {
	store := twoUnknown(t, h, Config{Bounds: callstore.Bounds{MaxIDs: 100}})
	plugin, toolhost := find(t, store, "plugin"), find(t, store, "toolhost")
	Must(t, begin(t, store, settling("free")), store.End(t.Context(), Key("free"), lostOutcome))
	free := find(t, store, "free")
	Must(t, store.Settle(t.Context(), free.Key, free.Number, didNotHappen, tool.Outcome{}))
	Must(t, begin(t, store, Entry("no arguments")), store.End(t.Context(), Key("no arguments"), lostOutcome))
	all := []string{"plugin", "toolhost", "free", "no arguments", "never sent"}
	Must(t, begin(t, store, superseding("again", all...)))
	for range 2 {
		for _, id := range all {
			e := find(t, store, id)
			if e.Unsettled() || e.Arguments != nil || e.Err == nil || e.Err.Kind != tool.KindOutcomeUnknown || e.State == callstore.StateFree || e.State == callstore.StateBegun {
				t.Errorf("%s: %+v", id, e)
			}
			for _, number := range []int64{plugin.Number, toolhost.Number, e.Number} {
				wantError(t, "settling "+id, store.Settle(t.Context(), e.Key, number, didNotHappen, tool.Outcome{}), callstore.ErrNotUnknown)
			}
			wantError(t, "beginning "+id, begin(t, store, settling(id)), callstore.ErrTaken)
		}
		for _, id := range []string{"free", "never sent"} {
			if e := find(t, store, id); !strings.Contains(e.Err.Message, "again") {
				t.Errorf("%s: %v", id, e.Err)
			}
		}
		store = h.Reopen(t, store)
	}
	// One that repeats it once more, and one in another session.
	again := find(t, store, "again")
	Must(t, begin(t, store, superseding("once more", append(all, "again")...)))
	wantError(t, "settling again", store.Settle(t.Context(), again.Key, again.Number, didNotHappen, tool.Outcome{}), callstore.ErrNotUnknown)
	other := superseding("other", "once more")
	other.Session = "s2"
	Must(t, begin(t, store, other))
	WantState(t, store, "once more", callstore.StateBegun)
	Must(t, store.End(t.Context(), Key("once more"), Answer("sent")))
}

// testNotSuperseded checks that a call does not begin that repeats one which was executed, or is.
func testNotSuperseded(t *testing.T, h Harness) {
	store := twoUnknown(t, h, Config{})
	failed := tool.Outcome{Plugin: "mail", Result: tool.ErrorResult("no such person")}
	Must(t,
		begin(t, store, settling("ended")), store.End(t.Context(), Key("ended"), Answer("sent")),
		begin(t, store, settling("failed")), store.End(t.Context(), Key("failed"), failed),
		begin(t, store, settling("running")))
	e := find(t, store, "plugin")
	Must(t, store.Settle(t.Context(), e.Key, e.Number, didNotHappen, tool.Outcome{}), begin(t, store, settling("plugin")))
	// Of calls with and without a row, and with all orders of their hashes, none is closed.
	others := []string{"toolhost"}
	for i := range 8 {
		others = append(others, fmt.Sprint("never sent ", i))
	}
	ids, _ := store.IDs()
	for i, id := range []string{"ended", "failed", "running", "plugin"} {
		again := fmt.Sprint("again", i)
		wantError(t, "repeating "+id, begin(t, store, superseding(again, append(others, id)...)), callstore.ErrSuperseding)
		for _, id := range append(others[1:], again) {
			WantState(t, store, id, "")
		}
	}
	e = find(t, store, "toolhost")
	if is, _ := store.IDs(); is != ids || !e.Unsettled() {
		t.Errorf("of %d ids the store has %d, and %+v", ids, is, e)
	}
	wantError(t, "beginning what runs", begin(t, store, superseding("running", "ended")), callstore.ErrTaken)
	Must(t, store.End(t.Context(), Key("running"), Answer("sent")), store.End(t.Context(), Key("plugin"), Answer("sent")))
	e = find(t, store, "toolhost")
	Must(t, store.Settle(t.Context(), e.Key, e.Number, happened, Answer("sent after all")))
	wantError(t, "repeating what happened", begin(t, store, superseding("again", "toolhost")), callstore.ErrSuperseding)
}

// testSupersededCount checks that calls which are closed although the store did not have them count
// as ids, before they are closed and afterwards.
func testSupersededCount(t *testing.T, h Harness) {
	quota := callstore.Quota{OfPrincipal: 6}
	store := twoUnknown(t, h, Config{Bounds: callstore.Bounds{MaxIDs: 7}})
	wantFull := func(what string, quota callstore.Quota, e callstore.Entry, owner string, ids int) {
		t.Helper()
		before, _ := store.IDs()
		err := store.BeginWithin(t.Context(), e, quota)
		if full, ok := errors.AsType[*callstore.FullError](err); !ok || full.Owner != owner || full.IDs != ids {
			t.Errorf("%s: %v, want that %q has %d ids", what, err, owner, ids)
		}
		if is, _ := store.IDs(); is != before {
			t.Errorf("%s: the store has %d ids, and had %d", what, is, before)
		}
	}
	wantFull("one more than the quota", quota, superseding("again", "1", "2", "3", "4"), "the principal alice", 2)
	wantFull("one more than the bound", callstore.Quota{}, superseding("again", "plugin", "1", "2", "3", "4", "5"), "", 2)
	if e := find(t, store, "plugin"); !e.Unsettled() {
		t.Errorf("a call is closed that no call has repeated: %+v", e)
	}
	Must(t, store.BeginWithin(t.Context(), superseding("again", "plugin", "1", "2", "3"), quota))
	for range 2 {
		if ids, _ := store.IDs(); ids != 6 {
			t.Errorf("the store has %d ids", ids)
		}
		wantFull("a call without others", quota, Entry("one more"), "the principal alice", 6)
		store = h.Reopen(t, store)
	}
	Must(t, begin(t, store, superseding("once more", "toolhost", "again")))
	wantFull("one that repeats what is there", callstore.Quota{}, superseding("full", "toolhost"), "", 7)
	// A free call needs no id, but what it repeats does.
	Must(t, store.End(t.Context(), Key("once more"), lostOutcome))
	e := find(t, store, "once more")
	Must(t, store.Settle(t.Context(), e.Key, e.Number, didNotHappen, tool.Outcome{}))
	wantFull("a free one that repeats another", callstore.Quota{}, superseding("once more", "4"), "", 7)
	WantState(t, store, "once more", callstore.StateFree)
	Must(t, begin(t, store, superseding("once more", "again")))
}
