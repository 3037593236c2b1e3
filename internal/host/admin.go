package host

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/toolhost/toolhost/internal/host/lifecycle"
	"github.com/toolhost/toolhost/internal/plugin/catalog"
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

		PinnedDigest: p.Pin,
		Isolation:    string(cmp.Or(h.cfg.Lifecycle(p.Info.Name).Isolation, lifecycle.Shared)),
	}
	if p.Refusal != (catalog.Refusal{}) {
		info.Refusal = &tool.PluginRefusal{Digest: p.Refusal.Digest, Reason: p.Refusal.Reason, Locked: p.Refusal.Locked, Name: p.Refusal.Name}
	}
	if asked := p.Permissions(); !asked.IsZero() {
		info.Permissions = &asked
	}
	info.Ungranted = h.ungranted(p, p.Permissions())
	info.PreviousDigest = h.cfg.Catalog.Previous(p.Info.Name)
	switch {
	case p.Problem != "":
		info.State, info.Reason = tool.PluginUnusable, p.Problem
		return info
	case h.cfg.Disabled(p.Info.Name):
		info.State, info.Reason = tool.PluginDisabled, reasonSwitchedOff
		return info
	}
	for _, t := range p.Tools {
		info.Tools = append(info.Tools, t.Spec.Name)
	}
	for _, f := range p.Filters {
		info.Filters = append(info.Filters, f.Spec.Name)
	}
	h.mu.Lock()
	s := h.supervisors[p.Info.Name]
	h.mu.Unlock()
	if past := h.exits[p.Info.Name]; s == nil && len(past) > 0 {
		info.RecentExits, info.LastExit = slices.Clone(past), &past[0].Exit
	}
	if s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		info.State, info.Reason = s.machine.State(time.Now())
		info.Instances, info.Launches, info.LastExit = len(s.instances), s.machine.Launches(), s.lastExit()
		info.RecentExits, info.RetryTime = slices.Clone(s.exits), s.machine.RetryTime(time.Now())
	}
	return info
}

// LockFile returns which file pins plugins to digests, and whether nothing else runs.
func (h *Host) LockFile(context.Context) (tool.LockFile, error) {
	path, enforced := h.cfg.Catalog.LockFile()
	return tool.LockFile{Path: path, Enforced: enforced}, nil
}

// Instances returns the processes of a plugin, or of all if plugin is empty, ordered by plugin and start. Errors:
// not_found.
func (h *Host) Instances(_ context.Context, plugin string) ([]tool.InstanceInfo, error) {
	infos := []tool.InstanceInfo{}
	for _, s := range h.allSupervisors() { // also of plugins whose files are gone, as long as their calls go on
		if plugin == "" || s.name == plugin {
			infos = append(infos, s.infos()...)
		}
	}
	if snapshot := h.cfg.Catalog.Snapshot(); plugin != "" && len(infos) == 0 && snapshot.Plugin(plugin) == nil {
		return nil, unknownPlugin(snapshot, plugin)
	}
	return infos, nil
}

// allSupervisors returns those that there are, ordered by name.
func (h *Host) allSupervisors() []*supervisor {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.SortedFunc(maps.Values(h.supervisors), func(a, b *supervisor) int { return cmp.Compare(a.name, b.name) })
}

// infos returns what is to be shown of the instances, in the order of their making. The system is asked about them
// without the lock.
func (s *supervisor) infos() []tool.InstanceInfo {
	type one struct {
		in    *instance
		state lifecycle.Instance
	}
	var all []one
	s.mu.Lock()
	for _, state := range s.machine.Instances() {
		if in := s.instances[state.ID]; in != nil {
			all = append(all, one{in, *state})
		}
	}
	s.mu.Unlock()
	infos := make([]tool.InstanceInfo, len(all))
	for i, o := range all {
		infos[i] = o.in.info(&o.state)
	}
	return infos
}

// TailLogs returns what plugins wrote: the lines that are kept, the oldest first, then, if asked, new ones until ctx ends
// or the host closes. Errors: not_found.
func (h *Host) TailLogs(ctx context.Context, q tool.LogQuery) iter.Seq2[tool.LogLine, error] {
	return func(yield func(tool.LogLine, error) bool) {
		if err := h.checkPlugin(q.Plugin); err != nil {
			yield(tool.LogLine{}, err)
			return
		}
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(h.ctx, func() { cancel(errStopping) })()
		for line, err := range h.cfg.Logs.Tail(ctx, q) {
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

// Stats returns the statistics of a plugin's tools, or of all if plugin is empty, since the host was made; only of tools
// that were called, ordered by name. Errors: not_found.
func (h *Host) Stats(_ context.Context, plugin string) ([]tool.Stats, error) {
	if err := h.checkPlugin(plugin); err != nil {
		return nil, err
	}
	return h.stats.list(plugin), nil
}

// checkPlugin returns an error if a plugin is named that is not known. One that cannot be used is known.
func (h *Host) checkPlugin(name string) error {
	snapshot := h.cfg.Catalog.Snapshot()
	if name == "" || slices.ContainsFunc(snapshot.Plugins(), func(p *catalog.Plugin) bool { return p.Info.Name == name }) {
		return nil
	}
	return unknownPlugin(snapshot, name)
}
