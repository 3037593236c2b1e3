package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/tool"
)

func testBeginEndFind(t *testing.T, h Harness) {
	clock := newClock()
	store := h.New(t, Config{Now: clock.Now})
	ctx := t.Context()

	WantState(t, store, "a", "")
	Must(t, begin(t, store, Entry("a")))
	begun := Entry("a")
	begun.State, begun.How, begun.Begun = callstore.StateBegun, tool.CallRunning, clock.Now()
	got := WantState(t, store, "a", callstore.StateBegun)
	begun.Number = got.Number
	if diff := cmp.Diff(begun, got); diff != "" || got.Number < 1 {
		t.Errorf("begun with number %d (-want +got):\n%s", got.Number, diff)
	}

	clock.advance(time.Second)
	out := Answer("sent")
	Must(t, store.End(ctx, Key("a"), out))
	ended := begun
	out.CallID = "a"
	ended.State, ended.How, ended.Ended, ended.Instance, ended.Outcome = callstore.StateEnded, tool.CallSucceeded, clock.Now(), "mail-1", &out
	for _, when := range []string{"at once", "after opening again"} {
		if diff := cmp.Diff(ended, WantState(t, store, "a", callstore.StateEnded)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
		store = h.Reopen(t, store)
	}
	Must(t, begin(t, store, Entry("b")))
	if e := WantState(t, store, "b", callstore.StateBegun); e.Number <= begun.Number {
		t.Errorf("the second call has number %d, the first %d", e.Number, begun.Number)
	}
}

// testKeys checks that ids of different principals and sessions are different, also if their texts
// run together, and that the store knows each of them.
func testKeys(t *testing.T, h Harness) {
	store := h.New(t, Config{})
	keys := []callstore.Key{{ID: "abc"}, {Principal: "a", ID: "bc"}, {Principal: "ab", ID: "c"}, {Session: "a", ID: "bc"}, {Principal: "a", Session: "b", ID: "c"}}
	for i, k := range keys {
		Must(t, begin(t, store, callstore.Entry{Key: k, Tool: fmt.Sprint(i)}))
	}
	for i, k := range keys {
		if e, found, err := store.Find(t.Context(), k); err != nil || !found || e.Tool != fmt.Sprint(i) || e.Key != k || !store.Known(k) {
			t.Errorf("%+v: found %v %+v, %v", k, found, e, err)
		}
	}
	if n, most := store.IDs(); n != len(keys) || most != 5_000_000 {
		t.Errorf("the store has %d ids of %d", n, most)
	}
}

func wantError(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

func testRefusals(t *testing.T, h Harness) {
	store := h.New(t, Config{})
	ctx := t.Context()
	wantError(t, "ending what never began", store.End(ctx, Key("a"), Answer("")), callstore.ErrNotBegun)
	wantError(t, "forgetting what never began", store.Forget(ctx, Key("a")), nil)
	Must(t, begin(t, store, Entry("a")))
	wantError(t, "beginning twice", begin(t, store, Entry("a")), callstore.ErrTaken)
	Must(t, store.Forget(ctx, Key("a")))
	WantState(t, store, "a", "")
	Must(t, begin(t, store, Entry("a")), store.End(ctx, Key("a"), Answer("one")))
	wantError(t, "ending twice", store.End(ctx, Key("a"), Answer("two")), callstore.ErrNotBegun)
	wantError(t, "beginning what has ended", begin(t, store, Entry("a")), callstore.ErrTaken)
	wantError(t, "forgetting what has ended", store.Forget(ctx, Key("a")), callstore.ErrNotBegun)
	if e := WantState(t, store, "a", callstore.StateEnded); e.Outcome == nil || e.Outcome.Result.Text() != "one" {
		t.Errorf("the outcome became %+v", e.Outcome)
	}
}

func testNotEndedIsUnknown(t *testing.T, h Harness) {
	clock := newClock()
	store := h.New(t, Config{Now: clock.Now})
	Must(t, begin(t, store, Entry("a")))
	clock.advance(time.Hour)
	store = h.Reopen(t, store)
	e := WantState(t, store, "a", callstore.StateUnknown)
	if e.How != tool.CallFailed || tool.KindOf(e.Err) != tool.KindOutcomeUnknown || !e.Ended.Equal(clock.Now()) || e.Outcome != nil {
		t.Errorf("got %+v", e)
	}
	wantError(t, "beginning it again", begin(t, store, Entry("a")), callstore.ErrTaken)
	wantError(t, "ending it after all", store.End(t.Context(), Key("a"), Answer("late")), callstore.ErrNotBegun)
	wantError(t, "forgetting it", store.Forget(t.Context(), Key("a")), callstore.ErrNotBegun)
	WantState(t, store, "a", callstore.StateUnknown)
}

// testOneBeginWins checks that of many concurrent Begins of one id, exactly one succeeds.
func testOneBeginWins(t *testing.T, h Harness) {
	store := h.New(t, Config{})
	var group sync.WaitGroup
	var won atomic.Int32
	for range 64 {
		group.Go(func() {
			switch err := begin(t, store, Entry("a")); {
			case err == nil:
				won.Add(1)
			case !errors.Is(err, callstore.ErrTaken):
				t.Error(err)
			}
		})
	}
	group.Wait()
	if won.Load() != 1 {
		t.Errorf("%d have begun", won.Load())
	}
}

func testClosed(t *testing.T, h Harness) {
	store := h.New(t, Config{})
	Must(t, begin(t, store, Entry("a")), store.Close(), store.Close())
	_, _, find := store.Find(t.Context(), Key("a"))
	_, list := store.List(t.Context(), callstore.Query{})
	for what, err := range map[string]error{
		"beginning":  begin(t, store, Entry("b")),
		"ending":     store.End(t.Context(), Key("a"), Answer("")),
		"forgetting": store.Forget(t.Context(), Key("a")),
		"finding":    find,
		"listing":    list,
	} {
		wantError(t, what+" after Close", err, callstore.ErrClosed)
	}
}

// testCloseBeside checks that an operation that returned nil before or during Close is in the
// store.
func testCloseBeside(t *testing.T, h Harness) {
	store := h.New(t, Config{})
	var group sync.WaitGroup
	var mu sync.Mutex
	acknowledged := map[string]callstore.State{}
	ready := make(chan struct{}, 8)
	for i := range 8 {
		group.Go(func() {
			for n := 0; ; n++ {
				id := fmt.Sprint(i, "-", n)
				if err := store.BeginWithin(context.Background(), Entry(id), callstore.Quota{}); err != nil {
					return
				}
				state := callstore.StateUnknown
				if err := store.End(context.Background(), Key(id), Answer(id)); err == nil {
					state = callstore.StateEnded
				}
				mu.Lock()
				acknowledged[id] = state
				mu.Unlock()
				if n == 0 {
					ready <- struct{}{}
				}
			}
		})
	}
	for range 8 {
		<-ready
	}
	Must(t, store.Close())
	group.Wait()
	store = h.Reopen(t, store)
	for id, state := range acknowledged {
		WantState(t, store, id, state)
	}
}

// testLeaving checks that an id is taken if Begin returned nil, and free otherwise, whenever the
// caller of Begin leaves.
func testLeaving(t *testing.T, h Harness) {
	store := h.New(t, Config{})
	why := errors.New("enough")
	gone, leave := context.WithCancelCause(t.Context())
	leave(why)
	wantError(t, "beginning without a caller", store.BeginWithin(gone, Entry("late"), callstore.Quota{}), why)
	WantState(t, store, "late", "")
	var group sync.WaitGroup
	var count atomic.Int64
	const callers, each = 8, 25
	for caller := range callers {
		group.Go(func() {
			for n := range each {
				id := fmt.Sprint(caller, "-", n)
				ctx, cancel := context.WithCancel(t.Context())
				var beside sync.WaitGroup
				beside.Go(func() { // the more it does, the later the caller leaves
					for range n {
						_, _, _ = store.Find(t.Context(), Key("no such call"))
					}
					cancel()
				})
				err := store.BeginWithin(ctx, Entry(id), callstore.Quota{})
				again := begin(t, store, Entry(id))
				beside.Wait()
				if !(err == nil && errors.Is(again, callstore.ErrTaken)) && !(errors.Is(err, context.Canceled) && again == nil) {
					t.Errorf("%s: %v, then %v", id, err, again)
				}
				count.Add(1)
			}
		})
	}
	group.Wait()
	store = h.Reopen(t, store)
	if all, err := store.List(t.Context(), callstore.Query{}); err != nil || len(all) != callers*each {
		t.Errorf("%d calls are in the store, %v; want %d", len(all), err, callers*each)
	}
}

// testIdentity checks that a ledger keeps its id, and that no other one has it.
func testIdentity(t *testing.T, h Harness) {
	clock := newClock()
	store := h.New(t, Config{Now: clock.Now, Bounds: callstore.Bounds{KeepIDs: 100 * time.Hour}})
	id := store.ID()
	store = h.Reopen(t, store)
	if got := store.ID(); got != id || id == "" {
		t.Errorf("the id %q became %q", id, got)
	}
	if store.Restored() != nil {
		t.Error("the store says that it was restored")
	}
	if other := h.New(t, Config{}); other.ID() == id {
		t.Error("two ledgers have one id")
	}
	if now := store.Now(); !now.Equal(clock.Now()) || store.Forgets(now.Add(-99*time.Hour)) || !store.Forgets(now.Add(-99*time.Hour-1)) {
		t.Errorf("now is %v; the store forgets calls of the wrong age", now)
	}
}
