package agentd

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"time"

	"github.com/toolhost/toolhost/internal/agent"
	"github.com/toolhost/toolhost/internal/agent/loop"
	"github.com/toolhost/toolhost/internal/agent/runstore/memory"
	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/internal/model"
	"github.com/toolhost/toolhost/tool"
)

// history is an agent that tells of runs and works on none: it has neither a model nor tools.
type history struct {
	*agent.Agent
	close func() error
}

// openHistory opens the journal to read it. Somebody else may be at work on its runs. Where there is none yet, none is made.
func (s *setup) openHistory(ctx context.Context) (*history, error) {
	path, err := s.journalPath()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if s.journal != "" {
			return nil, cli.Usage("--journal: there is no file %s", path)
		}
		return newHistory(agent.Config{Store: memory.New()}, func() error { return nil })
	}
	store, err := s.openJournal(ctx)
	if err != nil {
		return nil, err
	}
	return newHistory(agent.Config{Store: store}, store.Close)
}

// newHistory returns a history of a store that closeStore closes.
func newHistory(config agent.Config, closeStore func() error) (*history, error) {
	config.Model, config.Tools = nobodysModel{}, nobodysTools{}
	a, err := agent.New(config)
	if err != nil {
		return nil, errors.Join(err, closeStore())
	}
	return &history{Agent: a, close: func() error { a.Close(); return closeStore() }}, nil
}

// followPause is how long a follower rests before it looks again what the journal has: short enough to seem at once.
const followPause = 250 * time.Millisecond

// events yields what the journal holds of a run; with follow set also what others append to it, until the run ends or ctx
// does. That a run which is not at work here has no end is no error.
func (h *history) events(ctx context.Context, runID string, follow bool) iter.Seq2[loop.Event, error] {
	return func(yield func(loop.Event, error) bool) {
		var after uint64
		for again := true; again; again = follow && pause(ctx, followPause) {
			unfinished := false
			for e, err := range h.WatchRun(ctx, runID, after) {
				if err != nil && (ctx.Err() != nil && follow || after > 0 && tool.KindOf(err) == tool.KindUnavailable) {
					unfinished = true
					break
				}
				if after = max(after, e.Seq); !yield(e, err) || err != nil {
					return
				}
			}
			if !unfinished {
				return
			}
		}
	}
}

// pause waits, and reports whether ctx is not done.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// What stands where a history has neither a model nor tools, which reading the journal needs not.
type (
	nobodysModel struct{ model.Model }
	nobodysTools struct{ agent.Tools }
)
