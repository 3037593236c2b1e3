package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/tool"
)

// subRun carries out a call in a sub-run. Its goroutines belong to the run and end with the task.
// The sub-run itself belongs to the agent.
func (r *run) subRun(t *task, c loop.Call) {
	s := &subRun{run: r, task: t, call: c, child: r.state.SubTask(&c)}
	r.group.Go(s.work)
}

// subRun is a call whose result is the end of another run.
type subRun struct {
	run   *run
	task  *task
	call  loop.Call
	child loop.Task
}

func (s *subRun) cancelled() bool { return s.task.cancelled.Err() != nil }

func (s *subRun) work() {
	defer s.run.recoverTask(s.task, func(words string) loop.Payload {
		return loop.FailureResult(&s.call, &tool.Error{Kind: tool.KindInternal, Message: words})
	})
	ctx, stop := context.WithCancel(s.task.ctx)
	defer stop()
	retry := s.run.config.ToolRetry
	away := 0 // attempts that do not count: this run waits for the journal as well, or another agent goes on with the sub-run
	for attempt, guarded, told := 1, false, false; ; attempt++ {
		err := s.begin(ctx)
		if (err == nil || s.elsewhere(err)) && !guarded {
			guarded = true
			s.run.group.Go(func() { s.guard(ctx) }) // ends with ctx
		}
		var end *loop.RunFinished
		if err == nil {
			end, err = s.follow(ctx)
		}
		switch {
		case s.task.ctx.Err() != nil:
			return // the agent closes; both runs continue when they are resumed
		case end != nil:
			s.finish(loop.SubResult(&s.call, end))
			return
		case s.elsewhere(err):
			away++
			if s.waitElsewhere(ctx, err, &told) != nil {
				return
			}
			continue
		case s.run.agent.journal.shared != nil && errors.Is(err, errNewer):
			// This agent leaves both runs alone for a while, so that one that can read them takes them.
			s.run.report(update{task: s.task, lost: tool.Errorf(tool.KindConflict, "sub-run %s cannot go on here: %w", s.child.RunID, err)})
			return
		case errors.Is(err, runstore.ErrUnavailable):
			away++
		case attempt-away >= retry.MaxAttempts || !mayRecover(err) || tool.KindOf(err) == tool.KindCancelled, tool.AsError(err).RetryAfter > maxRetryAfter:
			s.finish(loop.FailureResult(&s.call, tool.AsError(err)))
			return
		}
		s.run.log.to(loglevel.Runs).Warn("sub-run is followed again", "sub_run", s.child.RunID, "error", err)
		if sleep(ctx, retry.pause(attempt, tool.AsError(err).RetryAfter)) != nil {
			return
		}
	}
}

// elsewhere reports whether an error says that another agent works on the sub-run. That agent had
// both runs, and lost only this one. It goes on with the sub-run to its end, or until it waits, or
// until that agent is gone.
func (s *subRun) elsewhere(err error) bool {
	return s.run.agent.journal.shared != nil && elsewhere(err)
}

// waitElsewhere waits before the next attempt to continue a sub-run of another agent, and records
// what it waits for meanwhile. It logs why, once. If that agent has this run as well, the run ends
// here.
func (s *subRun) waitElsewhere(ctx context.Context, why error, told *bool) error {
	if !*told {
		*told = true
		s.run.log.to(loglevel.Runs).Warn("another agentd works on a sub-run; the run waits for it", "sub_run", s.child.RunID, "error", why)
	}
	if err := s.run.agent.journal.confirm(s.run.id, s.run.epoch); tool.KindOf(err) == tool.KindConflict {
		s.run.report(update{task: s.task, lost: err})
		return err
	}
	_ = s.reportWaiting(ctx, new(*loop.SubRunWaiting)) // or the next time
	return sleep(ctx, claimPause)
}

func (s *subRun) finish(result *loop.CallResult) {
	s.run.report(update{task: s.task, done: func() loop.Payload { return result }})
}

