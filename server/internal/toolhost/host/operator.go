package host

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/statistics"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/supervisor"
	"github.com/toolhost/toolhost/tool"
)

// operator is the part of a Host for operators: it shows plugins, instances, logs, events and
// statistics, and carries out commands for plugins.
type operator struct {
	cfg         *Config
	generations *generations
	ctx         context.Context // ends when the host closes
	plugins     *supervisor.Plugins
	upgrades    *supervisor.Upgrades
	stats       *statistics.Statistics
}

// Plugins returns all plugins, ordered by name, with the reason for those that cannot be used.
func (o *operator) Plugins(context.Context) ([]tool.PluginInfo, error) {
	plugins := o.cfg.Catalog.Snapshot().Plugins()
	infos := make([]tool.PluginInfo, len(plugins))
	for i, p := range plugins {
		infos[i] = o.pluginInfo(p)
	}
	return infos, nil
}

func (o *operator) pluginInfo(p *catalog.Plugin) tool.PluginInfo {
	settings := o.generations.latest()
	info := tool.PluginInfo{
		Name:        p.Info.Name,
		Version:     p.Info.Version,
		Description: p.Info.Description,
		Path:        p.Source,
		Digest:      p.Digest,
		State:       tool.PluginEnabled,
		Tools:       []string{},
		Warnings:    p.Warnings,
		SDK:         p.Info.SDK,

		PinnedDigest: p.Pin,
		Isolation:    string(cmp.Or(settings.Lifecycle(p.Info.Name).Isolation, lifecycle.Shared)),
	}
	if p.Refusal != (catalog.Refusal{}) {
		info.Refusal = &tool.PluginRefusal{Digest: p.Refusal.Digest, Reason: p.Refusal.Reason, Locked: p.Refusal.Locked, Name: p.Refusal.Name}
	}
	if asked := p.Permissions(); !asked.IsZero() {
		info.Permissions = &asked
	}
	info.Ungranted = o.ungranted(p, p.Permissions())
	if granted := settings.Sandbox(p.Info.Name); granted.WorkspaceBackend != "" && !p.Manifest.Remote() {
		info.Workspace, info.WorkspaceBackend = cmp.Or(granted.Workspace, tool.AccessNone), granted.WorkspaceBackend
	}
	info.PreviousDigest = o.cfg.Catalog.Previous(p.Info.Name)
	switch {
	case p.Problem != "":
		info.State, info.Reason = tool.PluginUnusable, p.Problem
		return info
	case settings.Disabled(p.Info.Name):
		info.State, info.Reason = tool.PluginDisabled, reasonSwitchedOff
		return info
	}
	for _, t := range p.Tools {
		info.Tools = append(info.Tools, t.Spec.Name)
	}
	for _, f := range p.Filters {
		info.Filters = append(info.Filters, f.Spec.Name)
	}
	info.OwnFilters = ownFiltersOf(p)
	o.plugins.Describe(&info)
	return info
}

// LockFile returns the file that pins plugins to digests, and whether the host refuses plugins that
// it does not pin.
func (o *operator) LockFile(context.Context) (tool.LockFile, error) {
	path, enforced := o.cfg.Catalog.LockFile()
	return tool.LockFile{Path: path, Enforced: enforced}, nil
}

// Instances returns the processes of a plugin, or of all plugins if plugin is empty, ordered by
// plugin and start. Errors: not_found.
func (o *operator) Instances(_ context.Context, plugin string) ([]tool.InstanceInfo, error) {
	infos := []tool.InstanceInfo{}
	for _, g := range o.plugins.Groups() { // a plugin whose file is gone may still have calls
		if plugin == "" || g.Name() == plugin {
			infos = append(infos, g.Instances()...)
		}
	}
	if snapshot := o.cfg.Catalog.Snapshot(); plugin != "" && len(infos) == 0 && snapshot.Plugin(plugin) == nil {
		return nil, unknownPlugin(snapshot, plugin)
	}
	return infos, nil
}

// TailLogs returns what plugins wrote: first the lines that the buffer has, the oldest first, then,
// if q.Follow is set, new ones until ctx ends or the host closes. Errors: not_found.
func (o *operator) TailLogs(ctx context.Context, q tool.LogQuery) iter.Seq2[tool.LogLine, error] {
	return func(yield func(tool.LogLine, error) bool) {
		if err := o.checkPlugin(q.Plugin); err != nil {
			yield(tool.LogLine{}, err)
			return
		}
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(o.ctx, func() { cancel(errStopping) })()
		for line, err := range o.cfg.Logs.Tail(ctx, q) {
			switch {
			case errors.Is(err, errStopping):
				return
			case err != nil:
				err = tool.AsError(err)
			}
			if !yield(line, err) {
				return
			}
		}
	}
}

