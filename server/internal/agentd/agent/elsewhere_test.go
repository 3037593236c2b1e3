package agent_test

import (
	"context"
	"sync"
	"sync/atomic"
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

// partly is a store in which another agent has one of the runs.
type partly struct {
	*remoteStore
	other atomic.Pointer[string]
}

func (s *partly) Claim(id string) (uint64, error) {
	if other := s.other.Load(); other != nil && *other == id {
		return 0, runstore.AlreadyClaimed(id)
	}
	return s.remoteStore.Claim(id)
}

// delegatingOnce is a model for a run whose sub-run makes a call, and then asks a question.
func delegatingOnce() *fakeModel {
	return delegating(func(n int, req model.Request) *model.Response {
		if n == 0 {
			return response(model.StopToolUse, newTask("a", `{"task":"one"}`))
		}
		return response(model.StopEndTurn, text("heard: "+results(req)[0]))
	}, func(n int, req model.Request) *model.Response {
		return []*model.Response{response(model.StopToolUse, call("c", "echo")), response(model.StopToolUse, question("which?")), response(model.StopEndTurn, text("blue"))}[n]
	})
}

// A run that waits for a sub-run of another agent ends here when that agent has it, too.
func TestARunThatAnotherAgentTakesWithItsSubRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, delegatingOnce(), newTools(takes(time.Hour)), withSystem)
		f.start(loop.Task{})
		time.Sleep(time.Second)
		f.Close()
		child, store := loop.SubRunID("r", "r.t1.c0"), &partly{remoteStore: &remoteStore{Store: f.store}}
		store.other.Store(&child)
		f.open(func(c *agent.Config) { withSystem(c); c.Store = store })
		defer f.Close()
		if err := f.ResumeRun(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		before := store.held.Load()
		store.claimed.Store(true)
		time.Sleep(time.Minute)
		if now := store.held.Load(); before != 1 || now != 0 {
			t.Errorf("%d runs are at work, and then %d", before, now)
		}
	})
}

// A run that was taken without its sub-run waits for the agent that still has it, shows what the
// sub-run waits for there, and gets its result. If that agent leaves the sub-run, it goes on here.
func TestASubRunThatAnotherAgentHas(t *testing.T) {
	for name, leaves := range map[string]bool{"it ends there": false, "that agent leaves it": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := delegatingOnce()
				attended := func(c *agent.Config) { withPeople(c); withSystem(c) }
				owner := newFixture(t, m, newTools(takes(10*time.Minute)), attended)
				owner.start(loop.Task{})
				time.Sleep(time.Second)
				owner.Close()
				child := loop.SubRunID("r", "r.t1.c0")
				owner.open(attended)
				if err := owner.ResumeRun(t.Context(), child); err != nil {
					t.Fatal(err)
				}
				taker, store := &fixture{t: t, store: owner.store, model: m, tools: owner.tools}, &partly{remoteStore: &remoteStore{Store: owner.store}}
				store.other.Store(&child)
				taker.open(func(c *agent.Config) { attended(c); c.Store = store })
				defer taker.Close()
				if err := taker.ResumeRun(t.Context(), "r"); err != nil {
					t.Fatal(err)
				}
				time.Sleep(9 * time.Minute)
				if r := state(t, taker, "r"); r.Finished() || len(r.Pending) != 0 {
					t.Fatalf("the run is %s with %q and waits for %+v", r.State(), r.StopReason, r.Pending)
				}
				answers := owner
				if leaves {
					owner.Close()
					store.other.Store(nil)
					answers = taker
				} else {
					defer owner.Close()
				}
				time.Sleep(time.Minute)
				if r := state(t, taker, "r"); len(r.Pending) != 1 || r.Pending[0].RunID != child {
					t.Fatalf("the run is %s with %q and waits for %+v", r.State(), r.StopReason, r.Pending)
				}
				if leaves { // a store of several agents takes both
					if err := taker.ResumeRun(t.Context(), "r"); err != nil {
						t.Fatal(err)
					}
				}
				if _, err := answers.Respond(t.Context(), child, loop.DecisionMade{ID: "d1", Verdict: loop.VerdictAnswer, Text: "blue"}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
				if r := state(t, taker, "r"); !r.Finished() {
					t.Fatalf("the run is %s and waits for %+v", r.State(), r.Pending)
				}
				if end := taker.end(); end.Text != "heard: blue" {
					t.Errorf("ended with %+v", end)
				}
				for id, n := range owner.tools.executions() {
					if n != 1 {
						t.Errorf("call %s was executed %d times", id, n)
					}
				}
			})
		})
	}
}

// A sub-run that goes on after its call has its result is given up when it only waits, and its
// parent is gone from the agent.
func TestASubRunThatOutlivesItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := delegating(func(n int, _ model.Request) *model.Response {
			return []*model.Response{response(model.StopToolUse, newTask("a", `{"task":"one"}`)), response(model.StopToolUse, call("b", "echo")), response(model.StopEndTurn, text("done"))}[n]
		}, func(n int, _ model.Request) *model.Response {
			return []*model.Response{response(model.StopEndTurn, text("one")), response(model.StopToolUse, question("which?"))}[n]
		})
		f := newFixture(t, m, newTools(takes(10*time.Minute)), nil)
		store := &remoteStore{Store: f.store}
		f.Close()
		f.open(func(c *agent.Config) { withPeople(c); withSystem(c); c.Store = store })
		defer f.Close()
		f.start(loop.Task{})
		time.Sleep(time.Minute)
		child := loop.SubRunID("r", "r.t1.c0")
		if _, err := f.SendMessage(t.Context(), child, "more"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if n := store.held.Load(); n != 2 {
			t.Errorf("the agent has %d claims", n)
		}
		time.Sleep(10 * time.Minute)
		if parent, below := state(t, f, "r"), state(t, f, child); !parent.Finished() || below.State() != agent.RunWaiting {
			t.Errorf("the run is %s, and its sub-run %s", parent.State(), below.State())
		}
		if n := store.held.Load(); n != 0 {
			t.Errorf("%d claims are left", n)
		}
	})
}

// looking is a store whose looks take some time.
type looking struct {
	*remoteStore
	now, most, all atomic.Int32
}

func (s *looking) TakeOver(ctx context.Context, limit int) ([]runstore.Taken, error) {
	s.all.Add(1)
	if now := s.now.Add(1); now > s.most.Load() {
		s.most.Store(now)
	}
	defer s.now.Add(-1)
	time.Sleep(100 * time.Millisecond)
	return s.remoteStore.TakeOver(ctx, limit)
}

// One look is made at a time, so that many requests at once do not take runs for the same free
// slots. Those that come during a look share the next one.
func TestOneLookAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, okModel(), newTools(echo), nil)
		store := &looking{remoteStore: &remoteStore{Store: f.store}}
		f.Close()
		f.open(func(c *agent.Config) { c.Store = store })
		defer f.Close()
		var group sync.WaitGroup
		for range 20 {
			group.Go(func() {
				if _, err := f.Look(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		leaving, leave := context.WithCancel(t.Context())
		synctest.Wait()
		group.Go(func() {
			if _, err := f.Look(leaving); tool.KindOf(err) != tool.KindCancelled {
				t.Errorf("a look that is not waited for: %v", err)
			}
		})
		synctest.Wait()
		leave()
		group.Wait()
		if most, all := store.most.Load(), store.all.Load(); most != 1 || all != 2 {
			t.Errorf("%d looks, and %d at the same time", all, most)
		}
	})
}
