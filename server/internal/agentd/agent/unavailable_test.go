package agent_test

import (
	"context"
	"fmt"
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/tool"
)

// remoteStore is a store at a database that can be gone, with claims.
type remoteStore struct {
	runstore.Store
	runstore.Inbox
	gone    atomic.Bool
	claimed atomic.Bool                       // by another process
	left    atomic.Bool                       // by it: TakeOver takes all unfinished runs
	held    atomic.Int32                      // claims of this one
	epoch   atomic.Int64                      // of the last claim
	written atomic.Int64                      // the epoch of the last append
	asked   atomic.Int32                      // how often for positions
	stalled atomic.Int32                      // of all runs
	slow    atomic.Int64                      // nanoseconds after a read of a journal
	owner   atomic.Pointer[runstore.Position] // the owner and the epoch of all runs; nil: unknown
}

func (s *remoteStore) err() error {
	if s.gone.Load() {
		return fmt.Errorf("%w: the connection is refused", runstore.ErrUnavailable)
	}
	return nil
}

func (s *remoteStore) Append(ctx context.Context, b runstore.Batch) error {
	if err := s.err(); err != nil {
		return err
	}
	s.written.Store(int64(b.Epoch))
	return s.Store.Append(ctx, b)
}

func (s *remoteStore) Get(ctx context.Context, id string) (runstore.Run, error) {
	if err := s.err(); err != nil {
		return runstore.Run{}, err
	}
	r, err := s.Store.Get(ctx, id)
	r.Stalled = int(s.stalled.Load())
	return r, err
}

func (s *remoteStore) Snapshot(ctx context.Context, id string) (runstore.Snapshot, error) {
	if err := s.err(); err != nil {
		return runstore.Snapshot{}, err
	}
	return s.Store.Snapshot(ctx, id)
}

func (s *remoteStore) Read(ctx context.Context, id string, after uint64) iter.Seq2[runstore.Record, error] {
	if err := s.err(); err != nil {
		return func(yield func(runstore.Record, error) bool) { yield(runstore.Record{}, err) }
	}
	return func(yield func(runstore.Record, error) bool) {
		s.Store.Read(ctx, id, after)(yield)
		time.Sleep(time.Duration(s.slow.Load()))
	}
}

var _ runstore.Sharing = (*remoteStore)(nil)

func (s *remoteStore) Claim(id string) (uint64, error) {
	time.Sleep(10 * time.Millisecond) // as far as the database
	if s.claimed.Load() {
		return 0, runstore.AlreadyClaimed(id)
	}
	if err := s.err(); err != nil {
		return 0, err
	}
	s.held.Add(1)
	return uint64(s.epoch.Add(1)), nil
}

func (s *remoteStore) Release(string, uint64) {
	time.Sleep(10 * time.Millisecond)
	s.held.Add(-1)
}

func (s *remoteStore) ClaimAll(ids []string) (map[string]uint64, error) {
	claimed := map[string]uint64{}
	for _, id := range ids {
		if epoch, err := s.Claim(id); err == nil {
			claimed[id] = epoch
		}
	}
	return claimed, s.err()
}

func (s *remoteStore) Claimed(ids []string) (map[string]bool, error) {
	claimed := map[string]bool{}
	for _, id := range ids {
		claimed[id] = s.held.Load() > 0
	}
	return claimed, s.err()
}

func (s *remoteStore) Confirm(id string, epoch uint64) error {
	if s.claimed.Load() || int64(epoch) != s.epoch.Load() {
		return runstore.AlreadyClaimed(id)
	}
	return s.err()
}

// Post adds nothing: the run has too many entries already.
func (s *remoteStore) Post(_ context.Context, e runstore.Entry) error { return runstore.Full(e.RunID) }

func (s *remoteStore) Entries(context.Context, string) ([]runstore.Entry, error) { return nil, s.err() }

func (s *remoteStore) Posted(context.Context) ([]runstore.Run, error) { return nil, s.err() }

func (s *remoteStore) Leave(family []runstore.Leaving) bool {
	for _, run := range family {
		s.Release(run.RunID, run.Epoch)
	}
	return true
}

func (s *remoteStore) Positions(ctx context.Context, ids []string) (map[string]runstore.Position, error) {
	s.asked.Add(1)
	last := make(map[string]runstore.Position)
	for _, id := range ids {
		if r, err := s.Get(ctx, id); err == nil {
			last[id] = runstore.Position{Seq: r.LastSeq}
			if at := s.owner.Load(); at != nil && r.Head.Unfinished {
				last[id] = runstore.Position{Seq: r.LastSeq, Epoch: at.Epoch, Owner: at.Owner}
			}
		}
	}
	return last, s.err()
}

func (s *remoteStore) TakeFamily(_ context.Context, id string) (runstore.Due, error) {
	if s.stalled.Load() >= runstore.MaxStalled {
		return runstore.Due{}, runstore.ErrParked
	}
	return runstore.Due{}, runstore.AlreadyClaimed(id)
}

