package catalog

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/toolhost/toolhost/tool"
)

// Snapshot is what is known at one moment. It does not change.
type Snapshot struct {
	plugins    []*Plugin // ordered by name; conflicts resolved
	candidates []*Plugin // ordered by name
	tools      []*Tool   // ordered by name
	byTool     map[string]*Tool
	byName     map[string]*Plugin
}

// newSnapshot shows what the slots hold. Where two want a name it is theirs who have it in base, else that of the first:
// which plugins answer first is chance and the order of the scan is not.
func newSnapshot(base *Snapshot, slots []*slot) *Snapshot {
	s := &Snapshot{byTool: map[string]*Tool{}, byName: map[string]*Plugin{}}
	shown := make([]*Plugin, len(slots))
	for i, slot := range slots {
		shown[i] = slot.show()
	}
	s.admitPlugins(base, shown)
	s.admitTools(base)
	for _, slot := range slots {
		if candidate := slot.candidate(); candidate != nil {
			s.candidates = append(s.candidates, s.preview(candidate))
		}
	}
	byName := func(a, b *Plugin) int { return cmp.Compare(a.Info.Name, b.Info.Name) }
	slices.SortStableFunc(s.plugins, byName)
	slices.SortStableFunc(s.candidates, byName)
	slices.SortFunc(s.tools, byToolName)
	return s
}

// admitPlugins decides who has which plugin name. What it puts into the snapshot are copies without tools.
func (s *Snapshot) admitPlugins(base *Snapshot, shown []*Plugin) {
	owners := map[string]*Plugin{}
	for _, p := range shown {
		if !p.usable() {
			continue
		}
		name := p.Info.Name
		if owners[name] == nil || base != nil && base.byName[name] != nil && base.byName[name].Source == p.Source {
			owners[name] = p
		}
	}
	for _, p := range shown {
		own := *p
		if owner := owners[p.Info.Name]; p.usable() && owner != p {
			own.Problem = fmt.Sprintf("the plugin name %q is taken by %s", p.Info.Name, owner.Source)
			own.Tools = nil
		}
		own.Warnings = slices.Clone(p.Warnings)
		if own.Problem == "" {
			s.byName[own.Info.Name] = &own
		}
		s.plugins = append(s.plugins, &own)
	}
}

// admitTools decides who has which tool name.
func (s *Snapshot) admitTools(base *Snapshot) {
	owners := map[string]*Plugin{}
	for _, p := range s.plugins {
		for _, t := range p.Tools {
			name := t.Spec.Name
			if owners[name] == nil || base != nil && base.byTool[name] != nil && base.byTool[name].Plugin.Source == p.Source {
				owners[name] = p
			}
		}
	}
	for _, p := range s.plugins {
		p.Tools = p.admitted(owners)
		for _, t := range p.Tools {
			s.byTool[t.Spec.Name] = t
			s.tools = append(s.tools, t)
		}
	}
}

// admitted returns copies of the plugin's tools that are its own, and warns of the others.
func (p *Plugin) admitted(owners map[string]*Plugin) []*Tool {
	var tools []*Tool
	for _, t := range p.Tools {
		if owner := owners[t.Spec.Name]; owner != nil && owner != p {
			p.warnf("the tool %q is left out: the plugin %q ships one of that name", t.Spec.Name, owner.Info.Name)
			continue
		}
		own := *t
		own.Plugin = p
		tools = append(tools, &own)
	}
	return tools
}

// preview returns a candidate as it would stand beside the others.
func (s *Snapshot) preview(candidate *Plugin) *Plugin {
	p := *candidate
	p.Warnings = slices.Clone(candidate.Warnings)
	taken := map[string]*Plugin{}
	for _, t := range p.Tools {
		if has := s.byTool[t.Spec.Name]; has != nil && has.Plugin.Source != p.Source {
			taken[t.Spec.Name] = has.Plugin
		}
	}
	p.Tools = p.admitted(taken)
	return &p
}

// Plugins returns all plugins, ordered by name, also those with a Problem. The slice is shared: do not change it.
func (s *Snapshot) Plugins() []*Plugin { return s.plugins }

// Candidates returns, ordered by name, the plugins that could take the place of those of the same names: what is in
// the place of each is of another digest by now, and can be used. Catalog.Activate and Catalog.Reject decide about
// them. The slice is shared: do not change it.
func (s *Snapshot) Candidates() []*Plugin { return s.candidates }

// Plugin returns the usable plugin of a name, or nil.
func (s *Snapshot) Plugin(name string) *Plugin { return s.byName[name] }

// Tool returns the tool of a name, or nil.
func (s *Snapshot) Tool(name string) *Tool { return s.byTool[name] }

// Tools returns the tools that match, ordered by name.
func (s *Snapshot) Tools(q tool.Query) []*Tool {
	var out []*Tool
	for _, t := range s.tools {
		if matches(&t.Spec, q) {
			out = append(out, t)
			if q.MaxTools > 0 && len(out) == q.MaxTools {
				break
			}
		}
	}
	return out
}

func matches(spec *tool.Spec, q tool.Query) bool {
	return (len(q.Names) == 0 || slices.Contains(q.Names, spec.Name)) &&
		(len(q.Categories) == 0 || slices.Contains(q.Categories, spec.Category)) &&
		(len(q.Tags) == 0 || slices.ContainsFunc(q.Tags, func(tag string) bool { return slices.Contains(spec.Tags, tag) })) &&
		(q.Dangerous == nil || *q.Dangerous == spec.Dangerous) &&
		(q.MaxCostPerUse == nil || spec.CostPerUse <= *q.MaxCostPerUse)
}
