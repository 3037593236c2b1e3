package supervisor

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/tool"
)

// Upgrades brings changed executables into service. A takeover launches the new revision while the
// old one runs; once the new one takes calls, the catalog offers its tools and the old one drains.
// If the new one does not start, the old one stays. All methods are safe for concurrent use.
type Upgrades struct {
	cfg     *Config
	plugins *Plugins
	turns   turns

	mu        sync.Mutex
	takeovers map[takeoverKey]*takeover // those that run
	reloads   map[*reload]struct{}      // those that run
}

// NewUpgrades returns an Upgrades for the plugins.
func NewUpgrades(plugins *Plugins) *Upgrades {
	return &Upgrades{
		cfg: &plugins.cfg, plugins: plugins,
		takeovers: map[takeoverKey]*takeover{}, reloads: map[*reload]struct{}{},
	}
}

// takeover is the way of one revision into service. upgraded and err are valid once done is closed.
type takeover struct {
	plugin   string // its name
	done     chan struct{}
	upgraded tool.Upgraded
	err      error
}

// takeoverKey names a takeover.
type takeoverKey struct {
	source, digest string
	why            cause
	revision       uint64 // that an operator named for a rollback; 0: none
}

// Upgrade brings the executable that is now in the folder of a plugin into service, also after a
// rollback. current is the revision in service. Upgrade launches the new revision even if no
// instance runs, because a revision that does not start must not take over. by is the key of the
// operator's principal, for the history.
func (u *Upgrades) Upgrade(ctx context.Context, current *catalog.Plugin, by, reason string) (tool.Upgraded, error) {
	return u.change(ctx, current, order{ordered, 0, by, reason}, func() (*catalog.Plugin, error) {
		return u.cfg.Catalog.Upgrade(ctx, current.Info.Name)
	})
}

// Rollback brings an earlier executable of a plugin back into service; revision 0: the previous
// one.
func (u *Upgrades) Rollback(ctx context.Context, current *catalog.Plugin, revision uint64, by, reason string) (tool.Upgraded, error) {
	return u.change(ctx, current, order{rolledBack, revision, by, reason}, func() (*catalog.Plugin, error) {
		return u.cfg.Catalog.Rollback(current.Info.Name, revision)
	})
}

func (u *Upgrades) change(ctx context.Context, current *catalog.Plugin, o order, find func() (*catalog.Plugin, error)) (tool.Upgraded, error) {
	g := u.plugins.GroupOf(current)
	g.addOrders(1)
	defer g.addOrders(-1)
	next, err := find()
	if err != nil {
		return tool.Upgraded{}, tool.AsError(err)
	}
	t := u.takeOver(next, o)
	if err := t.wait(ctx); err != nil {
		return tool.Upgraded{}, tool.AsError(err)
	}
	done := t.upgraded
	if done.PreviousDigest == done.Digest { // it took over as a candidate before its turn came
		done.PreviousDigest = current.Digest
	}
	return done, nil
}

// takeOver brings a revision into service, in a goroutine of the host. While a takeover of the same
// revision for the same cause runs, takeOver returns that one.
func (u *Upgrades) takeOver(p *catalog.Plugin, o order) *takeover {
	key := takeoverKey{p.Source, p.Digest, o.why, o.revision}
	u.mu.Lock()
	t := u.takeovers[key]
	if t != nil {
		u.mu.Unlock()
		return t
	}
	t = &takeover{plugin: p.Info.Name, done: make(chan struct{})}
	u.takeovers[key] = t
	u.mu.Unlock()
	// Owned by the host: bounded by LaunchTimeout and the host's context.
	started := u.cfg.Spawn(func() {
		u.run(t, p, o)
		u.finish(key, t)
		// A file may have become a candidate again during this takeover. u.takeOver then did
		// nothing, because it took the new candidate for the one of this takeover. So look once
		// more.
		for _, candidate := range u.cfg.Catalog.Snapshot().Candidates() {
			if candidate.Source == p.Source {
				u.takeOver(candidate, order{why: offered})
			}
		}
	})
	if !started {
		t.err = tool.Errorf(tool.KindUnavailable, "%w", ErrStopping)
		u.finish(key, t)
	}
	return t
}

func (u *Upgrades) finish(key takeoverKey, t *takeover) {
	u.mu.Lock()
	delete(u.takeovers, key)
	u.mu.Unlock()
	close(t.done)
}

// wait returns how the takeover ended.
func (t *takeover) wait(ctx context.Context) error {
	select {
	case <-t.done:
		return t.err
	case <-ctx.Done():
		return tool.AsError(context.Cause(ctx))
	}
}

