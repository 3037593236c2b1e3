package main

import (
	"context"
	"errors"
	"iter"

	"github.com/toolhost/toolhost/internal/agent"
	"github.com/toolhost/toolhost/internal/model"
	"github.com/toolhost/toolhost/tool"
)

// history is an agent that tells of runs and works on none: it has neither a model nor tools.
type history struct {
	*agent.Agent
	close func() error
}

// openHistory opens the journal to read it. Somebody else may be at work on its runs.
func (s *setup) openHistory(ctx context.Context) (*history, error) {
	store, err := s.openJournal(ctx)
	if err != nil {
		return nil, err
	}
	a, err := agent.New(agent.Config{Store: store, Model: nobodysModel{}, Tools: nobodysTools{}})
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return &history{Agent: a, close: func() error { a.Close(); return store.Close() }}, nil
}

// events yields what the journal holds of a run. That a run which is not at work here has no end is no error.
func (h *history) events(ctx context.Context, runID string) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		begun := false
		for e, err := range h.WatchRun(ctx, runID, 0) {
			if err != nil && begun && tool.KindOf(err) == tool.KindUnavailable {
				return
			}
			if begun = true; !yield(e, err) {
				return
			}
		}
	}
}

// What stands where a history has neither a model nor tools, which reading the journal needs not.
type (
	nobodysModel struct{ model.Model }
	nobodysTools struct{ agent.Tools }
)