// TakeOver takes the runs that another process had, once each.
func (s *remoteStore) TakeOver(ctx context.Context, limit int) (taken []runstore.Taken, err error) {
	if err := s.err(); err != nil || s.claimed.Load() || !s.left.Swap(false) {
		return nil, err
	}
	runs, err := s.List(ctx, runstore.Query{UnfinishedOnly: true, Limit: limit})
	for _, r := range runs {
		epoch, err := s.Claim(r.ID)
		if err != nil {
			return taken, err
		}
		taken = append(taken, runstore.Taken{Run: r, Epoch: epoch})
	}
	return taken, err
}

func newRemote(t *testing.T, m *fakeModel, tools *fakeTools) (*fixture, *remoteStore) {
	t.Helper()
	f := newFixture(t, m, tools, nil)
	store := &remoteStore{Store: f.store}
	f.Close()
	f.open(func(c *agent.Config) { c.Store = store })
	return f, store
}

// A run waits for a database that is gone, however long and in whatever step, and goes on by
// itself. It makes no call twice.
func TestARunWaitsForItsDatabase(t *testing.T) {
	for _, goes := range []time.Duration{5 * time.Millisecond, time.Second, time.Minute + 5*time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			m := turns(response(model.StopToolUse, call("a", "echo")), response(model.StopEndTurn, text("done")))
			f, store := newRemote(t, m, newTools(takes(time.Minute)))
			defer f.Close()
			time.AfterFunc(goes, func() { store.gone.Store(true) }) // 5ms: between the first append and the claim
			f.start(loop.Task{})
			time.Sleep(10 * time.Minute) // virtual
			store.gone.Store(false)
			time.Sleep(2 * time.Minute) // virtual
			if end := f.end(); end.StopReason != loop.StopEndTurn || end.Text != "done" {
				t.Errorf("after %v: the run ended with %+v", goes, end)
			}
			if len(f.tools.executions()) != 1 {
				t.Errorf("after %v: %d calls", goes, len(f.tools.executions()))
			}
			for id, n := range f.tools.executions() {
				if n != 1 {
					t.Errorf("after %v: call %s was executed %d times", goes, id, n)
				}
			}
			f.Close()
			if n := store.held.Load(); n != 0 {
				t.Errorf("after %v: %d claims are left", goes, n)
			}
		})
	}
}

// A run waits for its sub-run while the database is gone, however long.
func TestASubRunWaitsForItsDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := delegating(func(n int, req model.Request) *model.Response {
			if n == 0 {
				return response(model.StopToolUse, newTask("a", `{"task":"one"}`))
			}
			return response(model.StopEndTurn, text(results(req)[0]))
		}, func(n int, _ model.Request) *model.Response {
			if n == 0 {
				return response(model.StopToolUse, call("c", "echo"))
			}
			return response(model.StopEndTurn, text("the sub-run is done"))
		})
		f := newFixture(t, m, newTools(takes(time.Minute)), nil)
		store := &remoteStore{Store: f.store}
		f.Close()
		f.open(func(c *agent.Config) { c.Store = store; withSystem(c) })
		defer f.Close()
		time.AfterFunc(time.Second, func() { store.gone.Store(true) })
		f.start(loop.Task{})
		time.Sleep(10 * time.Minute) // virtual
		store.gone.Store(false)
		if end := f.end(); end.Text != "the sub-run is done" {
			t.Errorf("the run ended with %+v", end)
		}
	})
}

// Many requests for one run make one claim, also while the run ends and its claim is given up.
func TestOneClaimAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, store := newRemote(t, okModel(), newTools(echo))
		defer f.Close()
		f.start(loop.Task{})
		for round := range 20 {
			f.SendMessage(t.Context(), "r", fmt.Sprint("message ", round))
			time.Sleep(time.Duration(round) * time.Millisecond)
			if n := store.held.Load(); n < 0 || n > 1 {
				t.Fatalf("%d claims of one run", n)
			}
		}
		time.Sleep(time.Second)
		if n := store.held.Load(); n != 0 {
			t.Errorf("%d claims are left", n)
		}
	})
}

// An agent takes over the runs of another one that is gone, also long after its start, and writes
// under the claim that the store has taken.
func TestRunsOfAnAgentThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, store := newRemote(t, turns(response(model.StopToolUse, call("a", "echo")), response(model.StopEndTurn, text("done"))), newTools(takes(time.Minute)))
		f.start(loop.Task{})
		time.Sleep(time.Second)
		f.Close()
		store.claimed.Store(true)
		f.open(func(c *agent.Config) { c.Store = store })
		defer f.Close()
		if n, err := f.Resume(t.Context()); n != 0 || err != nil {
			t.Fatalf("%d runs go on, %v", n, err)
		}
		time.Sleep(time.Hour)
		store.left.Store(true)
		store.claimed.Store(false)
		time.Sleep(2 * time.Minute)
		if end := f.end(); end.Text != "done" {
			t.Errorf("the run ended with %+v", end)
		}
		if written, claimed := store.written.Load(), store.epoch.Load(); written != claimed || claimed == 0 {
			t.Errorf("the last append has epoch %d, and the claim %d", written, claimed)
		}
	})
}

