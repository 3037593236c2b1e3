package agent

import (
	"context"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/tool"
)

// recall cancels a call by its id, if the call has begun and no goroutine follows it, and returns
// its result. Opening the call instead could begin it.
func (e *toolCall) recall() *loop.CallResult {
	if lost := e.elsewhere(); lost != nil {
		return loop.FailureResult(&e.call, lost)
	}
	ctx, stop := context.WithTimeout(e.task.ctx, e.run.config.CancelGrace)
	defer stop()
	key := tool.CallKey{Session: e.session, ID: e.call.SentID()}
	retry := e.run.config.ToolRetry
	for attempt := 1; ; attempt++ {
		out, err := e.outcomeOf(ctx, key)
		if out != nil {
			return loop.OutcomeResult(&e.call, out)
		}
		if !mayRecover(err) || sleep(ctx, retry.pause(attempt, tool.AsError(err).RetryAfter)) != nil {
			return loop.FailureResult(&e.call, e.lost(err))
		}
	}
}

func (e *toolCall) outcomeOf(ctx context.Context, key tool.CallKey) (*tool.Outcome, error) {
	tools := e.run.config.Tools
	if err := tools.CancelCall(ctx, key, context.Cause(e.task.cancelled).Error()); err != nil {
		return nil, err
	}
	for event, err := range tools.WatchCall(ctx, key, 0) {
		if err != nil {
			return nil, err
		}
		if event.Ended != nil {
			return event.Ended, nil
		}
	}
	return nil, tool.Errorf(tool.KindUnavailable, "the call's events ended without an outcome")
}
