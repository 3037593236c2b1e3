package agent_test

import (
	"context"
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

// beside returns a second agent of the store of the first one, which has all claims, until left.
func beside(t *testing.T, f *fixture) (*fixture, *remoteStore) {
	t.Helper()
	store := &remoteStore{Store: f.store}
	store.claimed.Store(true)
	other := &fixture{t: t, store: f.store, model: f.model, tools: f.tools}
	other.open(func(c *agent.Config) { c.Store = store })
	if _, err := other.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	return other, store
}

// leave gives the runs of the first agent, which is gone, to the second one.
func (s *remoteStore) leave() {
	s.left.Store(true)
	s.claimed.Store(false)
}

// A watcher at an agent on which the run is not at work gets all durable events, while the run is
// at another agent, while nobody works on it, and when it goes on here. One query asks for all
// watchers, and none if there is no watcher.
func TestWatchARunOfAnotherAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := []*model.Response{}
		for range 6 {
			calls = append(calls, response(model.StopToolUse, call("a", "echo")))
		}
		f, _ := newRemote(t, turns(append(calls, response(model.StopEndTurn, text("done")))...), newTools(takes(10*time.Second)))
		other, store := beside(t, f)
		defer other.Close()
		time.Sleep(time.Minute)
		if n := store.asked.Load(); n > 0 {
			t.Errorf("%d queries without a watcher", n)
		}
		f.start(loop.Task{})
		time.Sleep(time.Millisecond) // virtual, like all of them
		var group sync.WaitGroup
		got := make([][]loop.Event, 20)
		for after := range got {
			group.Go(func() { got[after] = other.watch(uint64(after)) })
		}
		leaving, leave := context.WithCancel(t.Context())
		group.Go(func() {
			for _, err := range other.WatchRun(leaving, "r", 0) {
				if err != nil && tool.KindOf(err) != tool.KindCancelled {
					t.Errorf("a watcher that leaves: %v", err)
				}
			}
		})
		time.Sleep(25 * time.Second)
		leave()
		if n := store.asked.Load(); n < 20 || n > 26 {
			t.Errorf("%d queries in 25 seconds", n)
		}
		f.Close()
		time.Sleep(time.Minute)
		store.leave()
		group.Wait()
		all := durable(other.watch(0))
		for after, events := range got {
			checkOrder(t, uint64(after), events)
			if diff := cmp.Diff(all[min(after, len(all)):], durable(events)); diff != "" {
				t.Errorf("after %d (-want +got):\n%s", after, diff)
			}
		}
		asked := store.asked.Load()
		time.Sleep(time.Minute)
		if n := store.asked.Load() - asked; n > 1 {
			t.Errorf("%d queries after the last watcher", n)
		}
	})
}

// A run leaves in the middle of a turn, and comes back. The watcher drops the text of the turn, and
// gets the new one from its beginning.
func TestTheTextOfATurnThatLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &writer{pieces: make(chan string)}
		f, store := newRemote(t, &fakeModel{}, newTools(echo))
		f.Close()
		f.open(func(c *agent.Config) { c.Store, c.Model = store, w })
		defer f.Close()
		if _, err := f.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.start(loop.Task{})
		var group sync.WaitGroup
		var events []loop.Event
		group.Go(func() {
			for e, err := range f.WatchRun(t.Context(), "r", 0) {
				if err != nil {
					t.Error(err)
				}
				events = append(events, e)
			}
		})
		for _, piece := range []string{"one ", "two ", "three "} {
			w.pieces <- piece
		}
		for range 2 {
			store.left.Store(true) // another agent had the run meanwhile
			time.Sleep(2 * time.Second)
			store.left.Store(true)
			w.pieces <- "once " // once the run is at work
			w.pieces <- "more"
			synctest.Wait()
			if p, ok := events[len(events)-1].Payload.(*loop.TextDelta); !ok || p.Text != "more" {
				t.Errorf("a watcher is late: %v", types(events))
			}
		}
		close(w.pieces)
		group.Wait()
		checkOrder(t, 0, events)
		shown, resets := "", 0
		for _, e := range events {
			switch p := e.Payload.(type) {
			case *loop.TextDelta:
				shown += p.Text
			case *loop.TurnReset:
				shown, resets = "", resets+1
			}
		}
		if shown != "once more" || resets != 2 {
			t.Errorf("shown %q after %d resets: %v", shown, resets, types(events))
		}
	})
}

// A watcher of a run of another agent learns that the run has ended before the Seq that it waits
// for, that it was deleted, and that the agent closes.
func TestTheEndOfAWatchElsewhere(t *testing.T) {
	for name, tc := range map[string]struct {
		end  func(f, other *fixture) error
		want tool.Kind
	}{
		"ended": {func(*fixture, *fixture) error { time.Sleep(time.Hour); return nil }, ""},
		"deleted": {func(f, _ *fixture) error {
			return f.store.Delete(f.t.Context(), runstore.Deletion{Last: map[string]uint64{"r": 3}})
		}, tool.KindNotFound},
		"closed": {func(_, other *fixture) error { other.Close(); return nil }, tool.KindUnavailable},
	} {
		synctest.Test(t, func(t *testing.T) {
			f, _ := newRemote(t, turns(response(model.StopToolUse, call("a", "echo")), response(model.StopEndTurn, text("done"))), newTools(takes(5*time.Minute)))
			other, _ := beside(t, f)
			defer other.Close()
			f.start(loop.Task{})
			ended := make(chan error, 1)
			go func() { // ends with the watch
				var last error
				for _, err := range other.WatchRun(t.Context(), "r", 1000) {
					last = err
				}
				ended <- last
			}()
			time.Sleep(time.Minute)
			select {
			case err := <-ended:
				t.Fatalf("%s: the watch has ended already: %v", name, err)
			default:
			}
			if err := tc.end(f, other); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if err := <-ended; tool.KindOf(err) != tc.want {
				t.Errorf("%s: the watch ended with %v", name, err)
			}
			f.Close()
		})
	}
}

// No event is missing if a run moves, or ends, between a read of its journal and the next step.
func TestARunThatEndsAfterARead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _ := newRemote(t, turns(response(model.StopToolUse, call("a", "echo")), response(model.StopEndTurn, text("done"))), newTools(takes(time.Minute)))
		other, store := beside(t, f)
		defer other.Close()
		store.slow.Store(int64(time.Hour))
		f.start(loop.Task{})
		if end := other.end(); end.Text != "done" {
			t.Errorf("the run ended with %+v", end)
		}
	})
}
