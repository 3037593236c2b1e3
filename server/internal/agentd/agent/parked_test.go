package agent_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

// inboxed is a store with inboxes. Its looks find nothing, as if all runs were parked.
type inboxed struct {
	*remoteStore
	broken   atomic.Bool  // no journal can be read
	leaving  atomic.Int64 // nanoseconds that Leave takes
	mu       sync.Mutex
	entries  []runstore.Entry // without an outcome
	outcomes map[runstore.EntryRef]runstore.Outcome
}

func (s *inboxed) Read(ctx context.Context, id string, after uint64) iter.Seq2[runstore.Record, error] {
	if s.broken.Load() {
		return func(yield func(runstore.Record, error) bool) { yield(runstore.Record{}, errors.New("broken")) }
	}
	return s.remoteStore.Read(ctx, id, after)
}

func (s *inboxed) Append(ctx context.Context, b runstore.Batch) error {
	ref := runstore.EntryRef{RunID: b.RunID, ID: b.Entry}
	b.Entry = ""
	if err := s.remoteStore.Append(ctx, b); err != nil || ref.ID == "" {
		return err
	}
	return s.Settle(ctx, ref, b.Epoch, runstore.Outcome{Seq: b.After + 1})
}

func newInboxed(store runstore.Store) *inboxed {
	return &inboxed{remoteStore: &remoteStore{Store: store}, outcomes: make(map[runstore.EntryRef]runstore.Outcome)}
}

func (s *inboxed) Post(_ context.Context, e runstore.Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries = append(s.entries, e)
	return s.err()
}

func (s *inboxed) Entries(_ context.Context, id string) ([]runstore.Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.entries), func(e runstore.Entry) bool { return e.RunID != id }), s.err()
}

func (s *inboxed) Settle(_ context.Context, ref runstore.EntryRef, _ uint64, o runstore.Outcome) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries = slices.DeleteFunc(s.entries, func(e runstore.Entry) bool { return e.EntryRef == ref })
	s.outcomes[ref] = o
	return s.err()
}

func (s *inboxed) Outcomes(_ context.Context, refs []runstore.EntryRef) (map[runstore.EntryRef]runstore.Outcome, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := make(map[runstore.EntryRef]runstore.Outcome)
	for _, ref := range refs {
		if o, ok := s.outcomes[ref]; ok {
			found[ref] = o
		}
	}
	return found, s.err()
}

func (s *inboxed) Leave(family []runstore.Leaving) bool {
	time.Sleep(time.Duration(s.leaving.Load()))
	s.mu.Lock()
	left := !slices.ContainsFunc(s.entries, func(e runstore.Entry) bool {
		return slices.ContainsFunc(family, func(k runstore.Leaving) bool { return k.RunID == e.RunID })
	})
	s.mu.Unlock()
	return left && s.remoteStore.Leave(family)
}

// A request reaches a run whose agent ends before it has admitted the request, although the run is
// parked then, and the database is gone meanwhile. If the run cannot go on here, it is left alone
// for a minute, from the moment at which it failed.
func TestARequestForARunThatIsParkedThen(t *testing.T) {
	for name, slow := range map[string]time.Duration{"it goes on": 0, "it cannot be read at first": time.Nanosecond, "and the database is slow": 5 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, turns(response(model.StopToolUse, call("a", "echo")), response(model.StopEndTurn, text("done"))), newTools(takes(time.Hour)), nil)
				f.start(loop.Task{})
				time.Sleep(time.Second)
				f.Close()
				store := newInboxed(f.store)
				f.open(func(c *agent.Config) { c.Store = store })
				defer f.Close()
				store.claimed.Store(true)
				broken := slow > 0
				store.leaving.Store(int64(slow))
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				added := make(chan error, 1)
				go func() { // ends with ctx
					_, err := f.SendMessage(ctx, "r", "go on")
					added <- err
				}()
				time.Sleep(10 * time.Second)
				store.gone.Store(true)
				store.claimed.Store(false)
				time.Sleep(10 * time.Second)
				store.broken.Store(broken)
				store.gone.Store(false)
				time.Sleep(30 * time.Second)
				if n := store.epoch.Load(); n != 1 {
					t.Errorf("the run was claimed %d times", n)
				}
				if broken {
					store.broken.Store(false)
					time.Sleep(time.Minute)
				}
				select {
				case err := <-added:
					if err != nil {
						t.Errorf("the request: %v", err)
					}
				default:
					t.Error("nobody acts on the request")
				}
			})
		})
	}
}

