package agent

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/agent/loop"
	"github.com/toolhost/toolhost/internal/model"
	"github.com/toolhost/toolhost/tool"
)

// summarize starts a request for a summary. Its goroutine belongs to the run and ends with the
// task. The text is not shown, because it is not part of the conversation.
func (r *run) summarize(t *task, c loop.Summarize) {
	s := &summarizer{run: r, task: t, command: c, request: r.state.SummaryRequest(c.Replaced)}
	r.group.Go(s.work)
}

// summarizer is a request for a summary, with its retries.
type summarizer struct {
	run     *run
	task    *task
	command loop.Summarize
	wasted  tool.Usage // the usage of failed attempts
	request model.Request
}

func (s *summarizer) work() {
	defer s.run.recoverTask(s.task, func(words string) loop.Payload { return s.failed(words) })
	retry, malformed := s.run.agent.config.ModelRetry, 0
	for attempt := 1; ; attempt++ {
		resp, err := s.generate()
		if s.task.ctx.Err() != nil {
			return
		}
		if err == nil {
			s.done(s.summary(resp))
			return
		}
		failure := modelError(err)
		s.wasted = s.wasted.Add(failure.Usage)
		if failure.Malformed {
			malformed++
		}
		if !failure.Retryable || attempt >= retry.MaxAttempts || malformed >= loop.MaxMalformed {
			s.done(s.failed(failure.Error()))
			return
		}
		s.run.agent.config.Log.Warn("asking for a summary again", "run", s.run.id, "error", failure)
		if sleep(s.task.ctx, retry.pause(attempt, failure.RetryAfter)) != nil {
			return
		}
	}
}

func (s *summarizer) done(p loop.Payload) {
	s.run.report(update{task: s.task, done: func() loop.Payload { return p }})
}

func (s *summarizer) failed(words string) *loop.Compacted {
	return &loop.Compacted{
		Reason: s.command.Reason, Failure: "the conversation could not be summed up: " + words,
		Usage: s.wasted, Cost: s.run.agent.cost(s.wasted),
	}
}

func (s *summarizer) summary(resp *model.Response) *loop.Compacted {
	p := s.failed("the model answered nothing (" + string(resp.StopReason) + ")")
	if text := strings.TrimSpace(loop.TextOf(&resp.Message)); text != "" && resp.StopReason != model.StopRefusal && resp.StopReason != model.StopContentFilter {
		p = &loop.Compacted{Reason: s.command.Reason, Summary: text, Replaced: s.command.Replaced}
	}
	a := s.run.agent
	p.Usage, p.Cost = resp.Usage.Add(s.wasted), a.cost(resp.Usage)+a.cost(s.wasted)
	return p
}

// generate makes one attempt.
func (s *summarizer) generate() (*model.Response, error) {
	ctx, cancel := context.WithCancelCause(s.task.ctx)
	defer cancel(nil)
	idle := s.run.agent.config.ModelIdle
	watchdog := time.AfterFunc(idle, func() { cancel(errIdle) })
	defer watchdog.Stop()
	for chunk, err := range s.run.agent.config.Model.Generate(ctx, s.request) {
		watchdog.Reset(idle)
		switch {
		case err != nil && errors.Is(context.Cause(ctx), errIdle):
			return nil, &model.Error{Message: errIdle.Error(), Retryable: true, Usage: modelError(err).Usage, Err: err}
		case err != nil:
			return nil, err
		case chunk.Response != nil:
			return chunk.Response, nil
		}
	}
	return nil, &model.Error{Message: "the model's stream ended before the summary was complete", Retryable: true}
}
