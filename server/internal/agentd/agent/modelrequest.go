package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/tool"
)

// requestModel starts a model request. Its goroutine belongs to the run and ends with the task.
func (r *run) requestModel(t *task) {
	q := &modelRequest{
		run: r, task: t, request: r.state.Request(), turn: r.state.Turn(), read: r.state.Seq(), offered: r.offered, started: *r.state.Started(),
		context: r.state.Context(r.state.Turn(), ""), shown: r.state.MaxShown(1), ledger: r.state.LedgerAtBackup(), found: r.state.Found(),
	}
	q.route = r.newRoute(q.request.Messages)
	r.group.Go(q.work)
}

// modelRequest is a request for the model's next response, with its retries.
type modelRequest struct {
	run     *run
	task    *task
	request model.Request
	turn    int
	read    uint64
	offered *offer // nil: no list is known
	started loop.RunStarted
	context map[string]json.RawMessage // the context of the response's calls
	found   []string                   // the tools that searches found
	route   route
	timing  modelTiming
	shown   *int // the limit for shown results, as known before the response
	// ledger is State.LedgerAtBackup
	ledger string
}

func (q *modelRequest) work() {
	defer q.run.recoverTask(q.task, func(words string) loop.Payload { return q.run.state.Failed(loop.StopInternalError, words) })
	if err := q.run.noModel; err != nil {
		q.fail(loop.StopModelError, err.Error())
		return
	}
	if reason, err := q.run.agent.unspent(q.task.ctx, q.started.Principal); err != nil && q.task.ctx.Err() == nil {
		q.fail(reason, err.Error())
		return
	}
	if err := q.listTools(); err != nil {
		q.fail(loop.StopInternalError, fmt.Sprintf("the tools cannot be listed: %v", err))
		return
	}
	q.timing.begin()
	for {
		q.timing.attempts = q.route.attempts
		from := q.route.current()
		q.chooseTools(from)
		resp, open, err := q.attempt()
		if q.task.ctx.Err() != nil {
			open.abandon()
			return
		}
		if lost, ok := errors.AsType[*notLoaded](err); ok {
			q.fail(loop.StopInternalError, lost.Error())
			return
		}
		if err == nil {
			q.run.observed.modelEnded(&q.timing, &q.route, resp, nil)
			q.finish(from, resp, open)
			return
		}
		failure := modelError(err)
		step := q.route.failed(failure)
		if !step.again {
			q.run.observed.modelEnded(&q.timing, &q.route, nil, failure)
			q.giveUp(failure)
			return
		}
		reset := &loop.TurnReset{Reason: failure.Error(), Attempt: q.route.attempts}
		if step.next {
			reset.Model = q.route.current().Model.Name()
		}
		q.run.report(update{task: q.task, passing: reset})
		if !q.route.repeat(q.task.ctx, &q.run.log, "model is asked again", step, failure) {
			return
		}
	}
}

// finish reports the response of a model.
func (q *modelRequest) finish(from routed, resp *model.Response, open previews) {
	claim, answer, form := q.hold(open), q.judgeAnswer(resp), q.callAsText(resp)
	q.run.report(update{task: q.task, done: func() loop.Payload {
		q.run.previews = claim()
		m := q.run.state.Respond(resp, q.offered.list(), q.read)
		m.Answer, m.Markup = answer, form
		m.Model, m.Fallback = from.Model.Name(), from.place
		m.Wasted, m.Cost = q.route.wasted, from.cost(resp.Usage)+q.route.cost
		return m
	}})
}

// giveUp ends a request after its last attempt. If the conversation was too long for any model,
// compacting it may help.
func (q *modelRequest) giveUp(failure *model.Error) {
	switch {
	case q.route.tooLong != nil:
	case q.request.MaxTokens > q.started.Limits.MaxResponseTokens && failure.RefusesTokenLimit():
		// Nobody asked for the raised limit. What the run ended with is the response that was cut.
		q.fail(loop.StopMaxTokens, "the response was cut at its token limit, and the model refused a higher one: "+q.route.words(failure))
		return
	default:
		q.fail(loop.StopModelError, q.route.words(failure))
		return
	}
	words := q.route.words(q.route.tooLong)
	q.run.report(update{task: q.task, done: func() loop.Payload { return q.withWaste(q.run.state.Overflowed(words)) }})
}

func (q *modelRequest) fail(reason loop.StopReason, words string) {
	q.run.report(update{task: q.task, done: func() loop.Payload { return q.withWaste(q.run.state.Failed(reason, words)) }})
}

// withWaste adds the usage of failed attempts to the event that ends a request without a response.
func (q *modelRequest) withWaste(p loop.Payload) loop.Payload {
	switch p := p.(type) {
	case *loop.RunFinished:
		p.Usage, p.Cost = p.Usage.Add(q.route.wasted), p.Cost+q.route.cost
	case *loop.Compacted:
		p.Usage, p.Cost = p.Usage.Add(q.route.wasted), p.Cost+q.route.cost
	}
	return p
}

