package agent

import (
	"context"
	"strings"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
)

// Drain gives up the runs at work one by one, between two events, so that other agents go on with
// them at once. It begins nothing new. It waits for the answers of models that are on their way,
// but not for requests that wait for their turn. It leaves calls to toolhost, where the next owner
// joins them by their ids. Drain returns when no run is left or when ctx ends. Close gives up the
// runs that are left then, and their next owners repeat their model requests. After the call of
// Drain, the agent takes no run over. Requests, starts and watches go on. Drain does nothing in a
// store that agents do not share.
func (a *Agent) Drain(ctx context.Context) {
	if a.journal.shared == nil {
		return
	}
	for {
		runs := a.work.drain()
		for _, r := range runs {
			select {
			case <-r.done:
			case <-ctx.Done():
				return
			}
		}
		if len(runs) == 0 {
			return
		}
	}
}

// drain tells all runs that they are given up, and returns them.
func (w *atWork) drain() (runs []*run) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.draining = true
	for _, r := range w.runs {
		r.wake()
		runs = append(runs, r)
	}
	return runs
}

func (w *atWork) drains() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.draining
}

// leaving returns when the run goes on elsewhere, which is at once, or nil while a model answers
// it. A request that waits for its turn costs nothing yet.
func (r *run) leaving() *rest {
	for name, t := range r.tasks {
		if (strings.HasPrefix(name, "turn ") || strings.HasPrefix(name, "summary ")) && t.asking.Load() {
			return nil
		}
	}
	w := &rest{until: time.Now(), work: true}
	for _, command := range loop.Next(&r.state) {
		if c, ok := command.(loop.CallTool); ok && c.Call.System == loop.SystemNewTask {
			w.subRuns = append(w.subRuns, loop.SubRunID(r.id, c.Call.ID))
		}
	}
	return w
}
