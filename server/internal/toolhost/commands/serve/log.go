package serve

import (
	"cmp"
	"io"
	"log/slog"
	"time"

	"github.com/toolhost/toolhost/internal/version"
	"github.com/toolhost/toolhost/server/internal/logging"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/server/internal/secrets"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
)

// levelVariable is the environment variable with the form of --log-level.
const levelVariable = "TOOLHOST_LOG_LEVEL"

// setLevels puts the levels of the flag over those of the environment, and these over those of the
// file. It parses the result.
func (o *Options) setLevels(flag string) error {
	file := loglevel.Settings{Least: o.Log.Level, By: o.Log.Levels}
	merged, err := logging.Settings(loglevel.OfToolhost(), flag, levelVariable, o.getenv, file)
	if err != nil {
		return err
	}
	o.Log.Level, o.Log.Levels = merged.Least, merged.By
	o.logLevels, err = merged.Levels()
	return err
}

// openLog opens the log. The caller closes it.
func openLog(options *Options, redactor *secrets.Redactor, stderr io.Writer) *logging.Log {
	isJSON := options.Log.Format == "json"
	return logging.Open(logging.Config{
		To: redactor.Writer(stderr, isJSON), JSON: isJSON, Color: cli.ScreenOf(stderr, options.getenv).Color,
		Levels: options.logLevels, Redact: redactor.Text,
	})
}

// followLevels returns the follower that applies changed levels to the log.
func followLevels(log *logging.Log) follower {
	return func(_, next *Options) (apply, cancel func(), err error) {
		levels := next.logLevels
		return func() { log.SetLevels(levels) }, nil, nil
	}
}

// logStarted logs that toolhost serves calls, and with what.
func logStarted(options *Options, s servedHost) {
	snapshot := s.known.Snapshot()
	tools := 0
	for _, p := range snapshot.Plugins() {
		tools += len(p.Tools)
	}
	attrs := []any{"version", version.Number, "listen", s.listeners.Describe(), "plugins", len(snapshot.Plugins()), "tools", tools}
	for _, a := range [][2]string{{"config", options.file}, {"state", options.State}, {"workspace", cmp.Or(options.Workspace.Folder, options.Workspace.Remote.Address, options.Workspace.Backend)}, {"metrics", s.exported.Listening()}} {
		if a[1] != "" {
			attrs = append(attrs, slog.String(a[0], a[1]))
		}
	}
	s.logger.Info("toolhost started", attrs...)
}

// logStopped logs that toolhost has stopped. If it stopped because of an error, the command prints
// the error.
func logStopped(logger *slog.Logger, began time.Time, err error) {
	if err == nil {
		logger.Info("toolhost stopped", "uptime", time.Since(began).Round(time.Millisecond))
	}
}

// callsRunning returns how many calls run or wait.
func callsRunning(h *host.Host) int {
	n := 0
	for _, p := range h.Measure().Plugins {
		n += p.Calls + p.Queued
	}
	return n
}
