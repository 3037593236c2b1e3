package agent_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// The first request of a run waits until toolhost knows its plugins, once. If that fails or takes
// too long, the run begins with the tools that are known.
func TestTheFirstRequestWaitsForTheTools(t *testing.T) {
	for name, known := range map[string]func(context.Context) error{
		"soon":    func(context.Context) error { return nil },
		"refused": func(context.Context) error { return errors.New("no") },
		"never":   func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tools, late := newTools(echo), newTools(echo).infos
				tools.infos = nil
				var waits atomic.Int32
				m := turns(response(model.StopToolUse, call("a", "echo")), response(model.StopEndTurn, text("done")))
				f := newFixture(t, m, tools, func(c *agent.Config) {
					c.ToolsKnown = func(ctx context.Context) error {
						waits.Add(1)
						err := known(ctx)
						tools.infos = late
						return err
					}
				})
				f.start(loop.Task{})
				f.watch(0)
				if got := m.seen(); len(got) != 2 || !offersTool(got[0], "echo") || waits.Load() != 1 {
					t.Errorf("%d requests, %d waits: %+v", len(got), waits.Load(), got)
				}
			})
		})
	}
}

func offersTool(req model.Request, name string) bool {
	for _, t := range req.Tools {
		if t.Name == name {
			return true
		}
	}
	return false
}
