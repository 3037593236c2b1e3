package storetest

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/tool"
)

var (
	happened     = tool.Settlement{Verdict: tool.VerdictHappened, Reason: "the mail is in the outbox"}
	didNotHappen = tool.Settlement{Verdict: tool.VerdictDidNotHappen, Reason: "the outbox is empty"}
	notKnown     = tool.Settlement{Verdict: tool.VerdictUnknown, Reason: "the outbox is gone"}
	lostOutcome  = tool.Outcome{Plugin: "mail", Instance: "mail-1", Err: tool.Errorf(tool.KindOutcomeUnknown, "the plugin ended")}
)

// settling returns a call that its tool can settle.
func settling(id string) callstore.Entry {
	e := Entry(id)
	e.Arguments, e.EffectKey = []byte(`{"to":"bob"}`), "of "+id
	return e
}

// twoUnknown returns a store with two calls with an unknown outcome: the process of "toolhost"
// ended, and in the call "plugin" only that of the plugin.
func twoUnknown(t *testing.T, h Harness, cfg Config) Store {
	store := h.New(t, cfg)
	Must(t, begin(t, store, settling("plugin")), store.End(t.Context(), Key("plugin"), lostOutcome), begin(t, store, settling("toolhost")))
	return h.Reopen(t, store)
}

func find(t *testing.T, store callstore.Calls, id string) callstore.Entry {
	t.Helper()
	e, found, err := store.Find(t.Context(), Key(id))
	if err != nil || !found {
		t.Fatalf("finding %s: found %v, %v", id, found, err)
	}
	return e
}

// testHappened checks that what the tool says becomes the outcome for good.
func testHappened(t *testing.T, h Harness) {
	store := twoUnknown(t, h, Config{})
	for _, id := range []string{"plugin", "toolhost"} {
		e := find(t, store, id)
		if !e.Unsettled() || string(e.Arguments) != `{"to":"bob"}` || e.EffectKey != "of "+id || e.Settled != nil {
			t.Fatalf("%s: %+v", id, e)
		}
		out := Answer("sent after all")
		Must(t, store.Settle(t.Context(), e.Key, e.Number, happened, out))
		out.CallID = id
		for range 2 {
			got := find(t, store, id)
			if diff := cmp.Diff(&out, got.Outcome); diff != "" || got.State != callstore.StateEnded || got.How != tool.CallSucceeded || got.Err != nil ||
				got.Arguments != nil || got.Settled == nil || *got.Settled != happened {
				t.Errorf("%s: %+v (-want +got):\n%s", id, got, diff)
			}
			wantError(t, "settling again", store.Settle(t.Context(), e.Key, e.Number, didNotHappen, tool.Outcome{}), callstore.ErrNotUnknown)
			wantError(t, "beginning it", begin(t, store, settling(id)), callstore.ErrTaken)
			store = h.Reopen(t, store)
		}
	}
}

// testDidNotHappen checks that the same call may begin once more, and that its outcome is then
// again what happens to it.
func testDidNotHappen(t *testing.T, h Harness) {
	store := twoUnknown(t, h, Config{Bounds: callstore.Bounds{MaxIDs: 2}})
	for _, id := range []string{"plugin", "toolhost"} {
		e := find(t, store, id)
		Must(t, store.Settle(t.Context(), e.Key, e.Number, didNotHappen, tool.Outcome{}))
		store = h.Reopen(t, store)
		free := WantState(t, store, id, callstore.StateFree)
		if free.Err == nil || free.Err.Kind != tool.KindUnavailable || free.How != tool.CallFailed || free.Unsettled() || free.Outcome != nil || *free.Settled != didNotHappen {
			t.Errorf("%s is free: %+v", id, free)
		}
		other := settling(id)
		other.Sum[0]++
		wantError(t, "beginning another call", begin(t, store, other), callstore.ErrTaken)
		wantError(t, "ending it", store.End(t.Context(), e.Key, Answer("")), callstore.ErrNotBegun)
		Must(t, begin(t, store, settling(id)))
		wantError(t, "beginning twice", begin(t, store, settling(id)), callstore.ErrTaken)
		again := WantState(t, store, id, callstore.StateBegun)
		if again.Number <= e.Number || again.Settled == nil || *again.Settled != didNotHappen {
			t.Errorf("%s has begun again: %+v, after number %d", id, again, e.Number)
		}
		store = h.Reopen(t, store)
		if lost := find(t, store, id); !lost.Unsettled() || lost.Settled != nil || lost.State != callstore.StateUnknown {
			t.Errorf("%s after a second crash: %+v", id, lost)
		}
		e = find(t, store, id)
		Must(t, store.Settle(t.Context(), e.Key, e.Number, didNotHappen, tool.Outcome{}), begin(t, store, settling(id)), store.End(t.Context(), e.Key, Answer("sent")))
		if e = find(t, store, id); e.Outcome == nil || e.Settled == nil || *e.Settled != didNotHappen || e.Arguments != nil {
			t.Errorf("%s has ended: %+v", id, e)
		}
	}
	if ids, _ := store.IDs(); ids != 2 {
		t.Errorf("the store has %d ids of 2 calls", ids)
	}
}

