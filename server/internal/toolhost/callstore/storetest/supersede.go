package storetest

import (
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
	for i, id := range []string{"ended", "failed", "running", "plugin"} {
		again := fmt.Sprint("again", i)
		wantError(t, "repeating "+id, begin(t, store, superseding(again, id)), callstore.ErrSuperseding)
		WantState(t, store, again, "")
	}
	Must(t, store.End(t.Context(), Key("running"), Answer("sent")), store.End(t.Context(), Key("plugin"), Answer("sent")))
	e = find(t, store, "toolhost")
	Must(t, store.Settle(t.Context(), e.Key, e.Number, happened, Answer("sent after all")))
	wantError(t, "repeating what happened", begin(t, store, superseding("again", "toolhost")), callstore.ErrSuperseding)
}
