package callstore_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
)

// stall keeps the store from writing until the returned function is called.
func stall(t *testing.T, path string) (release func()) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	must(t, err)
	conn, err := db.Conn(t.Context())
	must(t, err)
	_, err = conn.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	must(t, err)
	return sync.OnceFunc(func() {
		_, err := conn.ExecContext(t.Context(), "ROLLBACK")
		must(t, err, conn.Close(), db.Close())
	})
}

// No caller waits for a disk that does not answer. Operations whose callers have left end as the
// comments of Begin, End and Forget describe.
func TestLeaving(t *testing.T) {
	cfg := config(t)
	store := open(t, cfg)
	ctx := t.Context()
	must(t, store.Begin(ctx, entry("ends")), store.Begin(ctx, entry("goes")))
	release := stall(t, cfg.Path)
	defer release()
	leaving, leave := context.WithCancelCause(ctx)
	why := errors.New("enough")
	var group sync.WaitGroup
	for what, do := range map[string]func() error{
		"begin":  func() error { return store.Begin(leaving, entry("new")) },
		"end":    func() error { return store.End(leaving, key("ends"), answer("done")) },
		"forget": func() error { return store.Forget(leaving, key("goes")) },
	} {
		group.Go(func() {
			if err := do(); !errors.Is(err, why) {
				t.Errorf("to %s: %v", what, err)
			}
		})
	}
	leave(why)
	group.Wait()
	wantState(t, store, "ends", callstore.StateBegun) // reads still work
	release()
	must(t, store.Begin(ctx, entry("new")))
	if e := wantState(t, store, "ends", callstore.StateEnded); e.Outcome == nil || e.Outcome.Result.Text() != "done" {
		t.Errorf("the end that nobody waited for: %+v", e)
	}
	wantState(t, store, "goes", "")
	if err := store.Begin(leaving, entry("late")); !errors.Is(err, why) {
		t.Errorf("beginning without a caller: %v", err)
	}
	wantState(t, store, "late", "")
}

// An id is taken if Begin returned nil, and free otherwise, whenever its caller leaves.
func TestLeavingAtAnyMoment(t *testing.T) {
	cfg := config(t)
	store := open(t, cfg)
	var group sync.WaitGroup
	var mu sync.Mutex
	begun, left := 0, 0
	for caller := range 16 {
		group.Go(func() {
			for n := range 40 {
				id := fmt.Sprint(caller, "-", n)
				ctx, cancel := context.WithCancel(t.Context())
				gone := make(chan struct{})
				go func() { // ends by itself; the test waits for it
					defer close(gone)
					for range rand.IntN(300 << (n % 5)) {
						_, _, _ = store.Find(t.Context(), key("nobody"))
					}
					cancel()
				}()
				err := store.Begin(ctx, entry(id))
				again := store.Begin(t.Context(), entry(id))
				<-gone
				mu.Lock()
				switch {
				case err == nil && errors.Is(again, callstore.ErrTaken):
					begun++
				case errors.Is(err, context.Canceled) && again == nil:
					left++
				default:
					t.Errorf("%s: %v, then %v", id, err, again)
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	t.Logf("%d have begun, %d were left", begun, left)
	shut(t, store)
	store = open(t, cfg)
	if all, err := store.List(t.Context(), callstore.Query{}); err != nil || len(all) != begun+left {
		t.Errorf("%d calls are in the file, %v; want %d", len(all), err, begun+left)
	}
}
