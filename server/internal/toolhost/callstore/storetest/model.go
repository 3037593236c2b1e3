package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/memory"
	"github.com/toolhost/toolhost/tool"
)

// testModel passes the same random operations to a store and to the simplest one.
func testModel(t *testing.T, h Harness) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	clock := newClock()
	cfg := Config{Now: clock.Now, Bounds: callstore.Bounds{MaxIDs: 12}}
	store := h.New(t, cfg)
	model, err := memory.New(memory.Config{Bounds: cfg.Bounds, Now: cfg.Now})
	Must(t, err)
	ctx := t.Context()
	for step := range 600 {
		id := fmt.Sprint("c", random.IntN(20))
		var got, want error
		var did string
		switch n := random.IntN(100); {
		case n < 35:
			e := Entry(id)
			if random.IntN(2) == 0 {
				e.Arguments = []byte("{}")
			}
			did, got, want = "begin", begin(t, store, e), begin(t, model, e)
		case n < 65:
			out := Answer(fmt.Sprint("result ", step))
			if n < 40 {
				out = tool.Outcome{Plugin: "mail", Instance: "mail-2", Err: tool.Errorf(tool.KindOutcomeUnknown, "step %d", step)}
			}
			did, got, want = "end", store.End(ctx, Key(id), out), model.End(ctx, Key(id), out)
		case n < 70:
			said := []tool.Settlement{happened, didNotHappen, notKnown}[random.IntN(3)]
			e, _, _ := store.Find(ctx, Key(id))
			m, _, _ := model.Find(ctx, Key(id))
			out := Answer(fmt.Sprint("settled ", step))
			did, got, want = "settle", store.Settle(ctx, Key(id), e.Number, said, out), model.Settle(ctx, Key(id), m.Number, said, out)
		case n < 75:
			did, got, want = "forget", store.Forget(ctx, Key(id)), model.Forget(ctx, Key(id))
		case n < 98:
			clock.advance(time.Duration(random.Int64N(int64(9 * time.Hour))))
			nudge(t, store) // the store may remove at any time; from here on it has
			nudge(t, model)
		default:
			store, model = h.Reopen(t, store), model.Reopen()
		}
		if !sameError(got, want) {
			t.Fatalf("step %d: to %s %s: %v, want %v", step, did, id, got, want)
		}
		if step%8 == 0 {
			compare(t, step, store, model)
		}
	}
}

// sameError reports whether a store fails in the same way as the model.
func sameError(got, want error) bool {
	full, isFull := errors.AsType[*callstore.FullError](got)
	wantFull, wantsFull := errors.AsType[*callstore.FullError](want)
	if isFull || wantsFull {
		return isFull && wantsFull && full.IDs == wantFull.IDs && full.Room.Equal(wantFull.Room)
	}
	for _, target := range []error{callstore.ErrTaken, callstore.ErrNotBegun, callstore.ErrNotUnknown} {
		if errors.Is(got, target) || errors.Is(want, target) {
			return errors.Is(got, target) && errors.Is(want, target)
		}
	}
	return got == nil && want == nil
}

// compare compares all calls of a store with those of the model. Numbers may differ: only their
// order is the same.
func compare(t *testing.T, step int, store, model Store) {
	t.Helper()
	got, err := store.List(t.Context(), callstore.Query{})
	want, wantErr := model.List(t.Context(), callstore.Query{})
	Must(t, err, wantErr)
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(callstore.Entry{}, "Number")); diff != "" {
		t.Fatalf("step %d: listing (-want +got):\n%s", step, diff)
	}
	for i := range 20 {
		key := Key(fmt.Sprint("c", i))
		e, found, err := store.Find(t.Context(), key)
		wantEntry, wantFound, wantErr := model.Find(t.Context(), key)
		Must(t, err, wantErr)
		if diff := cmp.Diff(wantEntry, e, cmpopts.IgnoreFields(callstore.Entry{}, "Number")); diff != "" || found != wantFound {
			t.Fatalf("step %d: finding %s: %v (-want +got):\n%s", step, key.ID, found, diff)
		}
		if found && !store.Known(key) {
			t.Fatalf("step %d: the store does not know %s, which it finds", step, key.ID)
		}
	}
}
