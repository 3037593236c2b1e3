package host

import (
	"context"
	"time"

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
		defer s.mu.Unlock()
		info.State, info.Reason = s.machine.State(time.Now())
		info.Instances, info.Launches, info.LastExit = len(s.instances), s.machine.Launches(), s.lastExit
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

// infos returns what is to be shown of the instances, in the order of their making.
func (s *supervisor) infos() []tool.InstanceInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	var infos []tool.InstanceInfo
	for _, state := range s.machine.Instances() {
		if in := s.instances[state.ID]; in != nil {
			infos = append(infos, in.info(state))
		}
	}
	return infos
}
