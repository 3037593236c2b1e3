package main

import (
	"context"
	"log/slog"

	"github.com/toolhost/toolhost/internal/agent"
)

// workbench is an agent in this process, with all that it needs.
type workbench struct {
	*agent.Agent
	log     *slog.Logger
	closers []func() error
}

// openWorkbench puts an agent together for runs that belong to this process. present is whether somebody can be asked.
// Close must be called.
func (s *setup) openWorkbench(ctx context.Context, present bool) (_ *workbench, err error) {
	m, prices, err := s.openModel()
	if err != nil {
		return nil, err
	}
	w := &workbench{log: s.logger(slog.LevelWarn)}
	defer func() {
		if err != nil {
			err = closeAll(err, w.closers...)
		}
	}()
	store, err := s.openJournal(ctx)
	if err != nil {
		return nil, err
	}
	w.closers = append(w.closers, store.Close)
	host, err := s.connect(ctx, true, w.log)
	if err != nil {
		return nil, err
	}
	w.closers = append(w.closers, host.Close)
	config := s.agentConfig(present)
	config.Search = host.Client
	config.Store, config.Model, config.Prices, config.Tools, config.Log = store, m, prices, remoteTools{host.Client}, w.log
	if w.Agent, err = agent.New(config); err != nil {
		return nil, err
	}
	w.closers = append(w.closers, func() error { w.Agent.Close(); return nil })
	return w, nil
}

// Close stops working: runs that have not ended go on when somebody resumes them.
func (w *workbench) Close() error { return closeAll(nil, w.closers...) }
