package agent

import (
	"context"
	"log/slog"

	"github.com/toolhost/toolhost/internal/wire/trace"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/tool"
)

// runLog logs about one run. It is safe for concurrent use after open.
//
// The command that started a run in the foreground shows the run's events to a person. So the facts
// about such a run are logged for debugging only.
type runLog struct {
	logger     *slog.Logger // its records name the run
	foreground bool
}

func newRunLog(a *Agent, runID string) runLog {
	return runLog{logger: a.config().Log.With("run", runID)}
}

// open adds the session and the trace of the run, which the journal has.
func (l *runLog) open(started *loop.RunStarted) {
	l.foreground = started.Foreground
	if started.Session != started.RunID {
		l.logger = l.logger.With("session", started.Session)
	}
	if context, ok := trace.Parse(started.Traceparent); ok {
		l.logger = l.logger.With("trace", context.Trace.String())
	}
}

// to returns the logger of a subsystem.
func (l *runLog) to(subsystem string) *slog.Logger { return l.logger.With(loglevel.Key, subsystem) }

// fact logs a fact about the run.
func (l *runLog) fact(subsystem string, level slog.Level, words string, more ...any) {
	if l.foreground {
		level = slog.LevelDebug
	}
	l.to(subsystem).Log(context.Background(), level, words, more...)
}

// begun logs that work on the run begins or continues.
func (l *runLog) begun(s *loop.State, fresh bool) {
	words := "run resumed"
	if fresh {
		words = "run begun"
	}
	more := []any{"model", s.Started().Model}
	if started := s.Started(); started.Parent != nil {
		more = append(more, "parent", started.Parent.RunID)
	}
	if !fresh {
		more = append(more, "turn", s.Turn(), "events", s.Seq())
	}
	l.fact(loglevel.Runs, slog.LevelInfo, words, more...)
}

// event logs a durable event of the run.
func (l *runLog) event(e loop.Event) {
	switch p := e.Payload.(type) {
	case *loop.AssistantMessage:
		l.fact(loglevel.Models, slog.LevelDebug, "model answered", append([]any{"stop_reason", p.StopReason, "calls", len(p.Calls)}, spent(p.Usage, p.Cost)...)...)
	case *loop.Compacted:
		if p.Failure == "" {
			l.fact(loglevel.Models, slog.LevelInfo, "conversation compacted", append([]any{"reason", p.Reason, "messages", p.Replaced}, spent(p.Usage, p.Cost)...)...)
		} else {
			l.fact(loglevel.Models, slog.LevelWarn, "conversation not compacted", "reason", p.Reason, "error", p.Failure)
		}
	case *loop.CallStarted:
		l.fact(loglevel.Tools, slog.LevelDebug, "call sent", "tool", p.Tool, "call", p.CallID)
	case *loop.CallResult:
		l.result(p)
	case *loop.DecisionRequested:
		l.fact(loglevel.Runs, slog.LevelInfo, "run waits for a person", "decision", p.ID, "kind", p.Kind, "tool", p.Tool, "call", p.CallID)
	case *loop.DecisionMade:
		l.fact(loglevel.Runs, slog.LevelInfo, "person decided", "principal", p.Principal, "decision", p.ID, "verdict", p.Verdict, "by", p.By)
	case *loop.DecisionExtended:
		l.fact(loglevel.Runs, slog.LevelInfo, "person extended a decision", "principal", p.Principal, "decision", p.ID, "until", p.Expires.UTC())
	case *loop.CancelRequested:
		l.fact(loglevel.Runs, slog.LevelInfo, "run cancelled", "reason", p.Reason)
	case *loop.ContextChange:
		if len(p.Refused) > 0 {
			l.to(loglevel.Tools).Warn("effects of tools on the run's context were refused", "refused", p.Refused)
		}
	case *loop.RunFinished:
		l.finished(p)
	}
}

// result logs the result of a call. Failures of toolhost and of plugins are important to the
// operator. Errors that tools report, and mistakes of the model, are for the model.
func (l *runLog) result(p *loop.CallResult) {
	if p.Failure == nil {
		l.fact(loglevel.Tools, slog.LevelDebug, "call ended", "tool", p.Tool, "call", p.CallID, "is_error", p.Result.IsError)
		return
	}
	level := slog.LevelDebug
	switch p.Failure.Kind {
	case tool.KindOutcomeUnknown:
		level = slog.LevelWarn
	case tool.KindCrashed, tool.KindTimeout, tool.KindUnavailable, tool.KindInternal:
		level = slog.LevelInfo
	}
	l.fact(loglevel.Tools, level, "call failed", "tool", p.Tool, "call", p.CallID, "outcome", p.Failure.Kind, "error", p.Failure.Message)
}

// finished logs the end of the run.
func (l *runLog) finished(p *loop.RunFinished) {
	level := slog.LevelInfo
	if p.StopReason == loop.StopModelError || p.StopReason == loop.StopInternalError {
		level = slog.LevelError
	}
	more := append([]any{"stop_reason", p.StopReason, "turns", p.Turns, "calls", p.Calls}, spent(p.Usage, p.Cost)...)
	if p.Message != "" {
		key := "message"
		if level == slog.LevelError {
			key = "error"
		}
		more = append(more, key, p.Message)
	}
	l.fact(loglevel.Runs, level, "run ended", more...)
}

// spent returns the fields for tokens and their cost.
func spent(usage tool.Usage, cost float64) []any {
	more := []any{"input_tokens", usage.InputTokens, "output_tokens", usage.OutputTokens}
	if cost > 0 {
		more = append(more, "cost", cost)
	}
	return more
}
