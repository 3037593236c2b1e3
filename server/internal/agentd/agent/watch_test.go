package agent_test

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/tool"
)

// checkOrder checks that durable events have no gap and no duplicate, and that passing events
// precede their durable event in order.
func checkOrder(t *testing.T, after uint64, events []loop.Event) {
	t.Helper()
	seq, index := after, uint64(0)
	for i, e := range events {
		switch {
		case e.Durable() && e.Seq == seq+1:
			seq, index = e.Seq, 0
		case !e.Durable() && e.Seq == seq+1 && e.Index > index:
			index = e.Index
		default:
			t.Fatalf("event %d is %s at %d.%d, after %d.%d", i, e.Payload.Type(), e.Seq, e.Index, seq, index)
		}
	}
}

// writer is a model that writes the pieces that it receives.
type writer struct {
	pieces chan string // closed: the response ends
}

func (*writer) Name() string { return "fake:writer" }
func (w *writer) Generate(ctx context.Context, _ model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		for {
			select {
			case piece, ok := <-w.pieces:
				if !ok {
					yield(model.Chunk{Response: response(model.StopEndTurn, text("all"))}, nil)
					return
				}
				if !yield(model.Chunk{TextDelta: &model.TextDelta{Text: piece}}, nil) {
					return
				}
			case <-ctx.Done():
				yield(model.Chunk{}, ctx.Err())
				return
			}
		}
	}
}

func TestWatchFromAnywhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, longRun(), newTools(sometimes), nil)
		f.start(loop.Task{})
		var group sync.WaitGroup
		for after := range uint64(60) {
			group.Go(func() {
				events := f.watch(after)
				checkOrder(t, after, events)
				for i, e := range events { // no watcher is slow here, so none misses an event
					if i > 0 && !e.Durable() && e.Index != events[i-1].Index+1 {
						t.Errorf("after %d: index %d follows %d", after, e.Index, events[i-1].Index)
					}
				}
				if last := events[len(events)-1]; last.Payload.Type() != loop.TypeRunFinished {
					t.Errorf("after %d: the last event is %s", after, last.Payload.Type())
				}
			})
		}
		group.Wait()
		all := f.watch(0)
		n := uint64(len(all))
		for _, after := range []uint64{1, n - 1, n, n + 5} {
			if diff := cmp.Diff(types(all[min(after, n):]), types(f.watch(after))); diff != "" {
				t.Errorf("after %d (-want +got):\n%s", after, diff)
			}
		}
	})
}

func TestLateWatcherSeesTheTurnFromItsBeginning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &writer{pieces: make(chan string)}
		f := newFixture(t, &fakeModel{}, newTools(echo), func(c *agent.Config) { c.Model = w })
		f.start(loop.Task{})
		w.pieces <- "one "
		w.pieces <- "two "
		synctest.Wait()
		shown := ""
		for e, err := range f.WatchRun(t.Context(), "r", 1) {
			if err != nil {
				t.Fatal(err)
			}
			if p, ok := e.Payload.(*loop.TextDelta); ok {
				shown += p.Text
				if e.Index == 2 {
					w.pieces <- "three"
				}
				if e.Index == 3 {
					close(w.pieces)
				}
			}
		}
		if shown != "one two three" {
			t.Errorf("shown %q", shown)
		}
	})
}

// stutterer is a model. Its first response has one delta and ends at the token limit. Its second
// response waits for release.
type stutterer struct{ release chan struct{} }

func (*stutterer) Name() string { return "fake:stutterer" }
func (m *stutterer) Generate(ctx context.Context, req model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		if len(req.Messages) == 1 {
			if yield(model.Chunk{TextDelta: &model.TextDelta{Text: "one"}}, nil) {
				yield(model.Chunk{Response: response(model.StopMaxTokens, text("one"))}, nil)
			}
			return
		}
		select {
		case <-m.release:
			yield(model.Chunk{Response: response(model.StopEndTurn, text("two"))}, nil)
		case <-ctx.Done():
			yield(model.Chunk{}, ctx.Err())
		}
	}
}

// A watcher that joins after a turn still sees the passing events that the run has kept.
func TestWatcherFromTheStartOfARunAtWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &stutterer{release: make(chan struct{})}
		f := newFixture(t, &fakeModel{}, newTools(echo), func(c *agent.Config) { c.Model = m })
		f.start(loop.Task{})
		synctest.Wait() // the first turn is in the journal
		var shown string
		for e, err := range f.WatchRun(t.Context(), "r", 0) {
			if err != nil {
				t.Fatal(err)
			}
			switch p := e.Payload.(type) {
			case *loop.TextDelta:
				shown += p.Text
			case *loop.AssistantMessage:
				if shown != "one" {
					t.Errorf("shown before the message: %q", shown)
				}
				if e.Seq == 2 {
					close(m.release)
				}
			}
		}
	})
}