// An agent that cannot go on with a run with a request keeps the run from all agents for a minute,
// and then lets any of them try: one of a later version may be able to.
func TestAPauseEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, turns(response(model.StopToolUse, call("a", "echo")), response(model.StopEndTurn, text("done"))), newTools(takes(time.Hour)), nil)
		f.start(loop.Task{})
		time.Sleep(time.Second)
		f.Close()
		store := newInboxed(f.store)
		f.open(func(c *agent.Config) { c.Store = store })
		defer f.Close()
		store.broken.Store(true)
		if err := store.Post(t.Context(), runstore.Entry{EntryRef: runstore.EntryRef{RunID: "r", ID: "e"}}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := f.ResumeRun(t.Context(), "r"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(59 * time.Second)
			kept := store.held.Load()
			time.Sleep(2 * time.Second)
			if left := store.held.Load(); kept != 1 || left != 0 {
				t.Errorf("the agent has %d claims in the pause, and %d after it", kept, left)
			}
		}
	})
}

// belowParked is a store in which a run was given up by stores that are gone, and those below it
// were not.
type belowParked struct {
	*inboxed
	above   string
	stalled atomic.Int32 // of the run above
}

func (s *belowParked) Get(ctx context.Context, id string) (runstore.Run, error) {
	r, err := s.inboxed.Get(ctx, id)
	if id == s.above {
		r.Stalled = int(s.stalled.Load())
	}
	return r, err
}

// A request for a sub-run makes an agent go on with the parked run above it, unless an agent has
// tried that with the request, or failed here less than a minute ago.
func TestARequestBelowARunThatIsParkedThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, delegatingOnce(), newTools(takes(time.Hour)), withSystem)
		f.start(loop.Task{})
		time.Sleep(time.Second)
		f.Close()
		store := &belowParked{inboxed: newInboxed(f.store), above: "r"}
		f.open(func(c *agent.Config) { withSystem(c); c.Store = store })
		defer f.Close()
		store.claimed.Store(true)
		store.stalled.Store(runstore.MaxStalled + 1)
		added := make(chan error, 1)
		go func() { // ends with the run
			_, err := f.SendMessage(t.Context(), loop.SubRunID("r", "r.t1.c0"), "go on")
			added <- err
		}()
		time.Sleep(10 * time.Second)
		store.claimed.Store(false)
		time.Sleep(time.Minute)
		if n := store.epoch.Load(); n != 0 {
			t.Errorf("a run that was tried was claimed %d times", n)
		}
		store.broken.Store(true)
		store.stalled.Store(runstore.MaxStalled)
		time.Sleep(30 * time.Second)
		if n := store.epoch.Load(); n != 2 {
			t.Errorf("runs that cannot be read were claimed %d times", n)
		}
		store.broken.Store(false)
		if err := <-added; err != nil {
			t.Errorf("the request: %v", err)
		}
	})
}

// newer is a store in which a later version has written the journal of a run.
type newer struct {
	*remoteStore
	run    string
	change func(*runstore.Record) // nil: this version can read the journal
}

func (s *newer) Snapshot(ctx context.Context, id string) (runstore.Snapshot, error) {
	if id == s.run && s.change != nil {
		return runstore.Snapshot{}, nil
	}
	return s.remoteStore.Snapshot(ctx, id)
}

func (s *newer) Read(ctx context.Context, id string, after uint64) iter.Seq2[runstore.Record, error] {
	return func(yield func(runstore.Record, error) bool) {
		for rec, err := range s.remoteStore.Read(ctx, id, after) {
			if id == s.run && s.change != nil && rec.Seq > 1 {
				s.change(&rec)
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}

// A run leaves its agent alone if that cannot read a sub-run of a later version, so that another
// agent goes on with both. The call of the sub-run does not fail.
func TestASubRunOfALaterVersion(t *testing.T) {
	for name, change := range map[string]func(*runstore.Record){
		"an unknown event":    func(rec *runstore.Record) { rec.Type = "of_the_future" },
		"an unknown encoding": func(rec *runstore.Record) { rec.Version = 99 },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := delegating(func(n int, req model.Request) *model.Response {
					if n == 0 {
						return response(model.StopToolUse, newTask("a", `{"task":"one"}`))
					}
					return response(model.StopEndTurn, text("heard: "+results(req)[0]))
				}, func(n int, _ model.Request) *model.Response {
					return []*model.Response{response(model.StopToolUse, call("c", "echo")), response(model.StopEndTurn, text("blue"))}[n]
				})
				f := newFixture(t, m, newTools(takes(time.Minute)), withSystem)
				f.start(loop.Task{})
				time.Sleep(time.Second)
				f.Close()
				store := &newer{&remoteStore{Store: f.store}, loop.SubRunID("r", "r.t1.c0"), change}
				open := func() {
					t.Helper()
					f.open(func(c *agent.Config) { withSystem(c); c.Store = store })
					if err := f.ResumeRun(t.Context(), "r"); err != nil {
						t.Fatal(err)
					}
				}
				open()
				time.Sleep(10 * time.Second)
				if r, n := state(t, f, "r"), store.held.Load(); r.Finished() || n != 0 {
					t.Fatalf("the run is %s, and the agent has %d claims", r.State(), n)
				}
				f.Close()
				store.change = nil
				open()
				defer f.Close()
				if end := f.end(); end.Text != "heard: blue" {
					t.Errorf("the run ended with %+v", end)
				}
			})
		})
	}
}