// WatchEvents returns what happened to plugins and instances: first the events in the log, the
// oldest first, then, if q.Follow is set, new ones until ctx ends or the host closes. The log
// numbers events without gaps. If numbers are missing that q does not filter out, the log has
// discarded events. Each host begins again at 1. So a query after a number that this host has not
// reached begins at the oldest event.
func (o *operator) WatchEvents(ctx context.Context, q tool.EventQuery) iter.Seq2[tool.PluginEvent, error] {
	return func(yield func(tool.PluginEvent, error) bool) {
		for after := q.After; ; {
			events, changed := o.plugins.Events().After(after)
			for _, e := range events {
				after = e.Seq
				if (q.Plugin != "" && e.Plugin != q.Plugin) || e.Time.Before(q.Since) {
					continue
				}
				if visibleEvent(&e, q.Tenants) && !yield(e, nil) {
					return
				}
			}
			if !q.Follow {
				return
			}
			select {
			case <-changed:
			case <-o.ctx.Done():
				return
			case <-ctx.Done():
				yield(tool.PluginEvent{}, tool.AsError(context.Cause(ctx)))
				return
			}
		}
	}
}

// Stats returns the statistics of tools, ordered by name. It leaves out tools that were not called.
// Errors: not_found; unavailable if the history cannot be read.
func (o *operator) Stats(ctx context.Context, q tool.StatsQuery) ([]tool.Stats, error) {
	unknown := o.checkPlugin(q.Plugin)
	if q.Since.IsZero() || o.cfg.History == nil {
		if unknown != nil {
			return nil, unknown
		}
		return o.stats.List(q.Plugin, q.Tenants), nil
	}
	all, err := o.stats.Since(ctx, q)
	if err == nil && len(all) == 0 && unknown != nil { // the history may have plugins that are gone
		return nil, unknown
	}
	return all, err
}

// checkPlugin returns an error if a named plugin is unknown. A plugin that cannot be used is known.
func (o *operator) checkPlugin(name string) error {
	snapshot := o.cfg.Catalog.Snapshot()
	if name == "" || slices.ContainsFunc(snapshot.Plugins(), func(p *catalog.Plugin) bool { return p.Info.Name == name }) {
		return nil
	}
	return unknownPlugin(snapshot, name)
}

// Restart replaces a plugin's instances: see supervisor.Group.Restart. Errors: not_found,
// unavailable.
func (o *operator) Restart(ctx context.Context, plugin, reason string, force bool) (tool.Restarted, error) {
	g, err := o.groupOf(plugin)
	if err != nil {
		return tool.Restarted{}, err
	}
	return g.Restart(ctx, byWhom(ctx, reason), force)
}

// Drain lets all instances of a plugin finish their calls, stops them, and returns when they are
// gone. New calls start new instances, unless the plugin is paused. Errors: not_found.
func (o *operator) Drain(ctx context.Context, plugin, reason string) error {
	g, err := o.groupOf(plugin)
	if err != nil {
		return err
	}
	return g.Drain(ctx, byWhom(ctx, reason))
}

// Pause makes a plugin take no new calls until Resume: calls that wait are rejected, calls that run
// finish. Errors: not_found.
func (o *operator) Pause(ctx context.Context, plugin, reason string) error {
	return o.operate(plugin, byWhom(ctx, reason), (*supervisor.Group).Pause)
}

// Resume ends a pause. Errors: not_found.
func (o *operator) Resume(ctx context.Context, plugin string) error {
	return o.operate(plugin, byWhom(ctx, ""), (*supervisor.Group).Resume)
}

// ClearQuarantine ends a quarantine or a backoff: the next call launches an instance. Errors:
// not_found.
func (o *operator) ClearQuarantine(ctx context.Context, plugin string) error {
	return o.operate(plugin, byWhom(ctx, ""), (*supervisor.Group).ClearQuarantine)
}

func (o *operator) operate(plugin string, by supervisor.By, command func(*supervisor.Group, supervisor.By)) error {
	g, err := o.groupOf(plugin)
	if err != nil {
		return err
	}
	command(g, by)
	return nil
}

