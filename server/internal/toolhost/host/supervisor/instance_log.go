package supervisor

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/text/crashoutput"
	"github.com/toolhost/toolhost/tool"
)

// logger returns a logger whose records name the instance.
func (in *Instance) logger() *slog.Logger {
	logger := in.supervisor.cfg.Logger.With("plugin", in.supervisor.name, "instance", in.id)
	if tenant := in.supervisor.reporter.shownTenant(); tenant != "" {
		logger = logger.With("tenant", tenant)
	}
	return logger
}

// logReady logs that the instance takes calls, and how long its launch took.
func (in *Instance) logReady() {
	in.logger().Log(context.Background(), in.supervisor.reporter.normalLevel(), "instance ready", "took", in.readyAt.Sub(in.created), "pid", in.proc.PID())
}

// logLaunchFailed logs that the instance did not start.
func (in *Instance) logLaunchFailed() {
	attrs := []any{"took", time.Since(in.created)}
	if in.err.Exit != nil {
		attrs = appendLast(attrs, in.err.Exit.LastStderr)
	}
	in.logger().Error("instance did not start", append(attrs, "error", in.err)...)
}

// logExit logs the end of an instance that has taken calls. `toolhost why` shows more of a crash.
func (in *Instance) logExit() {
	lived := time.Since(in.readyAt)
	if in.stopReason() != "" {
		in.logger().Log(context.Background(), in.supervisor.reporter.normalLevel(), "instance exited", "lived", lived, "exit", in.exit.String())
		return
	}
	attrs := []any{"lived", lived, "exit", in.exit.String()}
	if calls := exitCalls(in.victims); len(calls) > 0 {
		attrs = append(attrs, "calls", len(calls), "executing", executingText(calls))
	}
	in.logger().Error("instance crashed", appendLast(attrs, in.exit.LastStderr)...)
}

// executingText names calls and their callers.
func executingText(calls []tool.ExitCall) string {
	var named []string
	for _, c := range calls {
		text := c.Tool + " (call " + c.CallID
		if c.Principal != "" {
			text += " of " + c.Principal
		}
		named = append(named, text+")")
	}
	return strings.Join(named, ", ")
}

// appendLast appends the line of a process's output that says why the process ended, if there is
// one.
func appendLast(attrs []any, lines []string) []any {
	if last := crashoutput.Reason(lines); last != "" {
		attrs = append(attrs, "last_stderr", last)
	}
	return attrs
}
