package agent_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

// slowFamily is a store that takes its time until it says whether a family is due.
type slowFamily struct {
	*remoteStore
	asked, answer chan struct{}
}

func (s *slowFamily) TakeFamily(ctx context.Context, id string) (runstore.Due, error) {
	close(s.asked)
	<-s.answer
	return s.remoteStore.TakeFamily(ctx, id)
}

// An attempt of an engine has a slot while the store is asked for the run, so that the engine
// begins no more attempts than there are slots, however slow the store is.
func TestAnAttemptHasASlot(t *testing.T) {
	f, remote := newRemote(t, okModel(), newTools(echo))
	f.Close()
	store := &slowFamily{remote, make(chan struct{}), make(chan struct{})}
	f.open(func(c *agent.Config) { c.Store, c.MaxRuns = store, 2 })
	defer f.Close()
	var group sync.WaitGroup
	group.Go(func() { _, _ = f.Work(t.Context(), "r") })
	<-store.asked
	if free, _ := f.Slots(); free != 1 {
		t.Errorf("%d slots are free during an attempt", free)
	}
	close(store.answer)
	group.Wait()
	if free, _ := f.Slots(); free != 2 {
		t.Errorf("%d slots are free after it", free)
	}
}

// told is an engine that only notes what it is told.
type told struct{ due chan string }

func (told) Drive(ctx context.Context, _ agent.Worker) { <-ctx.Done() }
func (told) Ready() bool                               { return false }
func (e told) Due(runID string)                        { e.due <- runID }

// impatient is a store in which callers leave while a run is claimed.
type impatient struct {
	*remoteStore
	leave context.CancelFunc
}

func (s *impatient) Claim(id string) (uint64, error) { s.leave(); return s.remoteStore.Claim(id) }

func (s *impatient) Get(ctx context.Context, id string) (runstore.Run, error) {
	if err := ctx.Err(); err != nil {
		return runstore.Run{}, err
	}
	return s.remoteStore.Get(ctx, id)
}

// The engine is told of the run at the top of a family also if the caller is gone.
func TestTheEngineIsToldWithoutTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attended := func(c *agent.Config) { withPeople(c); withSystem(c) }
		f := newFixture(t, asking(), newTools(echo), attended)
		f.start(loop.Task{})
		synctest.Wait()
		f.Close()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		store, e := &impatient{&remoteStore{Store: f.store}, cancel}, told{make(chan string, 10)}
		f.open(func(c *agent.Config) { attended(c); c.Store, c.Engine = store, e })
		defer f.Close()
		pending := state(t, f, "r").Pending
		_, _ = f.Respond(ctx, "r", loop.DecisionMade{ID: pending[0].ID, Verdict: loop.VerdictAnswer, Text: "blue"})
		if id := <-e.due; id != "r" {
			t.Errorf("the engine is told of %s", id)
		}
	})
}