// groupOf returns the supervisors of a plugin that an operator names.
func (o *operator) groupOf(plugin string) (*supervisor.Group, error) {
	p, err := o.inService(plugin)
	if err != nil {
		return nil, err
	}
	if err := o.generations.latest().switchedOff(plugin); err != nil {
		return nil, err
	}
	return o.plugins.GroupOf(p), nil
}

func (o *operator) inService(plugin string) (*catalog.Plugin, error) {
	snapshot := o.cfg.Catalog.Snapshot()
	p := snapshot.Plugin(plugin)
	if p == nil {
		return nil, unknownPlugin(snapshot, plugin)
	}
	return p, nil
}

// Configuration is the configuration file of a host, as operators use it. The methods must be safe
// for concurrent use.
type Configuration interface {
	// Reload applies the changes of the file. A file that toolhost would refuse at its start changes
	// nothing; the result then has a Problem. The result is nil if the file is unchanged. The second
	// result has the plugins that do not start with the changed configuration.
	Reload(ctx context.Context) (*tool.ConfigurationChange, []tool.ReloadFailure)
	// Diff returns what Reload would change, or nil.
	Diff() *tool.ConfigurationChange
}

// Reload applies the changes of the configuration file, and then scans the plugin folders. It takes
// new plugins into service, removes those whose files are gone, and upgrades those that have
// changed. It returns when all these changes have succeeded or failed. Every answer names each
// plugin that cannot be used.
func (o *operator) Reload(ctx context.Context) (tool.Reloaded, error) {
	var change *tool.ConfigurationChange
	var failures []tool.ReloadFailure
	if o.cfg.Configuration != nil {
		change, failures = o.cfg.Configuration.Reload(ctx)
	}
	done, err := o.upgrades.Reload(ctx)
	if err != nil {
		return done, err
	}
	done.Configuration, done.Failures = change, append(done.Failures, failures...)
	return done, nil
}

// ReloadPlugins is Reload without the configuration file.
func (o *operator) ReloadPlugins(ctx context.Context) (tool.Reloaded, error) {
	return o.upgrades.Reload(ctx)
}

// DiffConfiguration returns what Reload would change in the configuration.
func (o *operator) DiffConfiguration(context.Context) (tool.ConfigurationChange, error) {
	if o.cfg.Configuration == nil {
		return tool.ConfigurationChange{}, nil
	}
	if change := o.cfg.Configuration.Diff(); change != nil {
		return *change, nil
	}
	return tool.ConfigurationChange{}, nil
}

// Upgrade brings the executable that is now in the folder of a plugin into service, also after a
// rollback. No call fails: the new instance takes calls once it is ready. Errors: not_found;
// unavailable if the new executable does not start, and then the old one stays. The history of the
// plugin keeps the reason and the principal of ctx.
func (o *operator) Upgrade(ctx context.Context, plugin, reason string) (tool.Upgraded, error) {
	current, err := o.inService(plugin)
	if err != nil {
		return tool.Upgraded{}, err
	}
	return o.upgrades.Upgrade(ctx, current, principalOf(ctx), reason)
}

// Rollback brings an earlier executable of a plugin back into service; revision 0: the previous
// one. Errors: as of Upgrade; not_found also if there is no such revision.
func (o *operator) Rollback(ctx context.Context, plugin string, revision uint64, reason string) (tool.Upgraded, error) {
	current, err := o.inService(plugin)
	if err != nil {
		return tool.Upgraded{}, err
	}
	return o.upgrades.Rollback(ctx, current, revision, principalOf(ctx), reason)
}

// byWhom returns who gives a command, and why. The events of the plugin show it.
func byWhom(ctx context.Context, reason string) supervisor.By {
	return supervisor.By{Principal: principalOf(ctx), Reason: reason}
}

// principalOf returns the key of the principal of an operator's request; empty: there is none.
func principalOf(ctx context.Context) string {
	p, ok := identity.FromContext(ctx)
	if !ok {
		return ""
	}
	return p.Key()
}

// Revisions returns which executables of a plugin came into service, the newest first. Errors:
// not_found.
func (o *operator) Revisions(_ context.Context, plugin string) ([]tool.Revision, error) {
	if err := o.checkPlugin(plugin); err != nil {
		return nil, err
	}
	return o.cfg.Catalog.Revisions(plugin)
}
