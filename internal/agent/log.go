package agent

import (
	"context"
	"log/slog"

	"github.com/toolhost/toolhost/internal/agent/loop"
)

// log logs a durable event for operators. The command that started a foreground run shows its
// events, so they are logged for debugging only.
func (r *run) log(e loop.Event) {
	level, words, more := slog.LevelDebug, "", []any(nil)
	switch p := e.Payload.(type) {
	case *loop.AssistantMessage:
		words, more = "the model answered", []any{"stop_reason", p.StopReason, "calls", len(p.Calls), "output_tokens", p.Usage.OutputTokens}
	case *loop.CallStarted:
		words, more = "a call is sent", []any{"call", p.CallID, "tool", p.Tool}
	case *loop.CallResult:
		words, more = "a call has its result", []any{"call", p.CallID, "tool", p.Tool, "is_error", p.Result.IsError}
		if p.Failure != nil {
			more = append(more, "kind", p.Failure.Kind, "error", p.Failure.Message)
		}
	case *loop.DecisionRequested:
		level, words, more = slog.LevelInfo, "a run waits for a person", []any{"decision", p.ID, "kind", p.Kind, "tool", p.Tool}
	case *loop.RunFinished:
		level, words, more = slog.LevelInfo, "a run ended", []any{"stop_reason", p.StopReason, "turns", p.Turns, "calls", p.Calls}
		if p.Message != "" {
			more = append(more, "message", p.Message)
		}
		if p.StopReason == loop.StopModelError || p.StopReason == loop.StopInternalError {
			level = slog.LevelError
		}
	default:
		return
	}
	r.logLine(level, words, more...)
}

// logStart logs that work on the run begins or continues.
func (r *run) logStart() {
	words := "run continues"
	if r.fresh {
		words = "a run begins"
	}
	r.logLine(slog.LevelInfo, words, "model", r.agent.config.Model.Name(), "events", r.state.Seq())
}

// logLine logs a line about the run.
func (r *run) logLine(level slog.Level, words string, more ...any) {
	if r.state.Started().Foreground {
		level = slog.LevelDebug
	}
	r.agent.config.Log.Log(context.Background(), level, words, append([]any{"run", r.id}, more...)...)
}
