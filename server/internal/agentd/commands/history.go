package commands

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/agentserver"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/memory"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/postgres"
	database "github.com/toolhost/toolhost/server/internal/store/postgres"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// history reads runs. It is the client of an agent without a model and tools, which reads the
// journal and works on no run, or of an `agentd serve`.
type history struct {
	*client.AgentClient
	served bool         // by an agentd serve
	at     serverChoice // that agentd serve
	close  func() error // nil if served
}

// openHistory opens the journal for reading. Another process may work on its runs. If there is no
// journal, openHistory creates none.
func (s *setup) openHistory(ctx context.Context) (*history, error) {
	if url, err := s.place().database(); err != nil || url != "" {
		return s.openRemoteHistory(ctx, url, err)
	}
	path, err := s.place().journalPath()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if s.journal != "" {
			return nil, cli.Usage("--journal: there is no file %s", path)
		}
		return newHistory(agent.Config{Store: memory.New()}, func() error { return nil })
	}
	store, err := s.place().openJournal(ctx)
	if err != nil {
		return nil, err
	}
	return newHistory(agent.Config{Store: store}, store.Close)
}

// openRemoteHistory opens the journal in a database.
func (s *setup) openRemoteHistory(ctx context.Context, url string, err error) (*history, error) {
	if err != nil {
		return nil, err
	}
	store, err := postgres.Open(ctx, database.Config{URL: url, Application: program})
	if err != nil {
		return nil, err
	}
	return newHistory(agent.Config{Store: store}, store.Close)
}

// newHistory returns a history of a store. closeStore closes the store.
func newHistory(config agent.Config, closeStore func() error) (*history, error) {
	config.Model, config.Tools = nobodysModel{}, nobodysTools{}
	a, err := agent.New(config)
	if err != nil {
		return nil, errors.Join(err, closeStore())
	}
	closeAgent := func() error { a.Close(); return closeStore() }
	local, err := agentserver.ServeLocal(a, nil)
	if err != nil {
		return nil, errors.Join(err, closeAgent())
	}
	return &history{AgentClient: local.AgentClient, close: func() error { return errors.Join(local.Close(), closeAgent()) }}, nil
}

// followPause is the time between two reads of the journal. A person does not notice it.
const followPause = 250 * time.Millisecond

// events yields the events of a run until now. If follow is set, it also yields later events, which
// another process appends, until the run ends or ctx is done. It is no error if a run has no end
// yet.
func (h *history) events(ctx context.Context, runID string, follow bool) iter.Seq2[client.RunEvent, error] {
	return func(yield func(client.RunEvent, error) bool) {
		if h.served {
			h.servedEvents(ctx, runID, follow, yield)
			return
		}
		var after uint64
		for again := true; again; again = follow && cli.Wait(ctx, followPause) {
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

// servedEvents is events for a server, which goes on with a watch until the run has ended. It
// leaves out the passing events of what is complete, of which the server may have kept a part, and
// which stand before the complete event.
func (h *history) servedEvents(ctx context.Context, runID string, follow bool, yield func(client.RunEvent, error) bool) {
	r, err := h.GetRun(ctx, runID)
	if err != nil {
		yield(client.RunEvent{}, err)
		return
	}
	for e, err := range h.WatchRun(ctx, runID, 0) {
		if err != nil && follow && ctx.Err() != nil {
			return
		}
		if err == nil && e.Index > 0 && (!follow || e.Seq <= r.LastSeq) {
			continue
		}
		if !yield(e, err) || !follow && e.Seq >= r.LastSeq {
			return
		}
	}
}

// A history needs a model and tools to construct an agent, but does not use them.
type (
	nobodysModel struct{ model.Model }
	nobodysTools struct{ agent.Tools }
)
