package host

import (
	"context"
	"log/slog"

	"github.com/toolhost/toolhost/internal/wire/trace"
	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/tool"
)

// loggers are the loggers of a host, one for each subsystem.
type loggers struct {
	calls, policy, lifecycle, storage, plugins *slog.Logger
}

func newLoggers(logger *slog.Logger) loggers {
	of := func(subsystem string) *slog.Logger { return logger.With(loglevel.Key, subsystem) }
	return loggers{
		calls: of(loglevel.Calls), policy: of(loglevel.Policy), lifecycle: of(loglevel.Lifecycle), storage: of(loglevel.Storage),
		plugins: of(loglevel.Plugins),
	}
}

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

// decisions has the level and the words for each outcome of a decision.
var decisions = map[audit.Outcome]struct {
	level slog.Level
	words string
}{
	audit.Allowed:          {slog.LevelDebug, "call allowed"},
	audit.Denied:           {slog.LevelInfo, "call denied"},
	audit.ApprovalRequired: {slog.LevelInfo, "call waits for approval"},
	audit.Approved:         {slog.LevelInfo, "call approved"},
	audit.RateLimited:      {slog.LevelInfo, "call refused by a rate limit"},
}

// decided logs a decision about the call and writes it to the audit log. It returns an error if the
// call must not be executed, or nil.
func (c *call) decided(entry audit.Decision, refused *tool.Error) *tool.Error {
	made := decisions[entry.Outcome]
	if logger := c.services.log.policy; logger.Enabled(context.Background(), made.level) {
		var attrs []slog.Attr
		for _, a := range [][2]string{{"rule", entry.Rule}, {"reason", entry.Reason}} {
			if a[1] != "" {
				attrs = append(attrs, slog.String(a[0], a[1]))
			}
		}
		if entry.Approval != nil {
			attrs = append(attrs, slog.String("approved_by", entry.Approval.ApprovedBy))
		}
		if entry.Standing != "" {
			attrs = append(attrs, slog.String("standing_approval", entry.Standing))
		}
		c.logger(logger).LogAttrs(context.Background(), made.level, made.words, attrs...)
	}
	err := c.settings.authorizer.record(c.ctx(), entry)
	if err == nil {
		return refused
	}
	if c.ctx().Err() == nil { // otherwise the call ended meanwhile, and the log may be fine
		c.logger(c.services.log.policy).Error("the audit log cannot be written: calls that it has to contain are refused", "error", err)
	}
	if refused != nil {
		return refused
	}
	return tool.Errorf(tool.KindUnavailable, "the decision about the call cannot be recorded, and so it must not be made: %w", err)
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
