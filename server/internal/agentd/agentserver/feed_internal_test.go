package agentserver

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/tool"
)

// journal is an agent whose runs wait for decisions, and counts the reads.
type journal struct {
	Lookup
	mu    sync.Mutex
	last  int64
	at    map[string]int64 // the last change of each run, which is the id of its decision
	reads int
	rung  chan struct{}
	text  string
}

func newJournal(text string) *journal {
	return &journal{at: map[string]int64{}, rung: make(chan struct{}), text: text}
}

func (j *journal) change(run string, by bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last++
	j.at[run] = j.last
	if by {
		close(j.rung)
		j.rung = make(chan struct{})
	}
}

func (j *journal) DecisionsChange() <-chan struct{} {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.rung
}

func (j *journal) ChangedDecisions(_ context.Context, _ agent.DecisionQuery, after int64) (sets []agent.DecisionSet, now int64, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.reads++
	if after == runstore.Now {
		return nil, j.last, nil
	}
	if after > j.last {
		return nil, after, runstore.NotReached(after)
	}
	runs := slices.SortedFunc(maps.Keys(j.at), func(a, b string) int { return cmp.Compare(j.at[a], j.at[b]) })
	for _, run := range runs {
		if j.at[run] > after {
			d := agent.Decision{Pending: loop.Pending{DecisionRequested: loop.DecisionRequested{ID: fmt.Sprint(j.at[run])}, Arguments: j.text}}
			sets, now = append(sets, agent.DecisionSet{RunID: run, Decisions: []agent.Decision{d}}), j.at[run]
			if len(sets) == 3 {
				return sets, now, nil
			}
		}
	}
	return sets, j.last, nil
}

// await returns the next state after a place.
func await(f *feed, at *place) (*agent.DecisionSet, error) {
	for {
		set, news, err := f.next(at)
		if set != nil || err != nil || news == nil {
			return set, err
		}
		<-news
	}
}

// However many watches there are, a change is read once: at once if this process has made it, and
// otherwise with the next look. Without watches, nothing is read.
func TestOneReadForAllWatches(t *testing.T) {
	for _, here := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			j := newJournal("")
			j.change("before", here)
			s := &feeds{agent: j}
			var watches sync.WaitGroup
			began := time.Now()
			for range 50 {
				watches.Go(func() { // ends with the first state
					f := s.join()
					defer s.leave(f)
					set, err := await(f, &place{position: 1})
					if err != nil || set == nil || set.RunID != "red/r" {
						t.Errorf("got %v, %v", set, err)
					}
				})
			}
			synctest.Wait()
			before := j.reads
			j.change("red/r", here)
			watches.Wait()
			want := betweenLooks
			if here {
				want = leastPause
			}
			if took := time.Since(began); took != want {
				t.Errorf("here %t: the change came after %v, want %v", here, took, want)
			}
			if n := j.reads - before; n != 2 { // the second one says that there is no more
				t.Errorf("here %t: %d reads", here, n)
			}
			time.Sleep(time.Hour)
			if n := j.reads - before; n != 2 {
				t.Errorf("here %t: %d reads without a watch", here, n)
			}
		})
	}
}

// Watches that begin, pause and fall behind have the last state of each run in the end, though the
// feed keeps a few runs only.
func TestWatchesThatFallBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, random := newJournal(strings.Repeat("x", maxFed/5)), rand.New(rand.NewPCG(1, 2))
		s := &feeds{agent: j}
		f := s.join()
		defer s.leave(f)
		type watch struct {
			at    place
			knows map[string]string
		}
		watches := make([]watch, 4)
		behind := 0
		step := func(w *watch) (more bool) {
			if w.knows == nil {
				w.knows = map[string]string{}
			}
			set, news, err := f.next(&w.at)
			if err != nil {
				t.Fatal(err)
			}
			if set != nil {
				w.knows[set.RunID] = set.Decisions[0].ID
			} else if news == nil {
				behind++
				sets, now, err := j.ChangedDecisions(t.Context(), agent.DecisionQuery{}, w.at.position)
				if err != nil {
					t.Fatal(err)
				}
				for _, set := range sets {
					w.knows[set.RunID] = set.Decisions[0].ID
				}
				w.at.position = now
			}
			return news == nil
		}
		for n := range 2000 {
			j.change(fmt.Sprintf("r%d", random.IntN(12)), true)
			for range random.IntN(4) {
				step(&watches[random.IntN(3)])
			}
			if n%3 == 0 {
				time.Sleep(leastPause)
				synctest.Wait()
			}
			f.mu.Lock()
			if f.size > maxFed || len(f.byRun) > 12 || len(f.states) > 24 {
				t.Errorf("the feed has %d bytes in %d states of %d runs", f.size, len(f.states), len(f.byRun))
			}
			f.mu.Unlock()
		}
		time.Sleep(betweenLooks)
		synctest.Wait()
		for n := range watches {
			for step(&watches[n]) {
			}
			for run, at := range j.at {
				if watches[n].knows[run] != fmt.Sprint(at) {
					t.Errorf("watch %d: %s is %s, want %d", n, run, watches[n].knows[run], at)
				}
			}
			if watches[n].at.position != j.last {
				t.Errorf("watch %d is at %d, want %d", n, watches[n].at.position, j.last)
			}
		}
		if behind < 20 {
			t.Errorf("a watch was behind %d times", behind)
		}
	})
}

// All watches end when the store is another one, and later ones begin with it.
func TestTheFeedOfARestoredStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal("")
		j.change("r", true)
		s := &feeds{agent: j}
		f := s.join()
		synctest.Wait()
		j.mu.Lock()
		j.last, j.at = 0, map[string]int64{}
		j.mu.Unlock()
		if _, err := await(f, &place{position: 1}); tool.KindOf(err) != tool.KindUnavailable {
			t.Errorf("got %v", err)
		}
		other := s.join()
		defer s.leave(other)
		s.leave(f)
		synctest.Wait()
		j.change("later", true)
		if set, err := await(other, &place{}); err != nil || set.RunID != "later" {
			t.Errorf("afterwards: %v, %v", set, err)
		}
	})
}