// listTools lists the tools. If toolhost does not answer, the last list of this run applies,
// because the calls themselves wait for toolhost.
func (q *modelRequest) listTools() error {
	q.waitForTools()
	query, retry := q.started.Query(q.context), q.run.config.ToolRetry
	for attempt := 1; ; attempt++ {
		list, err := q.run.listTools(q.task.ctx, &q.started, query)
		switch {
		case err == nil && q.offered.is(list, q.run.config):
			return nil
		case err == nil:
			q.offered = newOffer(list, &q.started, q.run.config)
			q.run.report(update{task: q.task, offered: q.offered})
			return nil
		case q.task.ctx.Err() != nil:
			return err
		case q.offered != nil:
			q.run.log.to(loglevel.Tools).Warn("tools cannot be listed; the last list applies", "error", err)
			return nil
		case attempt >= retry.MaxAttempts || !mayRecover(err):
			return err
		}
		if err := sleep(q.task.ctx, retry.pause(attempt, tool.AsError(err).RetryAfter)); err != nil {
			return err
		}
	}
}

// toolsWait bounds how long the first request of a run waits for plugins that toolhost does not
// know yet. Most describe themselves within a second.
const toolsWait = 15 * time.Second

// waitForTools waits, before the first request of a run, until toolhost knows its plugins. A
// toolhost is ready before that. Without the wait, the first request could have no tools.
func (q *modelRequest) waitForTools() {
	if q.offered != nil || q.run.config.ToolsKnown == nil {
		return
	}
	ctx, cancel := context.WithTimeout(q.task.ctx, toolsWait)
	defer cancel()
	if err := q.run.config.ToolsKnown(ctx); err != nil && q.task.ctx.Err() == nil {
		q.run.log.to(loglevel.Tools).Warn("toolhost does not know all plugins yet; the run begins with the tools that it knows", "error", err)
	}
}

// chooseTools puts the tools that a model accepts into the request.
func (q *modelRequest) chooseTools(m routed) {
	var tools []model.Tool
	shown := q.offered.show(&q.started, q.found)
	for _, info := range shown.visible {
		t := modelTool(&info.Spec)
		t.Description = q.started.Described(t.Name, t.Description)
		tools = append(tools, t)
	}
	system := slices.Clone(shown.system)
	q.request.Schema = nil
	if model.FeaturesOf(m.Model).Schema {
		q.request.Schema, system = q.started.ResponseSchema, loop.AnswersBySchema(system)
	}
	tools = q.run.config.tools.accepted(m.Model, tools, len(system))
	for i := range system {
		tools = append(tools, systemTool(m.Model, &system[i]))
	}
	q.request.Tools = tools
}

func modelTool(spec *tool.Spec) model.Tool {
	return model.Tool{Name: spec.Name, Description: spec.Description, InputSchema: spec.InputSchema, Examples: examples(spec)}
}

// notLoaded is the error of an attempt whose attachments cannot be loaded. No model was asked.
type notLoaded struct{ error }

// attempt makes one attempt. The contents of the attachments are in memory only for as long as it
// lasts, and not during the pause before the next one.
func (q *modelRequest) attempt() (*model.Response, previews, error) {
	request, free, err := q.run.agent.loadAttachments(q.task.ctx, q.started.RunID, q.request)
	if err != nil {
		return nil, nil, &notLoaded{err}
	}
	defer free()
	return q.generate(request)
}

// generate asks a model. It shows the text as it arrives, forwards partial arguments, and returns
// the open previews.
func (q *modelRequest) generate(request model.Request) (*model.Response, previews, error) {
	forward := q.forward()
	defer forward.abandon()
	show := q.show()
	resp, err := q.run.ask(q.task, &q.route, request, func(chunk model.Chunk) {
		q.timing.chunk()
		show.chunk(&chunk) // before the tool gets it, whose status may say something about it
		switch {
		case chunk.CallBegun != nil:
			forward.begin(chunk.CallBegun)
		case chunk.ArgumentDelta != nil:
			forward.add(chunk.ArgumentDelta)
		}
	})
	if err != nil {
		return nil, nil, err
	}
	q.timing.chunk()
	show.finish()
	return resp, forward.finish(), nil
}

const (
	// maxExamples and maxExampleBytes limit the examples of a tool, because every request contains
	// them.
	maxExamples     = 5
	maxExampleBytes = 4 << 10
)

// examples returns the first examples of a tool, within the limits.
func examples(spec *tool.Spec) (told []tool.InputExample) {
	size := 0
	for _, e := range spec.InputExamples {
		if size += len(e.Description) + len(e.Arguments); len(told) == maxExamples || size > maxExampleBytes {
			break
		}
		told = append(told, e)
	}
	return told
}
