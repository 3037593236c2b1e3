package commands

import (
	"log/slog"
	"time"

	"github.com/toolhost/toolhost/internal/version"
	"github.com/toolhost/toolhost/server/internal/access/listen"
	"github.com/toolhost/toolhost/server/internal/logging"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// levelVariable is the environment variable with the form of --log-level.
const levelVariable = "AGENTD_LOG_LEVEL"

// openLog opens the log. The levels of the flag are over those of the environment, and these over
// those of the parameter file. The caller closes the log.
func (s *setup) openLog(flag string, file loglevel.Settings) (*logging.Log, error) {
	levels, err := s.mergedLevels(flag, file)
	if err != nil {
		return nil, err
	}
	isJSON := s.config.Log.Format == "json"
	return logging.Open(logging.Config{
		To: s.redactor.Writer(s.process.Stderr, isJSON), JSON: isJSON, Color: cli.ScreenOf(s.process.Stderr, s.process.Getenv).Color,
		Levels: levels, Redact: s.redactor.Text,
	}), nil
}

// levels returns the levels of the configuration with the flag over them.
func (s *setup) levels(flag string) (loglevel.Levels, error) {
	return s.mergedLevels(flag, loglevel.Settings{Least: s.config.Log.Level, By: s.config.Log.Levels})
}

func (s *setup) mergedLevels(flag string, file loglevel.Settings) (loglevel.Levels, error) {
	merged, err := logging.Settings(loglevel.OfAgentd(), flag, levelVariable, s.process.Getenv, file)
	if err != nil {
		return loglevel.Levels{}, err
	}
	return merged.Levels()
}

// openCommandLog opens the log of a command that shows the events of its runs itself. It has the
// level warn, whatever the file says.
func (s *setup) openCommandLog() (*logging.Log, error) {
	return s.openLog("", loglevel.Settings{Least: "warn"})
}

// logStarted logs that agentd serves runs, and with what.
func (s *setup) logStarted(log *slog.Logger, listeners *listen.Set, model, toolhost string, resumed int) {
	attrs := []any{"version", version.Number, "listen", listeners.Describe(), "model", model, "toolhost", toolhost, "resumed_runs", resumed}
	if s.source.Path != "" {
		attrs = append(attrs, "config", s.source.Path)
	}
	log.Info("agentd started", attrs...)
}

// logStopped logs that agentd has stopped. If it stopped because of an error, the command prints
// the error.
func logStopped(log *slog.Logger, began time.Time, err error) {
	if err == nil {
		log.Info("agentd stopped", "uptime", time.Since(began).Round(time.Millisecond))
	}
}