// A run that another agent has ended while the database was gone here is claimed once more, and
// then left alone.
func TestARunThatHasEndedElsewhereMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, store := newRemote(t, turns(response(model.StopToolUse, call("a", "echo")), response(model.StopEndTurn, text("done"))), newTools(takes(time.Minute)))
		defer f.Close()
		f.start(loop.Task{})
		time.Sleep(time.Second)
		store.gone.Store(true)
		time.Sleep(5 * time.Minute)
		other := &fixture{t: t, store: f.store, model: f.model, tools: f.tools}
		other.open(nil)
		if n, err := other.Resume(t.Context()); n != 1 || err != nil {
			t.Fatalf("%d runs go on, %v", n, err)
		}
		time.Sleep(5 * time.Minute)
		other.Close()
		claims := store.epoch.Load()
		store.gone.Store(false)
		time.Sleep(time.Hour)
		if n := store.epoch.Load() - claims; n != 1 || store.held.Load() != 0 {
			t.Errorf("%d claims, and %d are left", n, store.held.Load())
		}
		if end := f.end(); end.Text != "done" {
			t.Errorf("the run ended with %+v", end)
		}
	})
}

// If the store gives an agent a run on which it works already, another agent had the run meanwhile.
// The work under the earlier claim ends, and goes on under a new one.
func TestARunThatWasElsewhereMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, store := newRemote(t, turns(response(model.StopToolUse, call("a", "echo")), response(model.StopEndTurn, text("done"))), newTools(takes(time.Minute)))
		defer f.Close()
		if _, err := f.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.start(loop.Task{})
		time.Sleep(10 * time.Second)
		first := store.epoch.Load()
		store.left.Store(true)
		time.Sleep(5 * time.Second)
		if r, err := f.GetRun(t.Context(), "r"); err != nil || r.State() != agent.RunInterrupted {
			t.Errorf("the work under the earlier claim goes on: %v, %v", r.State(), err)
		}
		store.left.Store(true)
		time.Sleep(2 * time.Minute)
		if end := f.end(); end.Text != "done" || store.written.Load() <= first {
			t.Errorf("the run ended with %+v under epoch %d, and was first claimed with %d", end, store.written.Load(), first)
		}
		if n := store.held.Load(); n != 0 {
			t.Errorf("%d claims are left", n)
		}
	})
}

// A request for a run that another agent has taken is answered at once, although a model of the run
// that was stopped here takes its time.
func TestARequestForARunThatStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, store := newRemote(t, &fakeModel{answer: func(context.Context, model.Request) (*model.Response, error) {
			time.Sleep(time.Hour)
			return response(model.StopEndTurn, text("done")), nil
		}}, newTools(echo))
		defer f.Close()
		if _, err := f.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.start(loop.Task{})
		time.Sleep(10 * time.Second)
		store.left.Store(true)
		time.Sleep(5 * time.Second)
		asked := time.Now()
		_, err := f.SendMessage(t.Context(), "r", "and this")
		if waited := time.Since(asked); tool.KindOf(err) != tool.KindConflict || waited > time.Second {
			t.Errorf("after %v: %v", waited, err)
		}
	})
}

// A run that may have ended several agents stays where it is, and says so, until it gets an input.
// A repeated start, or an engine, does not make it go on.
func TestAParkedRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, remote := newRemote(t, turns(response(model.StopToolUse, call("a", "echo")), response(model.StopEndTurn, text("done"))), newTools(takes(time.Hour)))
		f.start(loop.Task{})
		time.Sleep(time.Second)
		f.Close()
		store := &inboxed{remoteStore: remote, outcomes: make(map[runstore.EntryRef]runstore.Outcome)}
		f.open(func(c *agent.Config) { c.Store = store })
		defer f.Close()
		for stalled, parked := range []bool{false, false, false, true} {
			store.stalled.Store(int32(stalled))
			r, err := f.GetRun(t.Context(), "r")
			if err != nil || r.State() != agent.RunInterrupted || (r.Parked != "") != parked {
				t.Errorf("taken %d times: %s, %q, %v", stalled, r.State(), r.Parked, err)
			}
		}
		before := store.epoch.Load()
		f.start(loop.Task{})
		if rest, err := f.Work(t.Context(), "r"); err != nil || !rest.Parked || store.epoch.Load() != before {
			t.Errorf("it rests with %+v, %v, and was claimed %d times", rest, err, store.epoch.Load()-before)
		}
		send := func() error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err := f.SendMessage(ctx, "r", "go on")
			return err
		}
		store.stalled.Store(runstore.MaxStalled + 1) // an agent has tried it with the message, and the caller repeats that
		for range 2 {
			if err := send(); err == nil || store.epoch.Load() != before {
				t.Errorf("repeated: %v, and the run was claimed", err)
			}
		}
		store.stalled.Store(runstore.MaxStalled)
		if err := send(); err != nil {
			t.Fatal(err)
		}
		if r, err := f.GetRun(t.Context(), "r"); err != nil || r.State() != agent.RunRunning || r.Parked != "" {
			t.Errorf("at work: %s, %q, %v", r.State(), r.Parked, err)
		}
		if end := f.end(); end.Text != "done" {
			t.Errorf("the run ended with %+v", end)
		}
	})
}