// begin starts the sub-run, or continues the existing one. It starts none if the call is cancelled.
func (s *subRun) begin(ctx context.Context) error {
	a := s.run.agent
	have, err := a.journal.summaryOf(ctx, s.child.RunID)
	switch {
	case err == nil && (have.Parent == nil || *have.Parent != *s.child.Parent):
		return tool.Errorf(tool.KindConflict, "the id of the sub-run, %s, is taken by another run", s.child.RunID)
	case err == nil: // also if it is parked: this run is soon parked, too, if neither makes progress
		return a.ResumeRun(ctx, s.child.RunID)
	case tool.KindOf(err) != tool.KindNotFound:
		return err
	case s.cancelled():
		return context.Cause(s.task.cancelled)
	}
	_, err = a.StartRun(ctx, s.child)
	return err
}

// guard cancels the sub-run when its call is cancelled.
func (s *subRun) guard(ctx context.Context) {
	select {
	case <-s.task.cancelled.Done():
	case <-ctx.Done():
		return
	}
	if s.task.ctx.Err() != nil {
		return // the agent closes, and the call is not cancelled
	}
	err := s.run.agent.CancelRun(ctx, s.child.RunID, context.Cause(s.task.cancelled).Error())
	if err != nil && ctx.Err() == nil {
		s.run.log.to(loglevel.Runs).Error("a sub-run cannot be cancelled", "sub_run", s.child.RunID, "error", err)
	}
}

// follow waits for the sub-run's end and meanwhile shows its progress.
func (s *subRun) follow(ctx context.Context) (*loop.RunFinished, error) {
	s.show(tool.Status{State: tool.StatusDoing, Message: "sub-run: " + s.child.RunID})
	asks := &loop.SubRunWaiting{CallID: s.call.ID, RunID: s.child.RunID}
	if err := s.reportWaiting(ctx, &asks); err != nil {
		return nil, err
	}
	for e, err := range s.run.agent.watch(ctx, s.child.RunID, 0, true) {
		if err != nil {
			return nil, err
		}
		switch p := e.Payload.(type) {
		case *loop.RunFinished:
			// the first end: a call has one result, even if a message continues the sub-run
			return p, nil
		case *loop.CallStarted:
			s.show(tool.Status{Message: fmt.Sprintf("%s calls %s", s.child.RunID, p.Tool)})
		case *loop.DecisionRequested:
			s.show(tool.Status{Message: fmt.Sprintf("%s waits for a decision (%s): %s", s.child.RunID, loop.DecisionRef(s.child.RunID, p.ID), p.Reason)})
		}
		if concernsPeople(e.Payload, len(asks.Decisions) > 0) {
			if err := s.reportWaiting(ctx, &asks); err != nil {
				return nil, err
			}
		}
	}
	return nil, tool.Errorf(tool.KindUnavailable, "the events of sub-run %s ended before it had finished", s.child.RunID)
}

// concernsPeople reports whether an event may change the decisions that the run waits for.
func concernsPeople(p loop.Payload, waiting bool) bool {
	switch p.(type) {
	case *loop.DecisionRequested, *loop.SubRunWaiting:
		return true
	case *loop.DecisionMade, *loop.CallResult, *loop.CancelRequested, *loop.UserMessage:
		return waiting
	}
	return false
}

// reportWaiting reports the decisions that the sub-run waits for now, if they have changed. It
// reads the sub-run's current state, because the watched event may be old.
func (s *subRun) reportWaiting(ctx context.Context, told **loop.SubRunWaiting) error {
	refs, err := s.run.agent.journal.pendingRefs(ctx, s.child.RunID)
	if err != nil {
		return err
	}
	*told = &loop.SubRunWaiting{CallID: s.call.ID, RunID: s.child.RunID, Decisions: refs}
	s.run.report(update{task: s.task, waiting: *told})
	return nil
}

// recordWaiting records the decisions that a sub-run waits for, unless the journal has them.
func (r *run) recordWaiting(ctx context.Context, p *loop.SubRunWaiting) error {
	if !r.state.Batch().Concerns(p) {
		return nil
	}
	return r.commit(ctx, p)
}

func (s *subRun) show(status tool.Status) {
	s.run.report(update{task: s.task, passing: &loop.CallStatus{CallID: s.call.ID, Tool: s.call.Tool, Status: status}})
}
