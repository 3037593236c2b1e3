package callstore_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/callstore"
	"github.com/toolhost/toolhost/tool"
)

// nudge makes the store do its background work.
func nudge(t *testing.T, store *callstore.Store) {
	t.Helper()
	must(t, store.Forget(t.Context(), key("nobody")))
}

// within waits for a condition. It gives up before the store would tick by itself, which is once a
// minute.
func within(t *testing.T, so func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for !so() {
		if ctx.Err() != nil {
			t.Fatal("it does not come to be")
		}
	}
}

func TestIDsStaySevenDays(t *testing.T) {
	clock := newClock()
	cfg := config(t)
	cfg.Now = clock.Now
	store := open(t, cfg)
	const calls = 1100
	var group sync.WaitGroup
	for i := range calls {
		group.Go(func() {
			id := fmt.Sprint(i)
			if err := errors.Join(store.Begin(t.Context(), entry(id)), store.End(t.Context(), key(id), answer("ok"))); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	must(t, store.Begin(t.Context(), entry("stuck")))
	clock.advance(7*24*time.Hour - 1)
	must(t, store.Begin(t.Context(), entry("young")))
	for i := range calls {
		if e := wantState(t, store, fmt.Sprint(i), callstore.StateEnded); e.How != tool.CallSucceeded {
			t.Fatalf("%+v", e)
		}
	}
	clock.advance(1)
	nudge(t, store)
	within(t, func() bool { // more than one transaction removes
		left, err := store.List(t.Context(), callstore.Query{})
		must(t, err)
		return len(left) == 1
	})
	wantState(t, store, "0", "")
	wantState(t, store, "stuck", "")
	wantState(t, store, "young", callstore.StateBegun)
	must(t, store.Begin(t.Context(), entry("0")))
}

func TestResultsStayADay(t *testing.T) {
	clock := newClock()
	cfg := config(t)
	cfg.Now = clock.Now
	store := open(t, cfg)
	must(t, store.Begin(t.Context(), entry("slow")))
	clock.advance(time.Hour)
	must(t, store.Begin(t.Context(), entry("quick")), store.End(t.Context(), key("quick"), answer("q")))
	clock.advance(time.Hour)
	must(t, store.End(t.Context(), key("slow"), tool.Outcome{Err: tool.Errorf(tool.KindTimeout, "late")}))
	clock.advance(23 * time.Hour)
	nudge(t, store)
	if e := wantState(t, store, "quick", callstore.StateEnded); e.Outcome != nil || e.How != tool.CallSucceeded || e.Instance != "mail-1" {
		t.Errorf("quick: %+v", e)
	}
	if e := wantState(t, store, "slow", callstore.StateEnded); e.Outcome == nil {
		t.Errorf("slow: its outcome went with the older one's")
	}
	shut(t, store)
	store = open(t, cfg)
	clock.advance(time.Hour)
	nudge(t, store)
	if e := wantState(t, store, "slow", callstore.StateEnded); e.Outcome != nil || tool.KindOf(e.Err) != tool.KindTimeout {
		t.Errorf("slow: %+v", e)
	}
}

func TestTooManyIDs(t *testing.T) {
	clock := newClock()
	cfg := config(t)
	cfg.Now, cfg.MaxIDs = clock.Now, 3
	store := open(t, cfg)
	ctx := t.Context()
	first := clock.Now()
	for _, id := range []string{"a", "b", "c"} {
		must(t, store.Begin(ctx, entry(id)), store.End(ctx, key(id), answer("ok")))
		clock.advance(time.Hour)
	}
	for range 2 {
		full, ok := errors.AsType[*callstore.FullError](store.Begin(ctx, entry("d")))
		if !ok || full.IDs != 3 || !full.Room.Equal(first.Add(7*24*time.Hour)) || !contains(full, "2023-11-21T22:13:20Z") {
			t.Errorf("got %v", full)
		}
		shut(t, store)
		store = open(t, cfg)
	}
	if err := store.Begin(ctx, entry("a")); !errors.Is(err, callstore.ErrTaken) {
		t.Errorf("beginning what is there: %v", err)
	}
	clock.advance(7*24*time.Hour - 3*time.Hour)
	must(t, store.Begin(ctx, entry("d")))
	if _, ok := errors.AsType[*callstore.FullError](store.Begin(ctx, entry("e"))); !ok {
		t.Error("a fifth call was let in")
	}
	must(t, store.Forget(ctx, key("d")), store.Begin(ctx, entry("e")))
}

// The bound of all results holds whatever their sizes are, and the oldest are removed first.
func TestResultsHaveABound(t *testing.T) {
	cfg := config(t)
	cfg.MaxBytes = 80_000
	store := open(t, cfg)
	random := rand.New(rand.NewPCG(1, 2))
	var ended []string
	for i := range 300 {
		if i%100 == 50 {
			shut(t, store)
			store = open(t, cfg)
		}
		id := fmt.Sprint(i)
		size := random.IntN(100)
		if i%7 == 0 {
			size = random.IntN(9000) // 10,000 is the bound
		}
		must(t, store.Begin(t.Context(), entry(id)), store.End(t.Context(), key(id), answer(strings.Repeat("x", size))))
		ended = append(ended, id)
	}
	bytes, gone := 0, false
	for i := len(ended) - 1; i >= 0; i-- {
		e := wantState(t, store, ended[i], callstore.StateEnded)
		if e.Outcome != nil {
			bytes += len(e.Outcome.Result.Text())
		}
		if gone && e.Outcome != nil {
			t.Errorf("%s is there although a younger one is gone", ended[i])
		}
		gone = gone || e.Outcome == nil
	}
	if bytes > 80_000 || bytes < 50_000 {
		t.Errorf("%d bytes of results are kept", bytes)
	}
}

// The bound holds although the store removes results after it adds them.
func TestManyResultsAtOnce(t *testing.T) {
	cfg := config(t)
	cfg.MaxBytes = 80_000
	store := open(t, cfg)
	const calls = 30
	for i := range calls {
		must(t, store.Begin(t.Context(), entry(fmt.Sprint(i))))
	}
	release := stall(t, cfg.Path)
	defer release()
	leaving, leave := context.WithCancel(t.Context())
	leave()
	for i := range calls {
		if err := store.End(leaving, key(fmt.Sprint(i)), answer(strings.Repeat("x", 9000))); !errors.Is(err, context.Canceled) {
			t.Errorf("ending: %v", err)
		}
	}
	shutdown := make(chan struct{})
	go func() { // ends with Close
		defer close(shutdown)
		shut(t, store)
	}()
	release()
	<-shutdown
	data, err := os.Stat(cfg.Path)
	must(t, err)
	if most := int64(80_000 + 20_000); data.Size() > most {
		t.Errorf("the file has grown to %d bytes", data.Size())
	}
	store = open(t, cfg)
	for i := range calls {
		wantState(t, store, fmt.Sprint(i), callstore.StateEnded)
	}
}
