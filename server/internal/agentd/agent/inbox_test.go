package agent_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

// gatedStore lets appends through one at a time, so that a test can act during an append.
type gatedStore struct {
	runstore.Store
	gate chan struct{} // closed: all appends pass
}

func (s *gatedStore) Append(ctx context.Context, b runstore.Batch) error {
	if b.After > 0 {
		<-s.gate
	}
	return s.Store.Append(ctx, b)
}

// later runs a function in a goroutine, and returns when it waits for the run.
func later(t *testing.T, group *sync.WaitGroup, do func() error) {
	t.Helper()
	group.Go(func() {
		if err := do(); err != nil {
			t.Error(err)
		}
	})
	synctest.Wait()
}

// A message that arrives while a failure is being written causes another request for the same turn.
func TestMessageWhileTheRunFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		m := &fakeModel{answer: func(context.Context, model.Request) (*model.Response, error) {
			if asked++; asked == 1 {
				return nil, &model.Error{Message: "down"}
			}
			return response(model.StopEndTurn, text("up")), nil
		}}
		gated := &gatedStore{gate: make(chan struct{})}
		f := newFixture(t, m, newTools(echo), func(c *agent.Config) {
			gated.Store = c.Store
			c.Store = gated
		})
		f.start(loop.Task{})
		synctest.Wait() // the end of the run is being written
		var group sync.WaitGroup
		later(t, &group, func() error { _, err := f.SendMessage(t.Context(), "r", "again"); return err })
		close(gated.gate)
		group.Wait()
		if end := f.end(); end.Text != "up" || asked != 2 {
			t.Errorf("ended with %+v after %d requests", end, asked)
		}
	})
}

// If a run is canceled and gets a message at once, the agent stops the canceled work and does not
// treat it as the work on the message.
func TestCancelAndMessageAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		m := &fakeModel{answer: func(ctx context.Context, _ model.Request) (*model.Response, error) {
			if asked++; asked == 1 {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return response(model.StopEndTurn, text("new")), nil
		}}
		gated := &gatedStore{gate: make(chan struct{})}
		f := newFixture(t, m, newTools(echo), func(c *agent.Config) {
			gated.Store = c.Store
			c.Store = gated
		})
		f.start(loop.Task{})
		synctest.Wait()
		var group sync.WaitGroup
		// this message is being written
		later(t, &group, func() error { _, err := f.SendMessage(t.Context(), "r", "one"); return err })
		later(t, &group, func() error { return f.CancelRun(t.Context(), "r", "") })
		later(t, &group, func() error { _, err := f.SendMessage(t.Context(), "r", "two"); return err })
		close(gated.gate)
		group.Wait()
		if end := f.end(); end.Text != "new" || asked != 2 {
			t.Errorf("ended with %+v after %d requests", end, asked)
		}
	})
}
