package held_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/held"
)

// watching is what a watcher knows: a position, and the decisions that wait.
type watching struct {
	at      held.Position
	waiting map[string]bool
	wholes  int
}

func (w *watching) read(store *held.Store) <-chan struct{} {
	all, now, whole, news := store.Changed(w.at, func(*held.Decision) bool { return true })
	if w.at = now; whole {
		w.wholes++
		w.waiting = map[string]bool{}
	}
	for _, d := range all {
		if delete(w.waiting, d.Name); d.State == held.Waiting {
			w.waiting[d.Name] = true
		}
	}
	return news
}

// Watchers that read at any time, and miss whatever they miss, know what waits in the end, through
// decisions, ends, and decisions that are forgotten.
func TestWatchersKnowWhatWaits(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 3))
			store := held.New()
			watchers := make([]watching, 5)
			for step := range 300 {
				waiting := store.Waiting(func(*held.Decision) bool { return true })
				switch {
				case random.IntN(2) == 0 && len(waiting) < 40:
					if _, _, err := store.Hold(held.KeyOf(fmt.Sprint(step)), held.Call{Principal: fmt.Sprintf("p%d", step%3)}); err != nil {
						t.Fatal(err)
					}
				case len(waiting) > 0:
					d := waiting[random.IntN(len(waiting))]
					if _, err := store.Decide(held.Verdict{Name: d.Name, Etag: d.Etag, Approve: random.IntN(2) == 0, By: "b"}, func(held.Decision) error { return nil }); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(time.Duration(random.IntN(3)) * time.Minute) // virtual
				watchers[random.IntN(len(watchers))].read(store)
			}
			for n := range watchers {
				watchers[n].read(store)
				want := map[string]bool{}
				for _, d := range store.Waiting(func(*held.Decision) bool { return true }) {
					want[d.Name] = true
				}
				if !maps.Equal(watchers[n].waiting, want) {
					t.Errorf("seed %d: watcher %d knows %v, want %v", seed, n, slices.Collect(maps.Keys(watchers[n].waiting)), slices.Collect(maps.Keys(want)))
				}
			}
		})
	}
}

// A watcher that reads in time gets changes only. One that was away for long, or comes from another
// store, gets all that waits.
func TestWhenAWatcherBeginsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := held.New()
		var w watching
		news := w.read(store)
		d, _, err := store.Hold(held.KeyOf("1"), held.Call{Principal: "p"})
		if err != nil {
			t.Fatal(err)
		}
		<-news
		news = w.read(store)
		select {
		case <-news:
			t.Error("there is news without a change")
		default:
		}
		if _, err := store.Decide(held.Verdict{Name: d.Name, Etag: d.Etag, By: "b"}, func(held.Decision) error { return nil }); err != nil {
			t.Fatal(err)
		}
		<-news
		away := watching{at: w.at, waiting: maps.Clone(w.waiting)}
		w.read(store)
		if w.wholes != 1 || len(w.waiting) != 0 {
			t.Errorf("the watcher that reads in time: %+v", w)
		}
		time.Sleep(held.Fresh) // virtual
		w.read(store)
		away.read(store)
		if w.wholes != 1 || away.wholes != 1 || len(away.waiting) != 0 {
			t.Errorf("after the decision is forgotten: %+v, and the one that was away %+v", w, away)
		}
		w.read(held.New())
		if w.wholes != 2 {
			t.Errorf("another store: %+v", w)
		}
	})
}