// A watcher that does not read blocks no other part of the agent, and still gets every durable
// event.
func TestSlowWatcher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &writer{pieces: make(chan string)}
		f := newFixture(t, &fakeModel{}, newTools(echo), func(c *agent.Config) { c.Model = w })
		f.start(loop.Task{})
		next, stop := iter.Pull2(f.WatchRun(t.Context(), "r", 0))
		defer stop()
		first, _, _ := next()
		events := []loop.Event{first}
		for i := range 3000 {
			w.pieces <- fmt.Sprint(i)
		}
		close(w.pieces)
		synctest.Wait()
		for e, err, ok := next(); ok; e, err, ok = next() {
			if err != nil {
				t.Fatal(err)
			}
			events = append(events, e)
		}
		checkOrder(t, 0, events)
		if got := durable(events); len(got) != 3 || len(events) > 1000 {
			t.Errorf("%d events, durable: %v", len(events), types(got))
		}
	})
}

// A watcher that is further behind than the run's feed reads the rest from the journal.
func TestSlowWatcherOfALongRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const busy = 90 // turns of nine events each, and then a pause
		answer := response(model.StopToolUse, call("a", "echo"), call("b", "echo"), call("c", "echo"), call("d", "echo"))
		release, asked := make(chan struct{}), 0
		m := &fakeModel{answer: func(context.Context, model.Request) (*model.Response, error) {
			switch asked++; {
			case asked == 1:
				time.Sleep(time.Second) // fake time; the watcher joins before anything happens
			case asked > busy:
				<-release
			}
			return answer, nil
		}}
		f := newFixture(t, m, newTools(echo), nil)
		f.start(loop.Task{})
		var events []loop.Event
		for e, err := range f.WatchRun(t.Context(), "r", 1) {
			if err != nil {
				t.Fatal(err)
			}
			events = append(events, e)
			switch e.Seq {
			case 2:
				synctest.Wait() // the run is far ahead
			case 1 + 9*busy:
				close(release)
			}
		}
		checkOrder(t, 1, events)
		if end, ok := events[len(events)-1].Payload.(*loop.RunFinished); !ok || end.StopReason != loop.StopMaxTurns || len(events) != 902 { // with the warning after 80 turns
			t.Errorf("%d events", len(events))
		}
	})
}

func TestWatchEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &writer{pieces: make(chan string)}
		f := newFixture(t, &fakeModel{}, newTools(echo), func(c *agent.Config) { c.Model = w })
		f.start(loop.Task{})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var last error
		for _, err := range f.WatchRun(ctx, "r", 0) {
			last = err
			cancel()
		}
		if tool.KindOf(last) != tool.KindCancelled {
			t.Errorf("the watch ended with %v", last)
		}
	})
}

// The watch of a run does not end with the run if a user message already waits, because the run
// then continues.
func TestWatchFollowsARunThatGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, turns(response(model.StopEndTurn, text("one")), response(model.StopEndTurn, text("two"))), newTools(echo), nil)
		f.start(loop.Task{})
		f.end()
		if _, err := f.SendMessage(t.Context(), "r", "more"); err != nil {
			t.Fatal(err)
		}
		events := f.watch(0)
		checkOrder(t, 0, events)
		if end := events[len(events)-1].Payload.(*loop.RunFinished); end.Text != "two" {
			t.Errorf("ended with %+v", end)
		}
	})
}

// If a watcher receives the run's end when the run already continues, the watch continues, too.
func TestWatchFollowsIntoTheNextWork(t *testing.T) {
	for name, idle := range map[string]bool{"watching live": false, "reading the journal": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { followIntoTheNextWork(t, idle) })
		})
	}
}

func followIntoTheNextWork(t *testing.T, idle bool) {
	m := &fakeModel{answer: func(context.Context, model.Request) (*model.Response, error) {
		time.Sleep(time.Second) // fake time; the watcher is done before
		return response(model.StopEndTurn, text("ok")), nil
	}}
	f := newFixture(t, m, newTools(echo), nil)
	f.start(loop.Task{})
	if idle {
		f.end()
	}
	finished := 0
	for e, err := range f.WatchRun(t.Context(), "r", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := e.Payload.(*loop.RunFinished); !ok {
			continue
		}
		synctest.Wait() // no goroutine works on it now
		if finished++; finished == 1 {
			if _, err := f.SendMessage(t.Context(), "r", "more"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if finished != 2 {
		t.Errorf("saw %d ends", finished)
	}
}

// A journal that cannot be written ends the work with the reason. Watchers see only what the
// journal has.
func TestFullJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, longRun(), newTools(sometimes), nil)
		dying := &dyingStore{Store: f.store}
		dying.left.Store(3)
		f.Close()
		f.open(func(c *agent.Config) { c.Store = dying })
		defer f.Close()
		f.start(loop.Task{})
		var shown []loop.Event
		var last error
		for e, err := range f.WatchRun(t.Context(), "r", 0) {
			if last = err; err == nil && e.Durable() {
				shown = append(shown, e)
			}
		}
		if tool.KindOf(last) != tool.KindInternal {
			t.Errorf("the watch ended with %v", last)
		}
		var kept []runstore.Record
		for rec, err := range f.store.Read(t.Context(), "r", 0) {
			if err != nil {
				t.Fatal(err)
			}
			kept = append(kept, rec)
		}
		if len(shown) != len(kept) {
			t.Errorf("%d durable events were shown and %d are kept", len(shown), len(kept))
		}
	})
}
