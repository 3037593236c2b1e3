package agent

import (
	"strings"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// summarize starts a request for a summary. Its goroutine belongs to the run and ends with the
// task. The text is not shown, because it is not part of the conversation.
func (r *run) summarize(t *task, c loop.Summarize) {
	s := &summarizer{run: r, task: t, command: c, request: r.state.SummaryRequest(c.Replaced), route: r.newRoute(nil)}
	r.group.Go(s.work)
}

// summarizer is a request for a summary, with its retries.
type summarizer struct {
	run     *run
	task    *task
	command loop.Summarize
	route   route
	request model.Request
	timing  modelTiming
}

func (s *summarizer) work() {
	defer s.run.recoverTask(s.task, func(words string) loop.Payload { return s.failed(words) })
	if err := s.run.noModel; err != nil {
		s.done(s.failed(err.Error()))
		return
	}
	s.timing.begin()
	s.timing.compaction = true
	for {
		s.timing.attempts = s.route.attempts
		from := s.route.current()
		resp, err := s.run.ask(s.task, &s.route, s.request, func(model.Chunk) { s.timing.chunk() })
		if s.task.ctx.Err() != nil {
			return
		}
		if err == nil {
			s.timing.chunk()
			s.run.observed.modelEnded(&s.timing, &s.route, resp, nil)
			s.done(s.summary(from, resp))
			return
		}
		failure := modelError(err)
		step := s.route.failed(failure)
		if !step.again {
			s.run.observed.modelEnded(&s.timing, &s.route, nil, failure)
			s.done(s.failed(failure.Error()))
			return
		}
		if !s.route.repeat(s.task.ctx, &s.run.log, "model is asked for a summary again", step, failure) {
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
		Usage: s.route.wasted, Cost: s.route.cost,
	}
}

func (s *summarizer) summary(from routed, resp *model.Response) *loop.Compacted {
	p := s.failed("the model answered nothing (" + string(resp.StopReason) + ")")
	if text := strings.TrimSpace(loop.TextOf(&resp.Message)); text != "" && resp.StopReason != model.StopRefusal && resp.StopReason != model.StopContentFilter {
		p = &loop.Compacted{Reason: s.command.Reason, Summary: text, Replaced: s.command.Replaced}
	}
	p.Usage, p.Cost = resp.Usage.Add(s.route.wasted), from.cost(resp.Usage)+s.route.cost
	return p
}
