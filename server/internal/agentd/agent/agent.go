package agent

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
)

// Agent works on runs. It owns one goroutine for each run at work. All methods are safe for
// concurrent use. Errors are or wrap *tool.Error.
type Agent struct {
	configs    configs
	store      runstore.Store
	journal    *journal
	work       atWork
	looks      looks
	outcomes   *outcomes // nil, like moves, if no other agent shares the store
	moves      *moves
	follow     Follow          // nil: there are no passing events of runs at work elsewhere
	serves     atomic.Bool     // Resume was called
	ctx        context.Context // the context of all runs; ends with Close
	cancel     context.CancelFunc
	slots      chan struct{} // one element for each run with a slot
	starts     starts
	statistics statistics
	turns      turns
	pace       pacer
	lists      toolLists
	decided    bell  // rings when what a run waits for has changed
	loaded     *room // for the contents of model requests in flight
	taking     *room // for the contents that are read to accept prompts and messages
}

// New returns an agent that works on no run yet. The caller must call Close.
func New(cfg Config) (*Agent, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	a := &Agent{
		store: cfg.Store, journal: newJournal(cfg.Store, cfg.Log.With(loglevel.Key, loglevel.Storage)), ctx: ctx, cancel: cancel, slots: make(chan struct{}, cfg.MaxRuns),
		loaded: newRoom(cfg.AttachmentMemory), taking: newRoom(defaultAttachmentMemory), follow: cfg.Follow,
	}
	a.looks.turn = make(chan struct{}, 1)
	a.work = atWork{agent: a, runs: make(map[string]*run), working: make(map[runstore.Query]int), moving: make(map[string]chan struct{}), paused: make(map[string]time.Time), freed: make(chan struct{}, 1)}
	if shared := a.journal.shared; shared != nil {
		a.outcomes = newPolled(a, outcomePause, shared.Outcomes)
		a.moves = newPolled(a, watchPause, a.moved)
	}
	a.configs.current.Store(newConfigured(cfg))
	return a, nil
}

// Close stops all work and waits until it has stopped. Unfinished runs continue when they are
// resumed, and calls in progress continue in toolhost. Close may be called more than once.
func (a *Agent) Close() {
	a.work.mu.Lock()
	a.work.closed = true
	a.work.mu.Unlock()
	a.cancel()
	a.work.group.Wait()
}
