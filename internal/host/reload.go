package host

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/toolhost/toolhost/internal/catalog"
	"github.com/toolhost/toolhost/internal/lifecycle"
	"github.com/toolhost/toolhost/tool"
)

// takeover is a revision on its way into service. err may be read once done is closed.
type takeover struct {
	done chan struct{}
	err  error
}

// takeoverKey names a revision of one plugin file, and whether it was offered or ordered.
type takeoverKey struct {
	source, digest string
	offered        bool
}

// followCatalog brings what the catalogue finds into service: candidates are warmed and take over, plugins whose files
// are gone drain. It is a goroutine of the host and ends with it.
func (h *Host) followCatalog(seen *catalog.Snapshot) {
	for {
		now, err := h.cfg.Catalog.Next(h.ctx, seen)
		if err != nil {
			return
		}
		d := catalog.Diff(seen, now)
		for _, p := range d.Removed {
			if s := h.existing(p.Info.Name); s != nil {
				s.retire()
			}
		}
		for _, p := range d.Added {
			if s := h.existing(p.Info.Name); s != nil {
				s.revive()
			}
		}
		for _, p := range d.Refused {
			h.journal.append(p.Info.Name, lifecycle.Event{
				Time: time.Now(), Type: lifecycle.EventUpgradeFailed, Revision: p.Refusal.Digest, Reason: p.Refusal.Reason,
			})
		}
		for _, p := range now.Candidates() {
			h.takeOver(p, true)
		}
		seen = now
	}
}

// retire takes a plugin out of service whose file is gone, unless it has come back meanwhile. Its calls end.
func (s *supervisor) retire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone || s.host.cfg.Catalog.Snapshot().Plugin(s.name) != nil {
		return
	}
	s.gone = true
	s.tellLocked(func(m *lifecycle.Machine, now time.Time) []lifecycle.Action {
		return m.Disable(now, "its file is gone")
	})
}

// revive puts a plugin back into service that was retired and has come back, maybe with another executable.
func (s *supervisor) revive() {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.host.cfg.Catalog.Snapshot().Plugin(s.name)
	if !s.gone || p == nil {
		return
	}
	s.gone = false
	s.revisions[p.Digest] = p
	s.tellLocked(func(m *lifecycle.Machine, now time.Time) []lifecycle.Action {
		actions, err := m.Replace(now, p.Digest) // flips at once: no instance takes calls
		if err != nil {
			s.host.cfg.Logger.Error("a plugin that came back keeps its old executable", "plugin", s.name, "error", err)
		}
		return append(actions, m.Disable(now, "")...)
	})
}

// existing returns the supervisor of a plugin, or nil if none of its tools was ever called.
func (h *Host) existing(name string) *supervisor {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.supervisors[name]
}

// takeOver brings a revision into service, on the host's context. Asked again while it is under way, it returns the
// same. If offered is set, the revision was found as a candidate, and counts only as long as it still is one: an operator
// may have decided otherwise meanwhile.
func (h *Host) takeOver(p *catalog.Plugin, offered bool) *takeover {
	key := takeoverKey{p.Source, p.Digest, offered}
	h.mu.Lock()
	t := h.takeovers[key]
	if t != nil {
		h.mu.Unlock()
		return t
	}
	t = &takeover{done: make(chan struct{})}
	h.takeovers[key] = t
	h.mu.Unlock()
	// Owned by the host: bounded by LaunchTimeout and the host's context.
	started := h.spawn(func() {
		defer h.forgetTakeover(key, t)
		// One at a time for each plugin, so that what was decided last holds.
		turn := h.turn(p.Source)
		select {
		case turn <- struct{}{}:
			defer func() { <-turn }()
		case <-h.ctx.Done():
			t.err = tool.Errorf(tool.KindUnavailable, "%w", errStopping)
			return
		}
		if offered && !h.offers(p) {
			return
		}
		t.err = h.warmAndActivate(p)
	})
	if !started {
		t.err = tool.Errorf(tool.KindUnavailable, "%w", errStopping)
		h.forgetTakeover(key, t)
	}
	return t
}

// turn returns what a takeover of a plugin file holds while it is under way.
func (h *Host) turn(source string) chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.turns[source] == nil {
		h.turns[source] = make(chan struct{}, 1)
	}
	return h.turns[source]
}

// offers reports whether the revision is a candidate now.
func (h *Host) offers(p *catalog.Plugin) bool {
	return slices.ContainsFunc(h.cfg.Catalog.Snapshot().Candidates(), func(c *catalog.Plugin) bool {
		return c.Source == p.Source && c.Digest == p.Digest
	})
}

func (h *Host) forgetTakeover(key takeoverKey, t *takeover) {
	h.mu.Lock()
	delete(h.takeovers, key)
	h.mu.Unlock()
	close(t.done)
}

// warmAndActivate launches a revision beside what runs; once it is ready it takes the calls, and the catalogue offers its
// tools. If it does not get ready, what runs stays.
func (h *Host) warmAndActivate(p *catalog.Plugin) error {
	log := h.cfg.Logger.With("plugin", p.Info.Name, "digest", p.Digest)
	// Its supervisor is made if there is none, so that a call that is on its way to make it cannot bring back the old one.
	if current := h.cfg.Catalog.Snapshot().Plugin(p.Info.Name); current != nil {
		if err := h.supervisor(current).replace(h.ctx, p); err != nil {
			log.Error("upgrade failed; what ran before stays", "error", err)
			if h.ctx.Err() == nil {
				err = errors.Join(err, h.cfg.Catalog.Reject(p, "the new executable did not start: "+err.Error()))
			}
			return err
		}
	}
	if err := h.cfg.Catalog.Activate(p); err != nil && !errors.Is(err, catalog.ErrNotKept) {
		return err
	} else if err != nil {
		log.Warn("the upgrade holds, but is not written down", "error", err)
	}
	log.Info("upgraded")
	return nil
}

