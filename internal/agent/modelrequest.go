package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/agent/loop"
	"github.com/toolhost/toolhost/internal/model"
	"github.com/toolhost/toolhost/tool"
)

// requestModel starts a model request. Its goroutine belongs to the run and ends with the task.
func (r *run) requestModel(t *task) {
	q := &modelRequest{
		run: r, task: t, request: r.state.Request(), turn: r.state.Turn(), read: r.state.Seq(), offered: r.offered, started: *r.state.Started(),
		context: r.state.Context(r.state.Turn()), shown: r.state.MaxShown(1), found: r.state.Found(),
	}
	r.group.Go(q.work)
}

// modelRequest is a request for the model's next response, with its retries.
type modelRequest struct {
	run     *run
	task    *task
	request model.Request
	turn    int
	read    uint64
	offered []tool.Info
	started loop.RunStarted
	context map[string]json.RawMessage // the context of the response's calls
	found   []string                   // the tools that searches found
	wasted  tool.Usage                 // the usage of failed attempts
	shown   *int                       // the limit for shown results, as known before the response
}

func (q *modelRequest) work() {
	defer q.run.recoverTask(q.task, func(words string) loop.Payload { return q.run.state.Failed(loop.StopInternalError, words) })
	if err := q.listTools(); err != nil {
		q.fail(loop.StopInternalError, fmt.Sprintf("the tools cannot be listed: %v", err))
		return
	}
	retry, malformed := q.run.agent.config.ModelRetry, 0
	for attempt := 1; ; attempt++ {
		resp, open, err := q.generate()
		if q.task.ctx.Err() != nil {
			open.abandon()
			return
		}
		if err == nil {
			claim := q.hold(open)
			q.run.report(update{task: q.task, done: func() loop.Payload {
				q.run.previews = claim()
				m := q.run.state.Respond(resp, q.offered, q.read)
				m.Wasted, m.Cost = q.wasted, q.run.agent.cost(resp.Usage)+q.run.agent.cost(q.wasted)
				return m
			}})
			return
		}
		failure := modelError(err)
		q.wasted = q.wasted.Add(failure.Usage)
		if failure.Malformed {
			malformed++
		}
		if !failure.Retryable || failure.ContextOverflow || attempt >= retry.MaxAttempts || malformed >= loop.MaxMalformed {
			words := failure.Error()
			if attempt > 1 {
				words = fmt.Sprintf("%s (after %d attempts)", words, attempt)
			}
			if failure.ContextOverflow {
				q.run.report(update{task: q.task, done: func() loop.Payload { return q.withWaste(q.run.state.Overflowed(words)) }})
				return
			}
			q.fail(loop.StopModelError, words)
			return
		}
		q.logRetry(failure, attempt+1)
		q.run.report(update{task: q.task, passing: &loop.TurnReset{Reason: failure.Error(), Attempt: attempt + 1}})
		if sleep(q.task.ctx, retry.pause(attempt, failure.RetryAfter)) != nil {
			return
		}
	}
}

func (q *modelRequest) fail(reason loop.StopReason, words string) {
	q.run.report(update{task: q.task, done: func() loop.Payload { return q.withWaste(q.run.state.Failed(reason, words)) }})
}

// logRetry logs that the request is repeated. It may run concurrently with the run's goroutine.
func (q *modelRequest) logRetry(failure *model.Error, attempt int) {
	level := slog.LevelWarn
	if q.started.Foreground {
		level = slog.LevelDebug
	}
	q.run.agent.config.Log.Log(q.task.ctx, level, "asking the model again", "run", q.run.id, "attempt", attempt, "error", failure)
}

// withWaste adds the usage of failed attempts to the event that ends a request without a response.
func (q *modelRequest) withWaste(p loop.Payload) loop.Payload {
	cost := q.run.agent.cost(q.wasted)
	switch p := p.(type) {
	case *loop.RunFinished:
		p.Usage, p.Cost = p.Usage.Add(q.wasted), p.Cost+cost
	case *loop.Compacted:
		p.Usage, p.Cost = p.Usage.Add(q.wasted), p.Cost+cost
	}
	return p
}

