package host

import (
	"log/slog"

	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
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
