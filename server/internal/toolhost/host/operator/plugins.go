package operator

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/text/nearest"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/result"
	"github.com/toolhost/toolhost/tool"
)

// Plugins returns all plugins, ordered by name, with the reason for those that cannot be used.
func (o *Operator) Plugins(context.Context) ([]tool.PluginInfo, error) {
	plugins := o.cfg.Catalog.Snapshot().Plugins()
	infos := make([]tool.PluginInfo, len(plugins))
	for i, p := range plugins {
		infos[i] = o.pluginInfo(p)
	}
	return infos, nil
}

func (o *Operator) pluginInfo(p *catalog.Plugin) tool.PluginInfo {
	settings := o.cfg.Settings()
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
	granted := settings.Sandbox(p.Info.Name)
	info.Ungranted = Ungranted(p, p.Permissions(), granted, settings.Variables(p.Info.Name))
	if granted.WorkspaceBackend != "" && !p.Manifest.Remote() {
		info.Workspace, info.WorkspaceBackend = cmp.Or(granted.Workspace, tool.AccessNone), granted.WorkspaceBackend
	}
	info.PreviousDigest = o.cfg.Catalog.Previous(p.Info.Name)
	switch {
	case p.Problem != "":
		info.State, info.Reason = tool.PluginUnusable, p.Problem
		return info
	case settings.Disabled(p.Info.Name):
		info.State, info.Reason = tool.PluginDisabled, ReasonDisabled
		return info
	}
	for _, t := range p.Tools {
		info.Tools = append(info.Tools, t.Spec.Name)
	}
	for _, f := range p.Filters {
		info.Filters = append(info.Filters, f.Spec.Name)
	}
	info.OwnFilters = ownFiltersOf(p)
	o.cfg.Plugins.Describe(&info)
	return info
}

// LockFile returns the file that pins plugins to digests, and whether the host refuses plugins that
// it does not pin.
func (o *Operator) LockFile(context.Context) (tool.LockFile, error) {
	path, enforced := o.cfg.Catalog.LockFile()
	return tool.LockFile{Path: path, Enforced: enforced}, nil
}

// Instances returns the processes of a plugin, or of all plugins if plugin is empty, ordered by
// plugin and start. Errors: not_found.
func (o *Operator) Instances(_ context.Context, plugin string) ([]tool.InstanceInfo, error) {
	infos := []tool.InstanceInfo{}
	for _, g := range o.cfg.Plugins.Groups() { // a plugin whose file is gone may still have calls
		if plugin == "" || g.Name() == plugin {
			infos = append(infos, g.Instances()...)
		}
	}
	if snapshot := o.cfg.Catalog.Snapshot(); plugin != "" && len(infos) == 0 && snapshot.Plugin(plugin) == nil {
		return nil, unknownPlugin(snapshot, plugin)
	}
	return infos, nil
}

// Revisions returns which executables of a plugin came into service, the newest first. Errors:
// not_found.
func (o *Operator) Revisions(_ context.Context, plugin string) ([]tool.Revision, error) {
	if err := o.checkPlugin(plugin); err != nil {
		return nil, err
	}
	return o.cfg.Catalog.Revisions(plugin)
}

// checkPlugin returns an error if a named plugin is unknown. A plugin that cannot be used is known.
func (o *Operator) checkPlugin(name string) error {
	snapshot := o.cfg.Catalog.Snapshot()
	if name == "" || slices.ContainsFunc(snapshot.Plugins(), func(p *catalog.Plugin) bool { return p.Info.Name == name }) {
		return nil
	}
	return unknownPlugin(snapshot, name)
}

func (o *Operator) inService(plugin string) (*catalog.Plugin, error) {
	snapshot := o.cfg.Catalog.Snapshot()
	p := snapshot.Plugin(plugin)
	if p == nil {
		return nil, unknownPlugin(snapshot, plugin)
	}
	return p, nil
}

// ownFiltersOf returns the filters that a plugin applies to its tools, in the order in which the
// plugin declares them.
func ownFiltersOf(p *catalog.Plugin) []tool.OwnFilter {
	tools := map[string][]string{}
	for _, t := range p.Tools {
		for _, f := range t.Filters {
			tools[f.Name] = append(tools[f.Name], t.Spec.Name)
		}
	}
	var all []tool.OwnFilter
	for _, f := range p.Info.Filters {
		if len(tools[f.Name]) > 0 {
			all = append(all, tool.OwnFilter{Name: f.Name, Tools: tools[f.Name]})
		}
	}
	return all
}

// ReasonDisabled says why a plugin or a tool cannot be used if the operator disabled its plugin.
const ReasonDisabled = "switched off in the configuration: disabled is true"

// Disabled returns the error for the use of a plugin that the operator disabled.
func Disabled(plugin string) error {
	return tool.Errorf(tool.KindUnavailable, "the plugin %q is %s", plugin, ReasonDisabled)
}

// unknownPlugin returns the error for a name that no plugin has, or for a plugin that cannot be
// used.
func unknownPlugin(snapshot *catalog.Snapshot, name string) *tool.Error {
	var names []string
	for _, p := range snapshot.Plugins() {
		if p.Info.Name == name {
			return tool.Errorf(tool.KindUnavailable, "the plugin %q cannot be used: %s", name, p.Problem)
		}
		names = append(names, p.Info.Name)
	}
	hint := "no plugin was found"
	if len(names) > 0 {
		hint = nearest.Question(name, names) + "there are: " + strings.Join(names[:min(len(names), 20)], ", ")
	}
	return tool.Errorf(tool.KindNotFound, "there is no plugin %q; %s", result.Clip(name, 80), hint)
}