// lockIdle locks s.mu at a moment when no restart is under way, which is no reason to turn a revision down.
func (s *supervisor) lockIdle(ctx context.Context) error {
	for {
		s.mu.Lock()
		in := s.instances[s.machine.Replacing()]
		if in == nil {
			return nil
		}
		s.mu.Unlock()
		_ = in.awaitReady(ctx) // how the restart ends is not this one's matter
		if ctx.Err() != nil {
			return tool.AsError(context.Cause(ctx))
		}
	}
}

// replace brings another revision to a plugin's instances, and returns once it takes the calls.
func (s *supervisor) replace(ctx context.Context, p *catalog.Plugin) error {
	if err := s.lockIdle(ctx); err != nil {
		return err
	}
	s.revisions[p.Digest] = p
	var refused error
	before := make(map[string]bool, len(s.instances))
	for id := range s.instances {
		before[id] = true
	}
	s.tellLocked(func(m *lifecycle.Machine, now time.Time) (actions []lifecycle.Action) {
		actions, refused = m.Replace(now, p.Digest)
		return actions
	})
	var fresh *instance
	for id, in := range s.instances {
		if !before[id] && in.plugin.Digest == p.Digest {
			fresh = in
		}
	}
	s.mu.Unlock()
	if refused != nil || fresh == nil {
		return refused
	}
	return fresh.awaitReady(ctx)
}

// Reload looks at the plugin folders again: new plugins come, those whose files are gone go, changed ones are upgraded.
// It returns when that is decided for each. A failure of one plugin is part of the answer.
func (h *Host) Reload(ctx context.Context) (tool.Reloaded, error) {
	before := h.cfg.Catalog.Snapshot()
	if err := h.cfg.Catalog.Load(ctx); err != nil {
		return tool.Reloaded{}, tool.Errorf(tool.KindUnavailable, "reloading plugins: %w", err)
	}
	if err := h.cfg.Catalog.Settle(ctx); err != nil {
		return tool.Reloaded{}, tool.AsError(err)
	}
	found := h.cfg.Catalog.Snapshot()
	done := tool.Reloaded{Added: []string{}, Removed: []string{}, Upgraded: []string{}, Failures: []tool.ReloadFailure{}}
	takeovers := map[string]*takeover{}
	for _, p := range found.Candidates() {
		takeovers[p.Info.Name] = h.takeOver(p, true)
	}
	for name, t := range takeovers {
		if err := t.wait(ctx); err != nil {
			done.Failures = append(done.Failures, tool.ReloadFailure{Plugin: name, Reason: err.Error()})
		}
	}
	d := catalog.Diff(before, h.cfg.Catalog.Snapshot())
	for _, p := range d.Added {
		done.Added = append(done.Added, p.Info.Name)
	}
	for _, p := range d.Removed {
		done.Removed = append(done.Removed, p.Info.Name)
		if s := h.existing(p.Info.Name); s != nil {
			s.retire()
		}
	}
	for _, c := range d.Changed {
		done.Upgraded = append(done.Upgraded, c.New.Info.Name)
	}
	for _, p := range d.Broken {
		done.Failures = append(done.Failures, tool.ReloadFailure{Plugin: p.Info.Name, Reason: p.Problem})
	}
	for _, p := range found.Plugins() { // new or not: what runs is not what is in the folder
		if p.Problem == "" && p.Refusal != (catalog.Refusal{}) {
			done.Failures = append(done.Failures, tool.ReloadFailure{Plugin: p.Info.Name, Reason: p.Refusal.Reason})
		}
	}
	slices.SortFunc(done.Failures, func(a, b tool.ReloadFailure) int { return cmp.Compare(a.Plugin, b.Plugin) })
	return done, nil
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

// Upgrade brings a plugin to the executable that is in its folder now, also after a rollback. No call fails: the new
// instance takes over once it is ready. Errors: not_found; unavailable if it does not start, and then what ran stays.
func (h *Host) Upgrade(ctx context.Context, plugin string) (tool.Upgraded, error) {
	return h.change(ctx, plugin, func() (*catalog.Plugin, error) { return h.cfg.Catalog.Upgrade(ctx, plugin) })
}

// Rollback brings a plugin back to the executable that it had before. Errors: as of Upgrade; not_found also if there is
// none.
func (h *Host) Rollback(ctx context.Context, plugin string) (tool.Upgraded, error) {
	return h.change(ctx, plugin, func() (*catalog.Plugin, error) { return h.cfg.Catalog.Rollback(plugin) })
}

func (h *Host) change(ctx context.Context, plugin string, find func() (*catalog.Plugin, error)) (tool.Upgraded, error) {
	snapshot := h.cfg.Catalog.Snapshot()
	current := snapshot.Plugin(plugin)
	if current == nil {
		return tool.Upgraded{}, unknownPlugin(snapshot, plugin)
	}
	next, err := find()
	if err != nil {
		return tool.Upgraded{}, tool.AsError(err)
	}
	done := tool.Upgraded{Digest: next.Digest, PreviousDigest: current.Digest}
	if next.Digest == current.Digest {
		return done, nil
	}
	if err := h.takeOver(next, false).wait(ctx); err != nil {
		return tool.Upgraded{}, tool.AsError(err)
	}
	return done, nil
}