// cost returns the cost of tokens of the agent's model, or 0 if the price is unknown.
func (a *Agent) cost(u tool.Usage) float64 {
	cost, _ := a.config.Prices.Cost(a.config.Model.Name(), u)
	return cost
}

// listTools lists the tools. If toolhost does not answer, the last list of this run applies,
// because the calls themselves wait for toolhost.
func (q *modelRequest) listTools() error {
	query, retry := q.started.Query(q.context), q.run.agent.config.ToolRetry
	for attempt := 1; ; attempt++ {
		infos, err := q.run.agent.config.Tools.ListTools(q.task.ctx, query)
		switch {
		case err == nil:
			infos = slices.DeleteFunc(slices.Clone(infos), func(info tool.Info) bool { return !q.run.agent.tools.admits(&info) })
			slices.SortFunc(infos, func(a, b tool.Info) int { return strings.Compare(a.Spec.Name, b.Spec.Name) })
			q.setTools(infos)
			q.run.report(update{task: q.task, offered: q.offered})
			return nil
		case q.task.ctx.Err() != nil:
			return err
		case q.offered != nil:
			q.run.agent.config.Log.Warn("listing tools", "run", q.run.id, "error", err)
			q.setTools(q.offered)
			return nil
		case attempt >= retry.MaxAttempts || !mayRecover(err):
			return err
		}
		if err := sleep(q.task.ctx, retry.pause(attempt, tool.AsError(err).RetryAfter)); err != nil {
			return err
		}
	}
}

func (q *modelRequest) setTools(infos []tool.Info) {
	q.offered = infos
	if q.offered == nil {
		q.offered = []tool.Info{}
	}
	var tools []model.Tool
	for _, info := range q.started.VisibleTools(infos, q.found) {
		tools = append(tools, modelTool(&info.Spec))
	}
	own := q.started.OfferedSystemTools(infos)
	tools = q.run.agent.tools.accepted(tools, len(own))
	for i := range own {
		tools = append(tools, modelTool(&own[i]))
	}
	q.request.Tools = tools
}

func modelTool(spec *tool.Spec) model.Tool {
	return model.Tool{Name: spec.Name, Description: spec.Description, InputSchema: spec.InputSchema, Examples: examples(spec)}
}

// errIdle is the cause that ends a silent stream.
var errIdle = errors.New("the model's stream has stalled")

// generate makes one attempt. It shows the text as it arrives, forwards partial arguments, and
// returns the open previews.
func (q *modelRequest) generate() (*model.Response, previews, error) {
	ctx, cancel := context.WithCancelCause(q.task.ctx)
	defer cancel(nil)
	idle := q.run.agent.config.ModelIdle
	watchdog := time.AfterFunc(idle, func() { cancel(errIdle) })
	defer watchdog.Stop()
	forward := q.forward()
	defer forward.abandon()
	for chunk, err := range q.run.agent.config.Model.Generate(ctx, q.request) {
		watchdog.Reset(idle)
		switch {
		case err != nil && errors.Is(context.Cause(ctx), errIdle):
			return nil, nil, &model.Error{Message: fmt.Sprintf("%v: nothing came for %s", errIdle, idle), Retryable: true, Usage: modelError(err).Usage, Err: err}
		case err != nil:
			return nil, nil, err
		case chunk.Response != nil:
			return chunk.Response, forward.finish(), nil
		case chunk.CallBegun != nil:
			forward.begin(chunk.CallBegun)
		case chunk.ArgumentDelta != nil:
			forward.add(chunk.ArgumentDelta)
		case chunk.TextDelta != nil && chunk.TextDelta.Text != "":
			q.run.report(update{task: q.task, passing: &loop.TextDelta{Text: chunk.TextDelta.Text}})
		}
	}
	return nil, nil, &model.Error{Message: "the model's stream ended before the response was complete", Retryable: true}
}

// modelError returns err as a *model.Error. An error of another type is not retried.
func modelError(err error) *model.Error {
	if e, ok := errors.AsType[*model.Error](err); ok {
		return e
	}
	return &model.Error{Message: err.Error(), Err: err}
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
