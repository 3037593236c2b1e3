package agent_test

import (
	"context"
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

var first = runstore.Owner{Node: "0f", Address: "first.example:7445"}

// following returns an agent with a run at work, and another one that follows it.
func following(t *testing.T, m model.Model, tools *fakeTools, follow func(f *fixture) agent.Follow) (f, other *fixture, store *remoteStore) {
	t.Helper()
	f, _ = newRemote(t, &fakeModel{}, tools)
	f.Close()
	f.open(func(c *agent.Config) { c.Model = m })
	store = &remoteStore{Store: f.store}
	store.claimed.Store(true)
	store.owner.Store(&runstore.Position{Epoch: 3, Owner: first})
	other = &fixture{t: t, store: f.store, model: &fakeModel{}, tools: f.tools}
	other.open(func(c *agent.Config) { c.Store, c.Model, c.Follow = store, m, follow(f) })
	if _, err := other.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	return f, other, store
}

// watcher collects the events of a run.
type watcher struct {
	sync.Mutex
	group  sync.WaitGroup
	events []loop.Event
}

func (w *watcher) watch(ctx context.Context, f *fixture) {
	w.group.Go(func() { // ends with the watch
		for e, err := range f.WatchRun(ctx, "r", 0) {
			if err != nil && ctx.Err() == nil {
				f.t.Error(err)
			}
			w.Lock()
			w.events = append(w.events, e)
			w.Unlock()
		}
	})
}

// shown returns the text of the turn, and how many turns were reset.
func (w *watcher) shown() (text string, resets int) {
	w.Lock()
	defer w.Unlock()
	for _, e := range w.events {
		switch p := e.Payload.(type) {
		case *loop.TextDelta:
			text += p.Text
		case *loop.TurnReset:
			text, resets = "", resets+1
		}
	}
	return text, resets
}

func (w *watcher) want(t *testing.T, text string, resets int) {
	t.Helper()
	synctest.Wait()
	if got, n := w.shown(); got != text || n != resets {
		t.Fatalf("shown %q after %d resets, want %q after %d: %v", got, n, text, resets, types(w.events))
	}
}

// A watcher gets the text of a turn from the agent that works on the run. When the run goes on
// elsewhere, the watcher drops that text and gets the new one, without a gap or a repetition.
func TestPassingEventsOfAnotherAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &writer{pieces: make(chan string)}
		hops := 0
		f, other, store := following(t, m, newTools(echo), func(f *fixture) agent.Follow {
			return func(ctx context.Context, owner runstore.Owner, runID string, after uint64) iter.Seq2[loop.Event, error] {
				if hops++; owner != first {
					t.Errorf("a hop to %+v", owner)
				}
				return f.WatchHere(ctx, runID, after)
			}
		})
		defer other.Close()
		f.start(loop.Task{})
		m.pieces <- "early "
		synctest.Wait()
		w := &watcher{}
		w.watch(t.Context(), other)
		time.Sleep(2 * time.Second)
		w.want(t, "early ", 0)
		for _, piece := range []string{"and ", "late"} {
			m.pieces <- piece
			synctest.Wait() // no time passes
		}
		w.want(t, "early and late", 0)
		time.Sleep(time.Minute)
		w.want(t, "early and late", 0)
		if hops != 1 {
			t.Errorf("%d hops", hops)
		}
		f.Close()
		store.owner.Store(&runstore.Position{Epoch: 4})
		store.leave()
		time.Sleep(2 * time.Second)
		m.pieces <- "anew"
		w.want(t, "anew", 1)
		close(m.pieces)
		w.group.Wait()
		checkOrder(t, 0, w.events)
		if diff := cmp.Diff(durable(other.watch(0)), durable(w.events)); diff != "" {
			t.Errorf("durable events (-want +got):\n%s", diff)
		}
	})
}

// An owner that was stopped continues after another one has taken the run. Its text ends when the
// store names the new epoch.
func TestTextOfAFormerOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &writer{pieces: make(chan string)}
		f, other, store := following(t, m, newTools(echo), func(f *fixture) agent.Follow {
			return func(ctx context.Context, _ runstore.Owner, runID string, after uint64) iter.Seq2[loop.Event, error] {
				return f.WatchHere(ctx, runID, after)
			}
		})
		defer other.Close()
		f.start(loop.Task{})
		ctx, leave := context.WithCancel(t.Context())
		w := &watcher{}
		w.watch(ctx, other)
		time.Sleep(2 * time.Second)
		m.pieces <- "old"
		w.want(t, "old", 0)
		store.owner.Store(&runstore.Position{Epoch: 4})
		time.Sleep(2 * time.Second)
		w.want(t, "", 1)
		m.pieces <- " older"
		w.want(t, "", 1)
		leave()
		w.group.Wait()
		f.Close()
	})
}

// Durable events come from the journal: an owner that is silent, cannot be reached, or names events
// that there are not, delays none, and is not asked at each look.
func TestOwnersThatDoNotHelp(t *testing.T) {
	fake := loop.Event{Seq: 1000, Payload: &loop.UserMessage{Text: "forged"}}
	for name, yields := range map[string]func(context.Context, func(loop.Event, error) bool){
		"silent": func(ctx context.Context, _ func(loop.Event, error) bool) { <-ctx.Done() },
		"unreachable": func(_ context.Context, yield func(loop.Event, error) bool) {
			yield(loop.Event{}, tool.Errorf(tool.KindDenied, "no"))
		},
		"forging": func(_ context.Context, yield func(loop.Event, error) bool) { yield(fake, nil) },
		"late": func(_ context.Context, yield func(loop.Event, error) bool) {
			yield(loop.Event{Seq: 1, Index: 1, Payload: &loop.TextDelta{Text: "late"}}, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls := []*model.Response{}
				for range 6 {
					calls = append(calls, response(model.StopToolUse, call("a", "echo")))
				}
				hops := 0
				f, other, _ := following(t, turns(append(calls, response(model.StopEndTurn, text("done")))...), newTools(takes(10*time.Second)), func(*fixture) agent.Follow {
					return func(ctx context.Context, _ runstore.Owner, _ string, _ uint64) iter.Seq2[loop.Event, error] {
						hops++
						return func(yield func(loop.Event, error) bool) { yields(ctx, yield) }
					}
				})
				defer other.Close()
				f.start(loop.Task{})
				w := &watcher{}
				w.watch(t.Context(), other)
				for range 60 {
					time.Sleep(time.Second)
					synctest.Wait()
					run, err := f.GetRun(t.Context(), "r")
					if err != nil {
						t.Fatal(err)
					}
					time.Sleep(time.Second) // of one look
					synctest.Wait()
					w.Lock()
					if last := w.events[len(w.events)-1]; last.Seq < run.LastSeq {
						t.Fatalf("a second after event %d, the last event is %d: %v", run.LastSeq, last.Seq, types(w.events))
					}
					w.Unlock()
				}
				w.group.Wait()
				if diff := cmp.Diff(durable(f.watch(0)), w.events); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if hops > 30 {
					t.Errorf("%d hops", hops)
				}
				f.Close()
			})
		})
	}
}
