package supervisor

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/toolhost/toolhost/internal/host/lifecycle"
	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/tool"
)

// Follow brings what the catalog finds into service: candidates take over, and plugins whose files
// are gone drain. seen is the snapshot that is in service. Follow returns when the host closes.
func (u *Upgrades) Follow(seen *catalog.Snapshot) {
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
			u.takeOver(p, offered)
		}
		seen = now
	}
}

// noteChanges adds to the event log which plugins arrived, left, or cannot be used. A takeover
// notes itself.
func (u *Upgrades) noteChanges(before, now *catalog.Snapshot) {
	d := catalog.Diff(before, now)
	note := func(p *catalog.Plugin, t lifecycle.EventType, digest, reason string) {
		u.plugins.note(p.Info.Name, lifecycle.Event{Time: time.Now(), Type: t, Revision: digest, Reason: reason})
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

// logWarnings logs each warning of a plugin in now that the plugin did not have in before, such as
// the reason why toolhost omits one of its tools. A nil before is an empty snapshot.
func (u *Upgrades) logWarnings(before, now *catalog.Snapshot) {
	for _, p := range now.Plugins() {
		var logged []string
		if before != nil {
			if old := before.Plugin(p.Info.Name); old != nil {
				logged = old.Warnings
			}
		}
		for _, warning := range p.Warnings {
			if !slices.Contains(logged, warning) {
				u.cfg.Logger.Warn("plugin warning", "plugin", p.Info.Name, "source", p.Source, "warning", warning)
			}
		}
	}
}

// reload is a Reload that runs.
type reload struct {
	failed map[string]error // why plugins were not upgraded, by name; guarded by Upgrades.mu
}

// Reload scans the plugin folders: it takes new plugins into service, removes those whose files are
// gone, and upgrades those that have changed. It returns when all of that is decided. The answer
// names each plugin that cannot be used, whether that is new or not: what runs is not what is in
// the folder.
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
	takeovers := map[string]*takeover{}
	for _, p := range found.Candidates() {
		takeovers[p.Info.Name] = u.takeOver(p, offered)
	}
	for name, t := range takeovers {
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

// Remembered returns how many revisions of a plugin can be launched, and for how many plugin files
// a takeover runs or waits. Tests use it to find leaks.
func (u *Upgrades) Remembered(plugin string) (revisions, takeovers int) {
	s := u.plugins.Find(plugin)
	s.mu.Lock()
	revisions = len(s.revisions)
	s.mu.Unlock()
	u.turns.mu.Lock()
	defer u.turns.mu.Unlock()
	return revisions, len(u.turns.bySource)
}
