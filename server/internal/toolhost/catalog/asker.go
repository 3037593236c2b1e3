package catalog

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/manifest"
	"github.com/toolhost/toolhost/tool"
)

// asker asks plugins for their descriptions, a bounded number at the same time, and stores the
// answers by digest. It does not know which plugins have a digest: the catalog passes each answer
// to the slots.
//
// mu guards the fields below it. It may be locked while Catalog.mu is held. While mu is held, no
// other lock is taken, except in tasks. The catalog applies an answer and calls finish under one
// lock of Catalog.mu. Otherwise a load between the two could make the slot wait for an answer that
// has already arrived, because the digest still counts as being asked.
type asker struct {
	describeFunc DescribeFunc
	timeout      time.Duration // bound for one plugin
	store        *store
	tasks        *tasks
	log          *slog.Logger
	tokens       chan struct{} // one token for each plugin that is being asked

	mu       sync.Mutex
	asking   map[string]struct{} // digests that are being asked, or wait for a token
	settled  chan struct{}       // closed once asking is empty and the answers are saved
	retrying bool                // firstRetry was called
}

func newAsker(cfg Config, store *store, tasks *tasks) *asker {
	return &asker{
		describeFunc: cfg.Describe, timeout: cfg.DescribeTimeout, store: store, tasks: tasks, log: cfg.Logger,
		tokens: make(chan struct{}, cfg.Parallel), asking: map[string]struct{}{}, settled: closedChan(),
	}
}

// start runs ask in the background for a digest. It does nothing if that digest is being asked
// already, or if the catalog is closed. ask must call finish.
func (a *asker) start(digest string, ask func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, asked := a.asking[digest]; asked || !a.tasks.spawn(ask) {
		return
	}
	if isClosed(a.settled) {
		a.settled = make(chan struct{})
	}
	a.asking[digest] = struct{}{}
}

// finish records that a digest has answered, and reports whether no other digest is being asked.
// The caller holds Catalog.mu.
func (a *asker) finish(digest string) (last bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.asking, digest)
	return len(a.asking) == 0
}

// settle ends wait, unless a digest is being asked again.
func (a *asker) settle() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.asking) == 0 && !isClosed(a.settled) {
		close(a.settled)
	}
}

// wait waits until all digests that are being asked have answered, or until ctx ends.
func (a *asker) wait(ctx context.Context) error {
	a.mu.Lock()
	settled := a.settled
	a.mu.Unlock()
	select {
	case <-settled:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// addAsked adds the digests that are being asked.
func (a *asker) addAsked(digests map[string]bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for digest := range a.asking {
		digests[digest] = true
	}
}

// firstRetry reports whether it is called for the first time.
func (a *asker) firstRetry() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	first := !a.retrying
	a.retrying = true
	return first
}

// answer is the description of a digest, or why there is none.
type answer struct {
	description tool.Description
	refused     refusedSchemas
	problem     string
	fault       string // the fault of the machine that is the problem; empty if it is another one
}

// ask waits for a token and asks a plugin. If the catalog is closed first, the answer is a problem.
func (a *asker) ask(p *Plugin, e expectation) answer {
	select {
	case a.tokens <- struct{}{}:
		defer func() { <-a.tokens }()
		return a.question(p, e)
	case <-a.tasks.ctx.Done():
		return answer{problem: context.Cause(a.tasks.ctx).Error()}
	}
}

// question asks a plugin at once.
func (a *asker) question(p *Plugin, e expectation) answer {
	question := *p
	question.Info.Name = a.expectedName(p, e)
	return a.describe(a.tasks.ctx, &question)
}

// describe asks a plugin for its description, and stores the answer.
func (a *asker) describe(ctx context.Context, p *Plugin) answer {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	d, err := a.describeFunc(ctx, p)
	if err != nil {
		a.noteFailure(p, err, time.Since(began))
		return answer{problem: err.Error(), fault: faultOf(err)}
	}
	a.log.Info("plugin described", "plugin", d.Name, "version", d.Version, "digest", p.Digest, "tools", len(d.Tools), "took", time.Since(began), "source", p.Source)
	result := answer{description: d, refused: checkSchemas(d.Tools)}
	a.remember(p, func(known *about) {
		known.Unanswered, known.Description, known.OwnFilters, known.SchemaCheck, known.Refused = "", &d, true, schemaCheck, result.refused
	})
	return result
}

// remember changes the stored record of a digest.
func (a *asker) remember(p *Plugin, change func(known *about)) {
	known, _ := a.store.about(p.Digest)
	change(&known)
	if err := a.store.remember(p.Digest, known); err != nil {
		a.log.Warn("what a plugin answered is not kept; it will be asked again at the next start", "source", p.Source, "error", err)
	}
}

// slowAnswer is how long a plugin may take to describe itself before a process that ends meanwhile
// records a failure. Without it, toolhosts that live for a single run would never record a plugin
// that hangs.
const slowAnswer = 2 * time.Second

// noteFailure records that a digest did not describe itself, unless it had too little time.
func (a *asker) noteFailure(p *Plugin, err error, took time.Duration) {
	reason := err.Error()
	if a.tasks.ctx.Err() != nil {
		reason = "it was still being asked what it is when toolhost ended"
	}
	if a.tasks.ctx.Err() == nil || took >= slowAnswer {
		a.remember(p, func(known *about) { known.Unanswered = reason })
	}
}

// expectation holds the sources of a plugin's expected name.
type expectation struct {
	pins    manifest.Lock
	trusted string   // the name under which it was trusted; empty if it had not described itself
	current string   // the name of the revision in service in its place; empty if there is none
	earlier []string // digests that were in its place before
}

// expectedName returns the name that a plugin will probably have in its description, by the best
// source: the trust record, its manifest, the lock file, the revision in its place now or earlier,
// its file.
func (a *asker) expectedName(p *Plugin, e expectation) string {
	if e.trusted != "" {
		return e.trusted
	}
	if name := p.knownName(); name != "" {
		return name
	}
	for _, name := range slices.Sorted(maps.Keys(e.pins)) {
		if e.pins[name].Digest == p.Digest {
			return name
		}
	}
	if e.current != "" {
		return e.current
	}
	for _, digest := range e.earlier {
		if digest == "" {
			continue
		}
		if known, ok := a.store.about(digest); ok && known.Description != nil && tool.CheckName(known.Description.Name) == nil {
			return known.Description.Name
		}
	}
	return p.Info.Name
}

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

func closedChan() chan struct{} {
	ch := make(chan struct{})
	close(ch)
	return ch
}
