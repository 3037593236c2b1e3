package host

import (
	"context"
	"log/slog"

	"github.com/toolhost/toolhost/internal/wire/trace"
	"github.com/toolhost/toolhost/tool"
)

// logger returns a logger whose records name the call.
func (c *call) logger(to *slog.Logger) *slog.Logger {
	named := to.With("plugin", c.plugin(), "tool", c.request.Tool, "call", c.request.ID, "session", c.request.Session,
		"principal", c.request.Principal, "trace", traceOf(&c.request))
	if c.request.Via != "" {
		named = named.With("via", c.request.Via)
	}
	return named
}

// traceOf returns the id of the trace to which a call belongs; empty if there is none.
func traceOf(call *tool.Call) string {
	if context, ok := trace.Parse(call.Traceparent); ok {
		return context.Trace.String()
	}
	return ""
}

// logEnd logs the outcome of a call. A failure of toolhost or of a plugin is more important than a
// mistake of the caller. Successes and mistakes are logged for debugging only, because there are
// many: `toolhost calls` and the metrics show them.
func (c *call) logEnd(outcome *tool.Outcome) {
	level := slog.LevelDebug
	if outcome.Err != nil {
		level = failureLevel(outcome.Err)
	}
	if !c.services.log.calls.Enabled(context.Background(), level) {
		return
	}
	attrs := []slog.Attr{slog.String("outcome", outcomeName(outcome)), slog.Duration("took", outcome.Result.Duration)}
	if outcome.Instance != "" {
		attrs = append(attrs, slog.String("instance", outcome.Instance))
	}
	words := "call ended"
	if outcome.Err != nil {
		words = "call failed"
		attrs = append(attrs, slog.Any("error", outcome.Err))
	}
	c.logger(c.services.log.calls).LogAttrs(context.Background(), level, words, attrs...)
}

// failureLevel returns the level of a failed call. The record of a crash names the calls that the
// process executed, so their failures are logged for debugging only.
func failureLevel(err *tool.Error) slog.Level {
	if err.Exit != nil {
		return slog.LevelDebug
	}
	switch err.Kind {
	case tool.KindInternal, tool.KindOutcomeUnknown:
		return slog.LevelWarn
	case tool.KindCrashed, tool.KindTimeout, tool.KindUnavailable:
		return slog.LevelInfo
	}
	return slog.LevelDebug
}

func outcomeName(outcome *tool.Outcome) string {
	switch {
	case outcome.Err != nil:
		return string(outcome.Err.Kind)
	case outcome.Result.IsError:
		return "tool_error"
	}
	return "ok"
}

// logRecord adds a record that the plugin wrote for the call to the log.
func (a *attempt) logRecord(record *tool.LogRecord) {
	level := recordLevel(record.Level)
	logger := a.call.services.log.plugins.With("plugin", a.supervisor.Name()) // its level may be that of the plugin
	if !logger.Enabled(context.Background(), level) {
		return
	}
	attrs := []slog.Attr{slog.String("instance", a.instance.ID())}
	if len(record.Attributes) > 0 {
		fields := make(map[string]any, len(record.Attributes))
		for key, value := range record.Attributes {
			fields[key] = value
		}
		attrs = append(attrs, slog.Any("fields", fields))
	}
	a.call.logger(logger).LogAttrs(context.Background(), level, record.Message, attrs...)
}

func recordLevel(level tool.LogLevel) slog.Level {
	switch level {
	case tool.LogDebug:
		return slog.LevelDebug
	case tool.LogWarn:
		return slog.LevelWarn
	case tool.LogError:
		return slog.LevelError
	}
	return slog.LevelInfo
}
