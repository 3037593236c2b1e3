package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/tool"
)

func testKeepIDs(t *testing.T, h Harness) {
	clock := newClock()
	store := h.New(t, Config{Now: clock.Now})
	const calls = 600 // one step of a store removes fewer
	var group sync.WaitGroup
	for i := range calls {
		group.Go(func() {
			id := fmt.Sprint(i)
			if err := errors.Join(begin(t, store, Entry(id)), store.End(t.Context(), Key(id), Answer("ok"))); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	Must(t, begin(t, store, Entry("stuck")))
	clock.advance(7*24*time.Hour - 1)
	Must(t, begin(t, store, Entry("young")))
	all, err := store.List(t.Context(), callstore.Query{})
	Must(t, err)
	if len(all) != calls+2 {
		t.Fatalf("%d calls are left of %d", len(all), calls+2)
	}
	clock.advance(1)
	nudge(t, store)
	eventually.Holds(t, "only the young call is left", func() bool {
		left, err := store.List(t.Context(), callstore.Query{})
		Must(t, err)
		return len(left) == 1
	})
	WantState(t, store, "0", "")
	WantState(t, store, "stuck", "")
	WantState(t, store, "young", callstore.StateBegun)
	Must(t, begin(t, store, Entry("0")))
}

func testKeepResults(t *testing.T, h Harness) {
	clock := newClock()
	store := h.New(t, Config{Now: clock.Now})
	ctx := t.Context()
	Must(t, begin(t, store, Entry("slow")))
	clock.advance(time.Hour)
	Must(t, begin(t, store, Entry("quick")), store.End(ctx, Key("quick"), Answer("q")))
	clock.advance(time.Hour)
	Must(t, store.End(ctx, Key("slow"), tool.Outcome{Err: tool.Errorf(tool.KindTimeout, "late")}))
	clock.advance(23 * time.Hour)
	nudge(t, store)
	if e := WantState(t, store, "quick", callstore.StateEnded); e.Outcome != nil || e.How != tool.CallSucceeded || e.Instance != "mail-1" {
		t.Errorf("quick: %+v", e)
	}
	if e := WantState(t, store, "slow", callstore.StateEnded); e.Outcome == nil {
		t.Errorf("slow: its outcome went with the older one's")
	}
	store = h.Reopen(t, store)
	clock.advance(time.Hour)
	for range 2 { // before and after the store has removed the outcome
		if e := WantState(t, store, "slow", callstore.StateEnded); e.Outcome != nil || tool.KindOf(e.Err) != tool.KindTimeout {
			t.Errorf("slow: %+v", e)
		}
		nudge(t, store)
	}
}

func testTooManyIDs(t *testing.T, h Harness) {
	clock := newClock()
	store := h.New(t, Config{Now: clock.Now, Bounds: callstore.Bounds{MaxIDs: 3}})
	first := clock.Now()
	for _, id := range []string{"a", "b", "c"} {
		Must(t, begin(t, store, Entry(id)), store.End(t.Context(), Key(id), Answer("ok")))
		clock.advance(time.Hour)
	}
	for range 2 {
		full, ok := errors.AsType[*callstore.FullError](begin(t, store, Entry("d")))
		if !ok || full.IDs != 3 || !full.Room.Equal(first.Add(7*24*time.Hour)) || !strings.Contains(full.Error(), "2023-11-21T22:13:20Z") {
			t.Errorf("got %v", full)
		}
		store = h.Reopen(t, store)
	}
	wantError(t, "beginning what is there", begin(t, store, Entry("a")), callstore.ErrTaken)
	clock.advance(7*24*time.Hour - 3*time.Hour)
	Must(t, begin(t, store, Entry("d")))
	if _, ok := errors.AsType[*callstore.FullError](begin(t, store, Entry("e"))); !ok {
		t.Error("a fifth call was let in")
	}
	Must(t, store.Forget(t.Context(), Key("d")), begin(t, store, Entry("e")))
}

// testQuotaOfIDs checks that a full quota refuses ids of its tenant or principal only, that ids
// that are forgotten or expire make room, and that a restart does not.
func testQuotaOfIDs(t *testing.T, h Harness) {
	clock := newClock()
	store := h.New(t, Config{Now: clock.Now, Bounds: callstore.Bounds{KeepIDs: time.Hour}})
	quota := callstore.Quota{OfTenant: 3, OfPrincipal: 2}
	begin := func(principal, id, full string) {
		t.Helper()
		err := store.BeginWithin(t.Context(), callstore.Entry{Key: callstore.Key{Principal: principal, ID: id}, Tool: "t"}, quota)
		if full == "" {
			Must(t, err)
			return
		}
		refused, ok := errors.AsType[*callstore.FullError](err)
		if !ok || !strings.Contains(err.Error(), full+", which is its quota call_ids") || !refused.Room.Equal(clock.Now().Add(time.Hour)) {
			t.Errorf("%s of %s: %v, want the quota of %s", id, principal, err, full)
		}
	}
	begin("red/ada", "1", "")
	begin("red/ada", "2", "")
	for range 2 {
		begin("red/ada", "3", "2 calls of the principal red/ada")
		begin("red/bob", "1", "")
		begin("red/eve", "1", "3 calls of the tenant red")
		begin("ada", "1", "")
		Must(t, store.Forget(t.Context(), callstore.Key{Principal: "red/bob", ID: "1"}), store.Forget(t.Context(), callstore.Key{Principal: "ada", ID: "1"}))
	}
	begin("red/bob", "1", "")
	store = h.Reopen(t, store)
	begin("red/eve", "1", "3 calls of the tenant red")
	clock.advance(2 * time.Hour)
	nudge(t, store)
	begin("red/eve", "1", "")
	begin("red/ada", "4", "")
}

// testResultsHaveABound checks that the bound of all results holds whatever their sizes are, and
// that the store removes the oldest first.
func testResultsHaveABound(t *testing.T, h Harness) {
	store := h.New(t, Config{Bounds: callstore.Bounds{MaxBytes: 80_000}})
	random := rand.New(rand.NewPCG(1, 2))
	const calls = 200
	for i := range calls {
		if i == 120 {
			store = h.Reopen(t, store)
		}
		id := fmt.Sprint(i)
		size := random.IntN(100)
		if i%5 == 0 {
			size = random.IntN(9000) // 10,000 is the bound
		}
		Must(t, begin(t, store, Entry(id)), store.End(t.Context(), Key(id), Answer(strings.Repeat("x", size))))
	}
	bytes, gone := 0, false
	for i := range calls {
		e := WantState(t, store, fmt.Sprint(calls-1-i), callstore.StateEnded)
		if e.Outcome != nil {
			bytes += len(e.Outcome.Result.Text())
		}
		if gone && e.Outcome != nil {
			t.Errorf("%s is there although a younger one is gone", e.ID)
		}
		gone = gone || e.Outcome == nil
	}
	if bytes > 80_000 || bytes < 50_000 {
		t.Errorf("%d bytes of results are kept", bytes)
	}
}

// testTenantsKeepResults checks that the tenant with the most bytes of results loses its oldest
// ones if there are too many, and that results of other tenants stay.
func testTenantsKeepResults(t *testing.T, h Harness) {
	store := h.New(t, Config{Bounds: callstore.Bounds{MaxBytes: 80_000}})
	made := map[string][]callstore.Key{}
	add := func(principal string, size int) {
		key := callstore.Key{Principal: principal, ID: fmt.Sprint(len(made[principal]))}
		Must(t, begin(t, store, callstore.Entry{Key: key, Tool: "t"}), store.End(t.Context(), key, Answer(strings.Repeat("x", size))))
		made[principal] = append(made[principal], key)
	}
	kept := func(principal string) (n int) {
		for _, key := range made[principal] {
			e, found, err := store.Find(t.Context(), key)
			Must(t, err)
			if found && e.Outcome != nil {
				n++
			}
		}
		return n
	}
	for range 5 {
		add("blue/ada", 1000)
		add("ada", 1000)
	}
	for i := range 150 {
		add("red/ada", 900)
		if i == 75 {
			store = h.Reopen(t, store)
		}
	}
	add("blue/ada", 9000)
	if blue, own, red := kept("blue/ada"), kept("ada"), kept("red/ada"); blue != 6 || own != 5 || red < 40 || red > 80 {
		t.Errorf("%d of 6, %d of 5, and %d of 150 results are kept", blue, own, red)
	}
	if e, _, _ := store.Find(t.Context(), made["red/ada"][149]); e.Outcome == nil {
		t.Error("the newest result of the tenant with the most is gone")
	}
	for range 20 { // the tenant with few results has the most now
		add("blue/ada", 9000)
	}
	if n := kept("red/ada"); n < 30 {
		t.Errorf("%d results of the other tenant are left", n)
	}
}
