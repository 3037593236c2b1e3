package agent_test

import (
	"context"
	"errors"
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

// A process whose clock for a call fires learns first whether the run is still its own. It cancels
// no call that the process that has the run now follows.
func TestAnOverdueCallOfALostRunGoesOn(t *testing.T) {
	for name, lost := range map[string]bool{"own": false, "lost": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var cancelled atomic.Bool
				end := make(chan struct{})
				tools := newTools(func(ctx context.Context, call tool.Call, _ func(tool.Status)) tool.Outcome {
					select {
					case <-ctx.Done():
						cancelled.Store(true)
						return tool.Outcome{CallID: call.ID, Err: tool.AsError(context.Cause(ctx))}
					case <-end:
						return echo(ctx, call, nil)
					}
				})
				f := newFixture(t, turns(response(model.StopToolUse, call("a", "echo")), response(model.StopEndTurn, text("done"))), tools, nil)
				store := &remoteStore{Store: f.store}
				f.Close()
				f.open(func(c *agent.Config) { c.Store, c.CallDeadline = store, time.Minute })
				f.start(loop.Task{})
				time.Sleep(time.Second) // virtual; the call has begun
				store.gone.Store(true)
				time.Sleep(5 * time.Minute)
				if cancelled.Load() {
					t.Error("the call was cancelled before the agent knew whether the run is its own")
				}
				store.claimed.Store(lost)
				store.gone.Store(false)
				time.Sleep(time.Minute)
				if cancelled.Load() == lost {
					t.Errorf("another process has the run: %v; the call was cancelled: %v", lost, cancelled.Load())
				}
				if lost {
					if _, err := f.SendMessage(t.Context(), "r", "go on"); !errors.Is(err, runstore.ErrUnavailable) {
						t.Errorf("a message to the run of another process: %v", err)
					}
				}
				close(end)
				f.Close()
				tools.group.Wait()
			})
		})
	}
}

// A process that lost a run sends none of its calls with side effects again: a person may have
// decided about the call elsewhere.
func TestACallOfALostRunIsNotSentAgain(t *testing.T) {
	for name, lost := range map[string]bool{"own": false, "lost": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var sent atomic.Int32
				tools := newTools(echo)
				f := newFixture(t, turns(response(model.StopToolUse, call("a", "serial")), response(model.StopEndTurn, text("done"))), tools, nil)
				store := &remoteStore{Store: f.store}
				f.Close()
				tools.refuse = func(tool.Call) error {
					if sent.Add(1) > 1 {
						return nil
					}
					store.claimed.Store(lost) // while the toolhost cannot be reached
					return tool.Errorf(tool.KindUnavailable, "no toolhost")
				}
				f.open(func(c *agent.Config) { c.Store = store })
				f.start(loop.Task{})
				time.Sleep(time.Minute) // virtual
				if n := sent.Load(); lost && n != 1 || !lost && n != 2 {
					t.Errorf("another process has the run: %v; the call was sent %d times", lost, n)
				}
				f.Close()
				tools.group.Wait()
			})
		})
	}
}
