package agent

import (
	"context"
	"slices"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
)

// slot is the place of a run among those that work at the same time. Only the run's goroutine uses
// it.
//
// A run at work has a slot. The number of slots is limited, so that memory and the load on models
// and tools are bounded however many runs are started. Runs without a slot wait in order of
// arrival. A run that waits only for a person gives its slot up.
//
// A sub-run needs no slot, because its parent has one. If sub-runs needed slots, parents that wait
// for their sub-runs could hold all slots, and no run would make progress. If a sub-run waits for a
// person, its parent also gives its slot up. After the decision, the sub-run continues before its
// parent has a slot again, and then runs without one. The calls of one response bound the number of
// such sub-runs.
type slot struct {
	run  *run
	held bool // one element of Agent.slots is the run's
}

// await waits for a slot before the run reads its journal, or until the run has an input.
func (s *slot) await(ctx context.Context) error {
	if s.run.sub {
		return nil
	}
	select {
	case s.run.agent.slots <- struct{}{}:
		s.held = true
	case <-s.run.woken:
		// The input is recorded at once. What follows from it waits for a slot.
		s.run.wake()
	case <-ctx.Done():
		return errClosed()
	}
	return nil
}

// wanted returns the channel that gives a slot, or nil, which blocks, if the run needs none.
func (s *slot) wanted() chan<- struct{} {
	if s.run.sub || s.held || !busy(&s.run.state) {
		return nil
	}
	return s.run.agent.slots
}

// busy reports whether a run has work to do, itself or in a sub-run that does not wait.
func busy(state *loop.State) bool { return works(state, true) }

// works reports whether a run has something to do itself, or if subRuns is set, as busy.
func works(state *loop.State, subRuns bool) bool {
	for _, command := range loop.Next(state) {
		switch c := command.(type) {
		case loop.Wait, loop.ReviewCall:
		case loop.CallTool:
			if !subRuns && c.Call.System == loop.SystemNewTask {
				continue
			}
			if c.Cancel != nil || !state.WaitsForPerson(c.Call.ID) {
				return true
			}
		default:
			return true
		}
	}
	return false
}

// mayWork reports whether the run may start tasks. A run without work gives its slot up.
func (s *slot) mayWork() bool {
	if s.held && !busy(&s.run.state) {
		s.release()
	}
	s.run.agent.work.setWaits(s.run, !s.run.sub && !s.held && !busy(&s.run.state))
	if s.run.observed != nil {
		unfinished := s.run.state.Finished() == nil
		active := s.held || unfinished && busy(&s.run.state)
		s.run.observed.works(s.held || s.run.sub && active)
		s.run.observed.waits(!active && unfinished)
	}
	return s.run.sub || s.held
}

// none reports whether the run needs a slot that is not free.
func (s *slot) none() bool {
	return s.wanted() != nil && len(s.run.agent.slots) == cap(s.run.agent.slots) && !s.parent()
}

// parent reports whether the run waits for sub-runs, which go on here.
func (s *slot) parent() bool {
	return slices.ContainsFunc(loop.Next(&s.run.state), func(command loop.Command) bool {
		c, ok := command.(loop.CallTool)
		return ok && c.Call.System == loop.SystemNewTask
	})
}

// release gives the run's slot up, if it has one.
func (s *slot) release() {
	if s.held {
		<-s.run.agent.slots
		s.held = false
	}
}