// run carries out a takeover when its turn has come. Each plugin has one takeover at a time, so
// that the last decision about a plugin is the one in force.
func (u *Upgrades) run(t *takeover, p *catalog.Plugin, o order) {
	release, err := u.turns.take(u.cfg.Context, p.Source)
	if err != nil {
		t.err = tool.Errorf(tool.KindUnavailable, "%w", ErrStopping)
		return
	}
	defer release()
	current := u.cfg.Catalog.Snapshot().Plugin(p.Info.Name)
	if current != nil {
		t.upgraded = tool.Upgraded{Digest: p.Digest, PreviousDigest: current.Digest}
	}
	switch {
	case current != nil && current.Source == p.Source && current.Digest == p.Digest:
		if o.why == ordered && o.reason != "" {
			u.warnNotKept(p, u.cfg.Catalog.Explain(p, catalog.Order{By: o.by, Reason: o.reason}))
		}
		return
	case o.why == offered && !u.isCandidate(p):
		return
	case o.why == rolledBack && o.revision == 0 && u.cfg.Catalog.Previous(p.Info.Name) != p.Digest:
		// The takeover before this one brought another revision into service. The previous revision
		// is now the one that it replaced.
		if p, t.err = u.cfg.Catalog.Rollback(p.Info.Name, 0); t.err != nil {
			return
		}
		t.upgraded.Digest = p.Digest
	}
	t.err = u.bringIn(p, current, o)
}

// isCandidate reports whether the revision is a candidate now.
func (u *Upgrades) isCandidate(p *catalog.Plugin) bool {
	return slices.ContainsFunc(u.cfg.Catalog.Snapshot().Candidates(), func(c *catalog.Plugin) bool {
		return c.Source == p.Source && c.Digest == p.Digest
	})
}

// bringIn starts a revision, if it must start, and activates it.
func (u *Upgrades) bringIn(p, current *catalog.Plugin, o order) error {
	if current == nil || current.Source != p.Source {
		return u.activate(p, o) // another plugin has its name, so that none of its processes runs
	}
	// Made even if the plugin was not used: a call that is about to make it could otherwise bring
	// the old revision back.
	g := u.plugins.GroupOf(current)
	if !g.needsStart(o.why) {
		defer g.reconcile()
		return u.activate(p, o)
	}
	defer g.beginTakeover()()
	s := g.leader()
	if err := s.succession.replace(u.cfg.Context, p, o.why); err != nil {
		u.noteFailure(s.name, err) // before Reject: a reload must not miss it
		u.cfg.Logger.Error(o.why.noun()+" failed; the revision in service stays", "plugin", s.name, "digest", p.Digest, "error", err)
		if u.cfg.Context.Err() == nil && !errors.Is(err, errSuperseded) {
			err = errors.Join(err, u.cfg.Catalog.Reject(p, notStarted+err.Error()))
		}
		return err
	}
	if err := u.activate(p, o); err != nil {
		return err
	}
	g.follow(u.cfg.Context, s, p, o.why)
	return nil
}

// activate makes the catalog offer the tools of a revision, and record that it is in service.
func (u *Upgrades) activate(p *catalog.Plugin, o order) error {
	err := u.cfg.Catalog.Activate(p, catalog.Order{Cause: causes[o.why], By: o.by, Reason: o.reason})
	if errors.Is(err, catalog.ErrNotKept) {
		u.warnNotKept(p, err)
		err = nil
	}
	return err
}

func (u *Upgrades) warnNotKept(p *catalog.Plugin, err error) {
	if err != nil {
		u.cfg.Logger.Warn("a revision is in service, but the state folder does not record that", "plugin", p.Info.Name, "digest", p.Digest, "error", err)
	}
}

// turns lets one takeover at a time change a plugin file. The zero value is ready for use.
type turns struct {
	mu       sync.Mutex
	bySource map[string]*turn // the files that a takeover changes or waits for
}

type turn struct {
	taken  chan struct{} // holds one token
	wanted int
}

// take waits for the turn of a plugin file. The caller must call release at the end.
func (t *turns) take(ctx context.Context, source string) (release func(), err error) {
	t.mu.Lock()
	current := t.bySource[source]
	if current == nil {
		if t.bySource == nil {
			t.bySource = map[string]*turn{}
		}
		current = &turn{taken: make(chan struct{}, 1)}
		t.bySource[source] = current
	}
	current.wanted++
	t.mu.Unlock()
	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if current.wanted--; current.wanted == 0 {
			delete(t.bySource, source)
		}
	}
	select {
	case current.taken <- struct{}{}:
		return func() { <-current.taken; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, context.Cause(ctx)
	}
}

// reload is a Reload that runs.
type reload struct {
	failed map[string]error // why plugins were not upgraded, by name; guarded by Upgrades.mu
}

// noteFailure reports a revision that did not take over to all reloads that run. Each reload keeps
// the first failure of a plugin.
func (u *Upgrades) noteFailure(plugin string, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for r := range u.reloads {
		if r.failed[plugin] == nil {
			r.failed[plugin] = err
		}
	}
}
