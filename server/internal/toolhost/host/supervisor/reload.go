package supervisor

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
	"github.com/toolhost/toolhost/tool"
)

// Follow brings the changes that the catalog finds into service: candidates take over, and plugins
// whose files are gone drain. seen is the snapshot that is in service. Follow returns when the host
// closes.
func (u *Upgrades) Follow(seen *catalog.Snapshot) {
	u.logFound(seen)
	u.logWarnings(nil, seen)
	for {
		now, err := u.cfg.Catalog.Next(u.cfg.Context, seen)
		if err != nil {
			return
		}
		u.plugins.reconcile()
		u.noteChanges(seen, now)
		u.logWarnings(seen, now)
		for _, p := range now.Candidates() {
			u.takeOver(p, order{why: offered})
		}
		seen = now
	}
}

// noteChanges adds events for plugins that were added, were removed, or cannot be used, and logs
// them. A takeover adds and logs its own events.
func (u *Upgrades) noteChanges(before, now *catalog.Snapshot) {
	d := catalog.Diff(before, now)
	note := func(p *catalog.Plugin, t lifecycle.EventType, digest, reason string) {
		u.plugins.note(p.Info.Name, "", lifecycle.Event{Time: time.Now(), Type: t, Revision: digest, Reason: reason})
	}
	for _, p := range d.Removed {
		reason := whyGone(now, p.Info.Name)
		note(p, lifecycle.EventRemoved, p.Digest, reason)
		u.cfg.Logger.Info("plugin removed", "plugin", p.Info.Name, "digest", p.Digest, "reason", reason)
	}
	for _, p := range d.Added {
		note(p, lifecycle.EventAdded, p.Digest, "")
		u.logAdded(p)
	}
	for _, p := range d.Broken {
		note(p, lifecycle.EventUnusable, p.Digest, p.Problem)
		u.logUnusable(p)
	}
	for _, p := range d.Refused {
		note(p, lifecycle.EventUpgradeFailed, p.Refusal.Digest, p.Refusal.Reason)
		u.logRefusal(p)
	}
}

// Reload scans the plugin folders: it takes new plugins into service, removes those whose files are
// gone, and upgrades those that have changed. It returns when all these changes have succeeded or
// failed. Each answer names all plugins that cannot be used, also those that an earlier answer
// named, because their files differ from what runs.
func (u *Upgrades) Reload(ctx context.Context) (tool.Reloaded, error) {
	before := u.cfg.Catalog.Snapshot()
	r := u.beginReload()
	defer u.endReload(r)
	if err := u.cfg.Catalog.Load(ctx); err != nil {
		return tool.Reloaded{}, tool.Errorf(tool.KindUnavailable, "reloading plugins: %w", err)
	}
	if err := u.cfg.Catalog.Settle(ctx); err != nil {
		return tool.Reloaded{}, tool.AsError(err)
	}
	found := u.cfg.Catalog.Snapshot()
	done := tool.Reloaded{Added: []string{}, Removed: []string{}, Upgraded: []string{}, Failures: []tool.ReloadFailure{}}
	for _, p := range found.Candidates() {
		u.takeOver(p, order{why: offered})
	}
	for name, t := range u.offers() {
		if err := t.wait(ctx); err != nil {
			u.noteFailure(name, err)
		}
	}
	for name, err := range u.endReload(r) {
		done.Failures = append(done.Failures, tool.ReloadFailure{Plugin: name, Reason: err.Error()})
	}
	u.plugins.reconcile()
	d := catalog.Diff(before, u.cfg.Catalog.Snapshot())
	for _, p := range d.Added {
		done.Added = append(done.Added, p.Info.Name)
	}
	for _, p := range d.Removed {
		done.Removed = append(done.Removed, p.Info.Name)
	}
	for _, c := range d.Changed {
		done.Upgraded = append(done.Upgraded, c.New.Info.Name)
	}
	for _, p := range found.Plugins() {
		switch {
		case p.Problem != "":
			done.Failures = append(done.Failures, tool.ReloadFailure{Plugin: p.Info.Name, Reason: p.Problem})
		case p.Refusal != (catalog.Refusal{}):
			done.Failures = append(done.Failures, tool.ReloadFailure{Plugin: p.Info.Name, Reason: p.Refusal.Reason})
		}
	}
	slices.SortFunc(done.Failures, func(a, b tool.ReloadFailure) int { return cmp.Compare(a.Plugin, b.Plugin) })
	return done, nil
}

// offers returns the takeovers of candidates that run, by the names of their plugins. The revision
// of such a takeover is no candidate any more once the first tenant uses it, while the instances of
// the other tenants still start.
func (u *Upgrades) offers() map[string]*takeover {
	u.mu.Lock()
	defer u.mu.Unlock()
	running := map[string]*takeover{}
	for key, t := range u.takeovers {
		if key.why == offered {
			running[t.plugin] = t
		}
	}
	return running
}

// beginReload begins to collect failures. It runs before the scan, because Follow may start a
// takeover that fails before Reload can wait for it.
func (u *Upgrades) beginReload() *reload {
	r := &reload{failed: map[string]error{}}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.reloads[r] = struct{}{}
	return r
}

// endReload ends the collection and returns the failures. It may be called more than once.
func (u *Upgrades) endReload(r *reload) map[string]error {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.reloads, r)
	return r.failed
}

// Remembered returns how many revisions of a plugin can be launched, and for how many plugin files
// a takeover runs or waits. Tests use it to find leaks.
func (u *Upgrades) Remembered(plugin string) (revisions, takeovers int) {
	s := u.plugins.Find(plugin).all()[0]
	s.mu.Lock()
	revisions = len(s.succession.revisions)
	s.mu.Unlock()
	u.turns.mu.Lock()
	defer u.turns.mu.Unlock()
	return revisions, len(u.turns.bySource)
}
