package commands

import (
	"context"
	"os"
	"path/filepath"

	"github.com/toolhost/toolhost/internal/version"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/agenttelemetry"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/logging"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/server/internal/telemetry"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// openTelemetry opens the exporters that the configuration or the environment names, and makes the
// agent report to them. sameUser says that all callers are this user. The caller closes the result
// after the agent.
func (s *setup) openTelemetry(ctx context.Context, config *agent.Config, sameUser bool, log *logging.Log) (*telemetry.Telemetry, error) {
	exported, err := telemetry.Open(ctx, telemetry.Config{
		Settings: s.config.Telemetry, Service: program, Version: version.Number, Getenv: s.process.Getenv, Logger: log.Logger(loglevel.Telemetry),
		Learn: s.redactor.Learn,
	})
	if err != nil {
		return nil, err
	}
	config.TrustCallers = s.config.Telemetry.Traces.Trusts(sameUser)
	observer, err := agenttelemetry.New(exported, config.Model.Name())
	if err != nil {
		_ = exported.Close() // the other error counts
		return nil, err
	}
	remote, err := s.place().database()
	journal := filepath.Join(s.stateFolder(), journalName) // its disk, while a database has the runs
	if err == nil && remote == "" {
		journal, err = s.place().journalPath()
	}
	if err == nil {
		err = observer.Observe(func() agenttelemetry.State { return measureState(journal) })
	}
	if err != nil {
		_ = exported.Close()
		return nil, err
	}
	if shared, ok := config.Store.(interface {
		Census(ctx context.Context) (runstore.Census, error)
	}); ok {
		err = observer.CountShared(shared.Census)
	}
	if err != nil {
		_ = exported.Close()
		return nil, err
	}
	if observer != nil { // a nil observer must not become an interface, which would not be nil
		config.Observer = observer
	}
	return exported, nil
}

// measureState returns the size of the journal, with the log of SQLite beside it, and the space of
// its disk.
func measureState(journal string) agenttelemetry.State {
	var s agenttelemetry.State
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(journal + suffix); err == nil {
			s.Journal += info.Size()
		}
	}
	s.DiskFree, s.DiskSize = cli.DiskSpace(filepath.Dir(journal))
	return s
}
