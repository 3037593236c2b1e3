package host

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/toolhost/toolhost/internal/host/lifecycle"
	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/tool"
)

// followCatalog brings what the catalogue finds into service: candidates are warmed and take over, plugins whose files
// are gone drain, and those that the catalogue replaced by itself are replaced here too. It is a goroutine of the host
// and ends with it.
func (h *Host) followCatalog(seen *catalog.Snapshot) {
	h.logWarnings(nil, seen)
	for {
		now, err := h.cfg.Catalog.Next(h.ctx, seen)
		if err != nil {
			return
		}
		h.reconcile()
		h.noteChanges(seen, now)
		h.logWarnings(seen, now)
		for _, p := range now.Candidates() {
			h.takeOver(p, offered)
		}
		seen = now
	}
}

// noteChanges tells what came, went and cannot be used. What takes another's place tells that itself.
func (h *Host) noteChanges(before, now *catalog.Snapshot) {
	d := catalog.Diff(before, now)
	note := func(p *catalog.Plugin, t lifecycle.EventType, digest, reason string) {
		h.note(p.Info.Name, lifecycle.Event{Time: time.Now(), Type: t, Revision: digest, Reason: reason})
	}
	for _, p := range d.Removed {
		note(p, lifecycle.EventRemoved, p.Digest, whyGone(now, p.Info.Name))
	}
	for _, p := range d.Added {
		note(p, lifecycle.EventAdded, p.Digest, "")
	}
	for _, p := range d.Broken {
		note(p, lifecycle.EventUnusable, p.Digest, p.Problem)
	}
	for _, p := range d.Refused {
		note(p, lifecycle.EventUpgradeFailed, p.Refusal.Digest, p.Refusal.Reason)
	}
}

// logWarnings logs each warning of a plugin in now that the plugin did not have in before, such as the reason why toolhost
// omits one of its tools. A nil before is an empty snapshot.
func (h *Host) logWarnings(before, now *catalog.Snapshot) {
	for _, p := range now.Plugins() {
		var logged []string
		if before != nil {
			if old := before.Plugin(p.Info.Name); old != nil {
				logged = old.Warnings
			}
		}
		for _, warning := range p.Warnings {
			if !slices.Contains(logged, warning) {
				h.cfg.Logger.Warn("plugin warning", "plugin", p.Info.Name, "source", p.Source, "warning", warning)
			}
		}
	}
}

// Reload looks at the plugin folders again: new plugins come, those whose files are gone go, changed ones are upgraded.
// It returns when that is decided for each. A plugin that cannot be used is part of the answer, each time.
func (h *Host) Reload(ctx context.Context) (tool.Reloaded, error) {
	before := h.cfg.Catalog.Snapshot()
	reload := h.beginReload()
	defer h.endReload(reload)
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
		takeovers[p.Info.Name] = h.takeOver(p, offered)
	}
	for name, t := range takeovers {
		if err := t.wait(ctx); err != nil {
			h.noteFailure(name, err)
		}
	}
	for name, err := range h.endReload(reload) {
		done.Failures = append(done.Failures, tool.ReloadFailure{Plugin: name, Reason: err.Error()})
	}
	h.reconcile()
	d := catalog.Diff(before, h.cfg.Catalog.Snapshot())
	for _, p := range d.Added {
		done.Added = append(done.Added, p.Info.Name)
	}
	for _, p := range d.Removed {
		done.Removed = append(done.Removed, p.Info.Name)
	}
	for _, c := range d.Changed {
		done.Upgraded = append(done.Upgraded, c.New.Info.Name)
	}
	for _, p := range found.Plugins() { // whether that is news or not: what runs is not what is in the folder
		switch {
		case p.Problem != "":
			done.Failures = append(done.Failures, tool.ReloadFailure{Plugin: p.Info.Name, Reason: p.Problem})
		case p.Refusal != (catalog.Refusal{}):
			done.Failures = append(done.Failures, tool.ReloadFailure{Plugin: p.Info.Name, Reason: p.Refusal.Reason})
		}
	}
	if h.cfg.Configuration != nil {
		done.Configuration = h.cfg.Configuration()
	}
	slices.SortFunc(done.Failures, func(a, b tool.ReloadFailure) int { return cmp.Compare(a.Plugin, b.Plugin) })
	return done, nil
}

// reloading is a reload that is under way.
type reloading struct {
	failed map[string]error // why plugins were not upgraded, by name; guarded by Host.mu
}

// beginReload begins to note failures, also those that come before anybody can wait for them.
func (h *Host) beginReload() *reloading {
	r := &reloading{failed: map[string]error{}}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reloads[r] = struct{}{}
	return r
}

// endReload returns the failures. It may be called again.
func (h *Host) endReload(r *reloading) map[string]error {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.reloads, r)
	return r.failed
}

// noteFailure tells reloads that are under way of a revision that could not take over. A second one of the same plugin
// counts for nothing.
func (h *Host) noteFailure(plugin string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for r := range h.reloads {
		if r.failed[plugin] == nil {
			r.failed[plugin] = err
		}
	}
}

// Upgrade brings a plugin to the executable that is in its folder now, also after a rollback. No call fails: the new
// instance takes over once it is ready. One is launched also if none runs: what does not start does not take over.
// Errors: not_found; unavailable if it does not start, and then what ran stays.
func (h *Host) Upgrade(ctx context.Context, plugin string) (tool.Upgraded, error) {
	return h.change(ctx, plugin, ordered, func() (*catalog.Plugin, error) { return h.cfg.Catalog.Upgrade(ctx, plugin) })
}

// Rollback brings a plugin back to the executable that it had before. Errors: as of Upgrade; not_found also if there is
// none.
func (h *Host) Rollback(ctx context.Context, plugin string) (tool.Upgraded, error) {
	return h.change(ctx, plugin, goneBack, func() (*catalog.Plugin, error) { return h.cfg.Catalog.Rollback(plugin) })
}

func (h *Host) change(ctx context.Context, plugin string, why cause, find func() (*catalog.Plugin, error)) (tool.Upgraded, error) {
	snapshot := h.cfg.Catalog.Snapshot()
	current := snapshot.Plugin(plugin)
	if current == nil {
		return tool.Upgraded{}, unknownPlugin(snapshot, plugin)
	}
	s := h.supervisor(current)
	s.order(1)
	defer s.order(-1)
	next, err := find()
	if err != nil {
		return tool.Upgraded{}, tool.AsError(err)
	}
	t := h.takeOver(next, why)
	if err := t.wait(ctx); err != nil {
		return tool.Upgraded{}, tool.AsError(err)
	}
	done := t.upgraded
	if done.PreviousDigest == done.Digest { // as a candidate it was quicker
		done.PreviousDigest = current.Digest
	}
	return done, nil
}
