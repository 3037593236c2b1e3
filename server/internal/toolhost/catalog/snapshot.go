package catalog

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/toolhost/toolhost/server/internal/toolhost/manifest"
	"github.com/toolhost/toolhost/server/internal/trust"
	"github.com/toolhost/toolhost/tool"
)

// Snapshot is the catalog's knowledge at one moment. It does not change. Its lists are made at
// their first use, because many snapshots are never used while many new plugins answer.
type Snapshot struct {
	once  sync.Once
	base  *Snapshot     // decides which plugin has a contested name; nil once in order
	slots []slot        // in the order of the scan; nil once in order
	pins  manifest.Lock // nil once in order

	overrides  Overrides
	generation uint64         // see Catalog.Configure
	records    *trust.Plugins // the bounds of what plugins declare; nil: none
	order      order
}

// order is the ordered content of a snapshot.
type order struct {
	plugins    []*Plugin // ordered by name, without conflicts
	candidates []*Plugin // ordered by name
	tools      []*Tool   // ordered by name
	byTool     map[string]*Tool
	byFilter   map[string]*Filter
	byName     map[string]*Plugin
	byFold     map[string]*Plugin // by the folded names of tools and filters
	dynamic    []*Tool            // of tools, those that are dynamic
	secretive  []*Tool            // see Secretive
	overridden overridden
	records    *trust.Plugins    // the owners of names; nil: the first plugin that has a name owns it
	given      map[string]string // names of plugins, by the folded names of tools that the operator gave to them
}

// newSnapshot returns a snapshot of the slots. If two plugins claim a name, the plugin that has the
// name in base gets it, or else the first in the order of the scan. The order in which plugins
// answer is random and has no influence.
func newSnapshot(base *Snapshot, slots []*slot, pins manifest.Lock, overrides Overrides, records *trust.Plugins, generation uint64) *Snapshot {
	s := &Snapshot{base: base, slots: make([]slot, len(slots)), pins: pins, overrides: overrides, generation: generation, records: records}
	for i, slot := range slots {
		s.slots[i] = *slot
	}
	return s
}

// shown returns the plugins of all slots, in the order of the scan, and the candidates. What they
// declare is bounded by the records.
func (s *Snapshot) shown() (found, offers []*Plugin) {
	found = make([]*Plugin, len(s.slots))
	for i := range s.slots {
		slot := &s.slots[i]
		found[i] = slot.show(s.pins)
		candidate := slot.candidate()
		if s.records != nil {
			restrain(found[i], digestOf(slot.file), s.records.At(slot.real))
			if candidate != nil {
				bounded := *candidate
				bounded.real = slot.real
				bounded.Warnings = slices.Clone(candidate.Warnings)
				candidate = &bounded
				restrain(candidate, digestOf(slot.file), s.records.At(slot.real))
			}
		}
		if candidate != nil {
			offers = append(offers, candidate)
		}
	}
	return found, offers
}

// Snapshot returns the current knowledge. It never blocks.
func (c *Catalog) Snapshot() *Snapshot { return c.current.Load() }

// Generation returns the number of the configuration whose Overrides the snapshot has: that of the
// last Catalog.Configure, or 0.
func (s *Snapshot) Generation() uint64 { return s.generation }

// ordered puts the snapshot in order, once.
func (s *Snapshot) ordered() *order {
	s.once.Do(func() {
		o := &s.order
		o.records, o.given = s.records, s.overrides.given()
		o.byTool, o.byFilter = map[string]*Tool{}, map[string]*Filter{}
		o.byName, o.byFold = map[string]*Plugin{}, map[string]*Plugin{}
		base := &order{}
		if s.base != nil {
			base = s.base.ordered()
		}
		found, offers := s.shown()
		o.admitPlugins(base, found)
		o.overridden = s.overrides.apply(o.plugins, func(string) bool { return false })
		o.admitTools(base)
		for _, p := range offers {
			o.candidates = append(o.candidates, o.preview(p, s.overrides))
		}
		byName := func(a, b *Plugin) int { return cmp.Compare(a.Info.Name, b.Info.Name) }
		slices.SortStableFunc(o.plugins, byName)
		slices.SortStableFunc(o.candidates, byName)
		slices.SortFunc(o.tools, byToolName)
		o.noteVarying()
		s.base, s.slots, s.pins = nil, nil, nil // otherwise each snapshot would keep all earlier ones
	})
	return &s.order
}

