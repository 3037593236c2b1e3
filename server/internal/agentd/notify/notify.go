package notify

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

const (
	// keep is how long a message is tried, from when it is first due.
	keep = 3 * 24 * time.Hour
	// maxKept is the most messages in the outbox. A row has a few hundred bytes.
	maxKept = 100_000
	// maxPause is the longest pause between two attempts.
	maxPause = time.Hour
	// firstPause is the pause after the first failure. It doubles with each.
	firstPause = 2 * time.Second
	// lease is how long a taken message is not taken again, unless its sender says so. An attempt with
	// its reading is shorter.
	lease = time.Minute
	// poll is the pause between two looks for messages that are due, such as those of other nodes.
	poll = 2 * time.Second
	// trimPause is the pause between two looks for messages that are too old or too many.
	trimPause = 10 * time.Minute
)

// Runs is what the sender reads of runs.
type Runs interface {
	Event(ctx context.Context, runID string, seq uint64) (*loop.RunStarted, loop.Event, error)
	Decision(ctx context.Context, runID, id string) (agent.Decision, error)
}

// Settings are what a configuration says. They do not change.
type Settings struct {
	Routes  Routes
	Targets map[string]Target
	Pages   string // the address of the pages that links lead to; empty: there are none
}

// Notifier is an agent.Notifier, and sends the messages. Each target has a goroutine of its own, so
// that none waits for another. The zero value is not usable; call New.
type Notifier struct {
	outbox runstore.Outbox
	log    *slog.Logger
	inUse  atomic.Pointer[generation]

	mu   sync.Mutex // held while a generation ends and the next one begins
	runs Runs       // nil: nothing is sent
}

// generation is the settings with the goroutines that send by them.
type generation struct {
	Settings
	queues map[string]*queue // by target
	cancel context.CancelFunc
	group  sync.WaitGroup
}

var _ agent.Notifier = (*Notifier)(nil)

// New returns a Notifier for the messages in an outbox, which sends nothing yet.
func New(outbox runstore.Outbox, settings Settings, log *slog.Logger) *Notifier {
	n := &Notifier{outbox: outbox, log: log}
	n.inUse.Store(&generation{Settings: settings, cancel: func() {}})
	return n
}

// Messages implements agent.Notifier.
func (n *Notifier) Messages(s *loop.State, events []loop.Event) []runstore.Message {
	return n.inUse.Load().Routes.Messages(s, events)
}

// Written implements agent.Notifier.
func (n *Notifier) Written() {
	for _, q := range n.inUse.Load().queues {
		select {
		case q.woken <- struct{}{}:
		default:
		}
	}
}

// Start begins to send, also what an earlier process has left. The caller calls Close.
func (n *Notifier) Start(runs Runs) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.runs = runs
	n.replace(n.inUse.Load().Settings)
}

// Set replaces the settings. It interrupts what is being sent, which is then sent again.
func (n *Notifier) Set(settings Settings) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.replace(settings)
}

// Close interrupts what is being sent, and waits for the goroutines.
func (n *Notifier) Close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.runs = nil
	n.replace(n.inUse.Load().Settings)
}

// replace ends the goroutines, and starts those of the settings. New messages use the new routes
// before that, because the end of a command can take a second.
func (n *Notifier) replace(settings Settings) {
	ctx, cancel := context.WithCancel(context.Background())
	next := &generation{Settings: settings, queues: map[string]*queue{}, cancel: cancel}
	if n.runs != nil {
		for name, target := range settings.Targets {
			next.queues[name] = &queue{notifier: n, runs: n.runs, settings: &next.Settings, name: name, target: target, woken: make(chan struct{}, 1)}
		}
	}
	before := n.inUse.Swap(next)
	before.cancel()
	before.group.Wait()
	if len(next.queues) > 0 {
		next.group.Go(func() { n.trim(ctx) }) // like those of the queues, it ends with ctx
	}
	for _, q := range next.queues {
		next.group.Go(func() { q.run(ctx) })
	}
}

// trim removes messages that are too old or too many.
func (n *Notifier) trim(ctx context.Context) {
	for {
		dropped, err := n.outbox.Trim(ctx, time.Now(), maxKept)
		switch {
		case err != nil && ctx.Err() == nil:
			n.log.Warn("the outbox of messages cannot be trimmed", "error", err)
		case dropped > 0:
			n.log.Error("messages were dropped: their targets did not take them in time, or there were too many", "messages", dropped, "kept_for", keep, "most", maxKept)
		}
		if !wait(ctx, trimPause, nil) {
			return
		}
	}
}

// wait waits for a time or a signal. It returns false if ctx has ended.
func wait(ctx context.Context, d time.Duration, woken <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-woken:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}
