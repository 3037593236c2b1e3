package host

import (
	"context"

	"github.com/toolhost/toolhost/internal/catalog"
	"github.com/toolhost/toolhost/tool"
)

// Plugins returns all plugins, ordered by name, also those that cannot be used, with the reason.
func (h *Host) Plugins(context.Context) ([]tool.PluginInfo, error) {
	plugins := h.cfg.Catalog.Snapshot().Plugins()
	infos := make([]tool.PluginInfo, len(plugins))
	for i, p := range plugins {
		infos[i] = h.pluginInfo(p)
	}
	return infos, nil
}

func (h *Host) pluginInfo(p *catalog.Plugin) tool.PluginInfo {
	info := tool.PluginInfo{
		Name:        p.Info.Name,
		Version:     p.Info.Version,
		Description: p.Info.Description,
		Path:        p.Source,
		Digest:      p.Digest,
		State:       tool.PluginEnabled,
		Tools:       []string{},
		Warnings:    p.Warnings,
	}
	if p.Problem != "" {
		info.State, info.Reason = tool.PluginDisabled, p.Problem
		return info
	}
	for _, t := range p.Tools {
		info.Tools = append(info.Tools, t.Spec.Name)
	}
	h.mu.Lock()
	s := h.supervisors[p.Info.Name]
	h.mu.Unlock()
	if s != nil {
		s.mu.Lock()
		info.Instances, info.Launches, info.LastExit = len(s.instances), s.launches, s.lastExit
		s.mu.Unlock()
	}
	return info
}

// Instances returns the processes of a plugin, or of all if plugin is empty, ordered by plugin and start. Errors:
// not_found.
func (h *Host) Instances(_ context.Context, plugin string) ([]tool.InstanceInfo, error) {
	snapshot := h.cfg.Catalog.Snapshot()
	if plugin != "" && snapshot.Plugin(plugin) == nil {
		return nil, unknownPlugin(snapshot, plugin)
	}
	infos := []tool.InstanceInfo{}
	for _, p := range snapshot.Plugins() {
		if plugin != "" && p.Info.Name != plugin {
			continue
		}
		h.mu.Lock()
		s := h.supervisors[p.Info.Name]
		h.mu.Unlock()
		if s != nil && p.Problem == "" {
			infos = append(infos, s.infos()...)
		}
	}
	return infos, nil
}

// Restart launches a new instance of a plugin and, once it is ready, lets the old one end its calls and stops it. If
// the new one does not start, the old one stays. Errors: not_found, unavailable.
func (h *Host) Restart(ctx context.Context, plugin string) (tool.Restarted, error) {
	snapshot := h.cfg.Catalog.Snapshot()
	p := snapshot.Plugin(plugin)
	if p == nil {
		return tool.Restarted{}, unknownPlugin(snapshot, plugin)
	}
	return h.supervisor(p).restart(ctx, p)
}