// admitPlugins decides which plugin has which plugin name. It adds copies without tools to the
// snapshot.
func (o *order) admitPlugins(base *order, shown []*Plugin) {
	owners := map[string]*Plugin{}
	for _, p := range shown {
		if !p.usable() {
			continue
		}
		name := trust.Fold(p.Info.Name)
		if owners[name] == nil || base.byName[p.Info.Name] != nil && base.byName[p.Info.Name].Source == p.Source {
			owners[name] = p
		}
	}
	for _, p := range shown {
		copied := *p
		if owner := owners[trust.Fold(p.Info.Name)]; p.usable() && owner != p {
			copied.Problem = fmt.Sprintf("the plugin name %q is taken by %s, so that %s is left out", owner.Info.Name, owner.Source, p.Source)
			copied.Tools, copied.Filters = nil, nil
		}
		copied.Warnings = slices.Clone(p.Warnings)
		if copied.Problem == "" {
			o.byName[copied.Info.Name] = &copied
		}
		o.plugins = append(o.plugins, &copied)
	}
}

// admitTools decides which plugin has which name of a tool or filter.
func (o *order) admitTools(base *order) {
	owners := map[string]*Plugin{}
	for _, p := range o.plugins {
		for _, name := range p.names() {
			if o.reserved(p, name) != "" {
				continue
			}
			key := trust.Fold(name)
			if had := base.owner(name); owners[key] == nil || had != nil && had.Source == p.Source {
				owners[key] = p
			}
		}
	}
	for _, p := range o.plugins {
		o.dropReserved(p)
		p.Tools, p.Filters = p.admitted(owners), p.admittedFilters(owners)
		for _, t := range p.Tools {
			o.byTool[t.Spec.Name], o.byFold[trust.Fold(t.Spec.Name)] = t, p
			o.tools = append(o.tools, t)
		}
		for _, f := range p.Filters {
			o.byFilter[f.Spec.Name], o.byFold[trust.Fold(f.Spec.Name)] = f, p
		}
	}
}

// names returns the distinct names of the plugin's tools and filters.
func (p *Plugin) names() []string {
	names := make([]string, 0, len(p.Tools)+len(p.Filters))
	for _, t := range p.Tools {
		names = append(names, t.Spec.Name)
	}
	for _, f := range p.Filters {
		names = append(names, f.Spec.Name)
	}
	return names
}

// owner returns the plugin whose tool or filter has the name, or nil.
func (o *order) owner(name string) *Plugin {
	return o.byFold[trust.Fold(name)]
}

// admitted returns copies of the plugin's tools whose names it owns, and warns of the others.
func (p *Plugin) admitted(owners map[string]*Plugin) []*Tool {
	var tools []*Tool
	for _, t := range p.Tools {
		if owner := owners[trust.Fold(t.Spec.Name)]; owner != nil && owner != p {
			kind := "one"
			if slices.ContainsFunc(owner.Filters, func(f *Filter) bool { return f.Spec.Name == t.Spec.Name }) {
				kind = "a filter"
			}
			p.warnf("the tool %q is left out: the plugin %q ships %s of that name", t.Spec.Name, owner.Info.Name, kind)
			continue
		}
		copied := *t
		copied.Plugin = p
		tools = append(tools, &copied)
	}
	return tools
}

