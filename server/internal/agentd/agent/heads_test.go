package agent_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

// headOf returns the last head of a run that was appended.
func (s *batches) headOf(id string) (head runstore.Head) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.list {
		if b.RunID == id {
			head = b.Head
		}
	}
	return head
}

// The store learns whether a run has something to do itself, beside what it waits for.
func TestHeadsSayWhatOnlyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attended := func(c *agent.Config) { withPeople(c); withSystem(c) }
		f := newFixture(t, asking(), newTools(echo), attended)
		f.Close()
		store := &batches{Store: f.store}
		f.open(func(c *agent.Config) { attended(c); c.Store = store })
		f.start(loop.Task{})
		synctest.Wait()
		child := loop.SubRunID("r", "r.t1.c0")
		for id, asks := range map[string]bool{"r": false, child: false, loop.SubRunID(child, child+".t1.c0"): true} {
			if head := store.headOf(id); !head.OnlyWaits || (len(head.Decisions) > 0) != asks {
				t.Errorf("%s: %+v", id, head)
			}
		}
		f.Close()

		f = newFixture(t, turns(response(model.StopToolUse, question("which?"), call("b", "echo"))), newTools(takes(time.Minute)), attended)
		f.Close()
		store = &batches{Store: f.store}
		f.open(func(c *agent.Config) { attended(c); c.Store = store })
		defer f.Close()
		f.start(loop.Task{})
		for _, waits := range []bool{false, true} {
			time.Sleep(time.Second)
			if head := store.headOf("r"); head.OnlyWaits != waits || len(head.Decisions) == 0 {
				t.Errorf("want %t: %+v", waits, head)
			}
			time.Sleep(time.Minute)
		}
	})
}
