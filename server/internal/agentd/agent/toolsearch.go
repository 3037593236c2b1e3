package agent

import (
	"context"
	"slices"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/tool"
)

// searchTools starts a search at toolhost. Its goroutine belongs to the run and ends with the task.
func (r *run) searchTools(t *task, c loop.Call) {
	started := r.state.Started()
	query := started.Query(r.state.Context(r.state.Turn()-1, ""))
	r.group.Go(func() {
		defer r.recoverTask(t, func(words string) loop.Payload {
			return loop.FailureResult(&c, &tool.Error{Kind: tool.KindInternal, Message: words})
		})
		matches, err := r.search(t, started, query, &c)
		if t.ctx.Err() != nil {
			return
		}
		result := loop.FoundResult(&c, matches)
		if err != nil {
			result = loop.FailureResult(&c, tool.AsError(err))
		}
		r.report(update{task: t, done: func() loop.Payload { return result }})
	})
}

func (r *run) search(t *task, started *loop.RunStarted, query tool.Query, c *loop.Call) ([]tool.Match, error) {
	cfg := r.config
	if cfg.Search == nil {
		return nil, tool.Errorf(tool.KindUnavailable, "this agentd cannot search for tools")
	}
	in, _ := loop.ParseSearch(c) // valid, because the call was started
	query.MaxTools = in.Limit
	for attempt := 1; ; attempt++ {
		matches, err := cfg.Search.SearchTools(t.cancelled, in.Query, query)
		switch {
		case err == nil:
			return slices.DeleteFunc(matches, func(m tool.Match) bool {
				return !started.Permits(&m.Info) || !r.config.tools.admits(&m.Info)
			}), nil
		case t.cancelled.Err() != nil:
			return nil, context.Cause(t.cancelled)
		case attempt >= cfg.ToolRetry.MaxAttempts || !mayRecover(err):
			return nil, err
		}
		if sleep(t.cancelled, cfg.ToolRetry.pause(attempt, tool.AsError(err).RetryAfter)) != nil {
			return nil, context.Cause(t.cancelled)
		}
	}
}