// preview returns a candidate as it would be beside the other plugins.
func (o *order) preview(candidate *Plugin, overrides Overrides) *Plugin {
	p := *candidate
	p.Warnings = slices.Clone(candidate.Warnings)
	other := func(name string) *Plugin {
		if owner := o.owner(name); owner != nil && owner.Source != p.Source {
			return owner
		}
		return nil
	}
	overrides.apply([]*Plugin{&p}, func(name string) bool { return other(name) != nil })
	taken := map[string]*Plugin{}
	for _, name := range p.names() {
		if owner := other(name); owner != nil {
			taken[trust.Fold(name)] = owner
		}
	}
	o.dropReserved(&p)
	p.Tools, p.Filters = p.admitted(taken), p.admittedFilters(taken)
	return &p
}

// Plugins returns all plugins, ordered by name, also those with a Problem. Callers must not change
// the shared slice.
func (s *Snapshot) Plugins() []*Plugin { return s.ordered().plugins }

// Candidates returns, ordered by name, the plugins that could replace those of the same names: the
// content of the source now has another digest, and can be used. Catalog.Activate and
// Catalog.Reject decide about them. Callers must not change the shared slice.
func (s *Snapshot) Candidates() []*Plugin { return s.ordered().candidates }

// Plugin returns the usable plugin of a name, or nil.
func (s *Snapshot) Plugin(name string) *Plugin { return s.ordered().byName[name] }

// Tool returns the tool of a name, or nil.
func (s *Snapshot) Tool(name string) *Tool { return s.ordered().byTool[name] }

// Tools returns the matching tools, ordered by name.
func (s *Snapshot) Tools(q tool.Query) []*Tool {
	var out []*Tool
	for t := range s.ToolsAfter("", q) {
		if out = append(out, t); len(out) == q.MaxTools {
			break
		}
	}
	return out
}

// noteVarying notes the tools that can look different at two times, or to two callers.
func (o *order) noteVarying() {
	noted := map[string]bool{}
	for _, t := range o.tools {
		if t.Spec.Dynamic {
			o.dynamic = append(o.dynamic, t)
		}
		if len(t.Spec.RequiresAuth) == 0 {
			continue
		}
		if key := t.Plugin.Info.Name + "\x00" + strings.Join(t.Spec.RequiresAuth, "\x00"); !noted[key] {
			noted[key] = true
			o.secretive = append(o.secretive, t)
		}
	}
}

// Dynamic returns the dynamic tools, ordered by name. Callers must not change the shared slice.
func (s *Snapshot) Dynamic() []*Tool { return s.ordered().dynamic }

// Secretive returns one tool for each plugin and each set of secrets that its tools require.
// Whether a tool can be called depends on these secrets. Callers must not change the shared slice.
func (s *Snapshot) Secretive() []*Tool { return s.ordered().secretive }

// Matches reports whether a query selects the tool.
func (t *Tool) Matches(q tool.Query) bool { return matches(t, q) }

// ToolsAfter yields the matching tools whose names follow after, ordered by name. An empty after
// yields all.
func (s *Snapshot) ToolsAfter(after string, q tool.Query) iter.Seq[*Tool] {
	return func(yield func(*Tool) bool) {
		tools := s.ordered().tools
		at, _ := slices.BinarySearchFunc(tools, after, func(t *Tool, name string) int { return cmp.Compare(t.Spec.Name, name) })
		for _, t := range tools[at:] {
			if t.Spec.Name != after && matches(t, q) && !yield(t) {
				return
			}
		}
	}
}

func matches(t *Tool, q tool.Query) bool {
	spec := &t.Spec
	return !slices.Contains(q.Excluded, spec.Name) &&
		(len(q.Plugins) == 0 || slices.Contains(q.Plugins, t.Plugin.Info.Name)) &&
		(len(q.Names) == 0 || slices.Contains(q.Names, spec.Name)) &&
		(len(q.Categories) == 0 || slices.Contains(q.Categories, spec.Category)) &&
		(len(q.Tags) == 0 || slices.ContainsFunc(q.Tags, func(tag string) bool { return slices.Contains(spec.Tags, tag) })) &&
		(q.Dangerous == nil || *q.Dangerous == spec.Dangerous) &&
		(q.MaxCostPerUse == nil || spec.CostPerUse <= *q.MaxCostPerUse)
}