// testNotKnown checks that a call stays unknown, says that the tool was asked, and can be asked
// about again.
func testNotKnown(t *testing.T, h Harness) {
	store := twoUnknown(t, h, Config{})
	for _, id := range []string{"plugin", "toolhost"} {
		e := find(t, store, id)
		Must(t, store.Settle(t.Context(), e.Key, e.Number, notKnown, tool.Outcome{}))
		store = h.Reopen(t, store)
		got := find(t, store, id)
		if got.State != e.State || !got.Unsettled() || got.Settled == nil || *got.Settled != notKnown || !strings.HasSuffix(got.Err.Message, notKnown.Reason) {
			t.Errorf("%s: %+v", id, got)
		}
		if got.Outcome != nil && !strings.HasSuffix(got.Outcome.Err.Message, notKnown.Reason) {
			t.Errorf("%s answers %v", id, got.Outcome.Err)
		}
		Must(t, store.Settle(t.Context(), e.Key, e.Number, didNotHappen, tool.Outcome{}))
		WantState(t, store, id, callstore.StateFree)
	}
}

// testOnlyUnknownIsSettled checks which calls Settle refuses, and which ones List finds.
func testOnlyUnknownIsSettled(t *testing.T, h Harness) {
	store := twoUnknown(t, h, Config{})
	failed := tool.Outcome{Plugin: "mail", Err: tool.Errorf(tool.KindTimeout, "too slow")}
	Must(t,
		begin(t, store, settling("running")),
		begin(t, store, settling("ended")), store.End(t.Context(), Key("ended"), Answer("sent")),
		begin(t, store, settling("failed")), store.End(t.Context(), Key("failed"), failed),
		begin(t, store, Entry("without arguments")), store.End(t.Context(), Key("without arguments"), lostOutcome))
	for _, id := range []string{"running", "ended", "failed", "without arguments"} {
		e := find(t, store, id)
		if e.Unsettled() || (e.Arguments != nil) != (id == "running") {
			t.Errorf("%s: %+v", id, e)
		}
		wantError(t, id, store.Settle(t.Context(), e.Key, e.Number, didNotHappen, tool.Outcome{}), callstore.ErrNotUnknown)
	}
	wantError(t, "no such call", store.Settle(t.Context(), Key("none"), 1, happened, tool.Outcome{}), callstore.ErrNotUnknown)
	e := find(t, store, "plugin")
	wantError(t, "a call with another number", store.Settle(t.Context(), e.Key, e.Number+1, happened, tool.Outcome{}), callstore.ErrNotUnknown)
	var listed []string
	for before := int64(0); ; {
		page, err := store.List(t.Context(), callstore.Query{Unsettled: true, Limit: 1, Before: before})
		Must(t, err)
		if len(page) == 0 {
			break
		}
		before = page[0].Number
		listed = append(listed, page[0].ID)
	}
	if diff := cmp.Diff([]string{"toolhost", "plugin"}, listed); diff != "" {
		t.Errorf("the unsettled calls (-want +got):\n%s", diff)
	}
}

// testArgumentsHaveABound checks that a store records calls without their arguments if they are too
// large, alone or together, and that arguments of settled calls take no room.
func testArgumentsHaveABound(t *testing.T, h Harness) {
	const room = 3
	clock := newClock()
	store := h.New(t, Config{Now: clock.Now, Bounds: callstore.Bounds{MaxBytes: room * callstore.MaxArguments * callstore.ResultShare, KeepIDs: time.Hour}})
	sized := func(id string, bytesOf int) callstore.Entry {
		e := Entry(id)
		e.Arguments = bytes.Repeat([]byte("x"), bytesOf)
		return e
	}
	Must(t, begin(t, store, sized("too large", callstore.MaxArguments+1)))
	if e := find(t, store, "too large"); e.Arguments != nil {
		t.Errorf("the store keeps %d bytes", len(e.Arguments))
	}
	round := 0
	fill := func() {
		round++
		for i := range room + 1 {
			id := fmt.Sprint(round, "-", i)
			Must(t, begin(t, store, sized(id, callstore.MaxArguments)))
			if e := find(t, store, id); (e.Arguments != nil) != (i < room) {
				t.Fatalf("round %d: of call %d the store keeps %d bytes", round, i, len(e.Arguments))
			}
		}
	}
	key := func(i int) callstore.Key { return Key(fmt.Sprint(round, "-", i)) }
	fill()
	for i := range room {
		Must(t, store.End(t.Context(), key(i), Answer("")))
	}
	fill()
	for i := range room {
		Must(t, store.Forget(t.Context(), key(i)))
	}
	fill()
	store = h.Reopen(t, store)
	Must(t, begin(t, store, sized("after opening", 1)))
	if e := find(t, store, "after opening"); e.Arguments != nil {
		t.Error("after opening again the store has room")
	}
	for i := range room {
		e := find(t, store, key(i).ID)
		Must(t, store.Settle(t.Context(), e.Key, e.Number, happened, Answer("")))
	}
	fill()
	clock.advance(2 * time.Hour)
	nudge(t, store)
	fill()
}
