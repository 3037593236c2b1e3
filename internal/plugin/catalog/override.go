package catalog

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/trust"
	"github.com/toolhost/toolhost/tool"
)

// Override is what an operator sets for a tool. Nil and empty fields leave the tool as its plugin
// declares it.
type Override struct {
	Plugin             string // the plugin that provides the tool: those of other plugins are left out
	Disabled           *bool  // the tool cannot be called and is not listed
	Rename             string // the name that callers use
	Description        string
	Category           string
	Tags               []string // nil: as declared
	Dangerous          *bool
	Strict             *bool
	Timeout            *time.Duration // 0: no timeout of the tool
	RateLimitPerMinute *uint32        // 0: none
	MaxConcurrent      *int           // bound of simultaneous calls; 0: none
	CostPerUse         *float64
	Effects            []string // context keys that the tool may change although a rule reads them; nil: none
}

// Overrides are an operator's settings by TOOL or by PLUGIN.TOOL, of which the second takes
// precedence, field by field. The names are those that plugins declare. They must not change while
// a catalog has them.
type Overrides map[string]Override

// of returns the override for the tool of a plugin.
func (v Overrides) of(plugin, name string) Override {
	o, own := v[name], v[plugin+"."+name]
	return Override{
		Plugin:             o.Plugin,
		Disabled:           cmp.Or(own.Disabled, o.Disabled),
		Rename:             cmp.Or(own.Rename, o.Rename),
		Description:        cmp.Or(own.Description, o.Description),
		Category:           cmp.Or(own.Category, o.Category),
		Tags:               either(own.Tags, o.Tags),
		Dangerous:          cmp.Or(own.Dangerous, o.Dangerous),
		Strict:             cmp.Or(own.Strict, o.Strict),
		Timeout:            cmp.Or(own.Timeout, o.Timeout),
		RateLimitPerMinute: cmp.Or(own.RateLimitPerMinute, o.RateLimitPerMinute),
		MaxConcurrent:      cmp.Or(own.MaxConcurrent, o.MaxConcurrent),
		CostPerUse:         cmp.Or(own.CostPerUse, o.CostPerUse),
		Effects:            either(own.Effects, o.Effects),
	}
}

func either(a, b []string) []string {
	if a != nil {
		return a
	}
	return b
}

// given returns names of plugins by the folded names of tools that the operator gave to them, by
// naming the plugin or by renaming its tool.
func (v Overrides) given() map[string]string {
	given := map[string]string{}
	for key, o := range v {
		plugin, name, qualified := strings.Cut(key, ".")
		if !qualified {
			plugin, name = o.Plugin, key
		}
		if o.Plugin != "" {
			given[trust.Fold(name)] = o.Plugin
		}
		if o.Rename != "" && plugin != "" {
			given[trust.Fold(o.Rename)] = plugin
		}
	}
	return given
}

// apply returns a spec with the override's values, except for the name.
func (o Override) apply(spec tool.Spec) tool.Spec {
	spec.Description = cmp.Or(o.Description, spec.Description)
	spec.Category = cmp.Or(o.Category, spec.Category)
	spec.Tags = either(o.Tags, spec.Tags)
	set(&spec.Dangerous, o.Dangerous)
	set(&spec.Strict, o.Strict)
	set(&spec.Timeout, o.Timeout)
	set(&spec.RateLimitPerMinute, o.RateLimitPerMinute)
	set(&spec.CostPerUse, o.CostPerUse)
	return spec
}

func set[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}

// overridden is the result of overrides besides the tools.
type overridden struct {
	off     map[string]bool   // the names of disabled tools, also those that they would have been renamed to
	renamed map[string]string // from declared names to the names that callers use
}

// apply applies the overrides to the tools of plugins, which the caller owns. It renames no tool to
// a name that a tool or filter has already, here or by taken.
func (v Overrides) apply(plugins []*Plugin, taken func(name string) bool) overridden {
	done := overridden{off: map[string]bool{}, renamed: map[string]string{}}
	if len(v) == 0 {
		return done
	}
	var wanted []*renaming
	for _, p := range plugins {
		if !p.usable() {
			continue
		}
		v.warnOfStrays(p)
		var tools []*Tool
		for _, t := range p.Tools {
			o := v.of(p.Info.Name, t.Spec.Name)
			switch {
			case o.Plugin != "" && o.Plugin != p.Info.Name:
				p.warnf("the tool %q is left out: the configuration says that it is the plugin %q's", t.Spec.Name, o.Plugin)
				continue
			case o.Disabled != nil && *o.Disabled:
				done.off[t.Spec.Name], done.off[cmp.Or(o.Rename, t.Spec.Name)] = true, true
				continue
			}
			own := *t
			own.override, own.Spec = o, o.apply(t.Spec)
			set(&own.MaxConcurrent, o.MaxConcurrent)
			own.Effects = o.Effects
			tools = append(tools, &own)
			if o.Rename != "" && o.Rename != t.Spec.Name {
				wanted = append(wanted, &renaming{tool: &own, plugin: p})
			}
		}
		p.Tools = tools
	}
	for _, r := range possible(wanted, plugins, taken) {
		done.renamed[r.tool.Spec.Name] = r.tool.override.Rename
		r.tool.Spec.Name = r.tool.override.Rename
	}
	for _, p := range plugins {
		slices.SortFunc(p.Tools, byToolName)
	}
	return done
}

// warnOfStrays adds warnings to the plugin for overrides of tools that it does not declare.
func (v Overrides) warnOfStrays(p *Plugin) {
	for _, key := range slices.Sorted(maps.Keys(v)) {
		if name, own := strings.CutPrefix(key, p.Info.Name+"."); own && !p.declares(name) {
			p.warnf("the configuration speaks of its tool %q, which it does not have", name)
		}
	}
}

// declares reports whether the plugin declares a tool, usable or not.
func (p *Plugin) declares(name string) bool {
	return slices.ContainsFunc(p.Info.Tools, func(spec tool.Spec) bool { return spec.Name == name })
}

// renaming is a tool that an override renames.
type renaming struct {
	tool   *Tool
	plugin *Plugin
}

// possible returns the renamings that give no two different tools the same name, and warns of the
// others. A tool that is not renamed after all keeps a name that another may have been given, so
// that this takes several rounds.
func possible(wanted []*renaming, plugins []*Plugin, taken func(name string) bool) []*renaming {
	for {
		claims := claimsOf(wanted, plugins)
		left := slices.DeleteFunc(slices.Clone(wanted), func(r *renaming) bool {
			to := r.tool.override.Rename
			if len(claims[to]) == 1 && !taken(to) {
				return false
			}
			r.plugin.warnf("the tool %q keeps its name: the configuration renames it to %q, which is taken", r.tool.Spec.Name, to)
			return true
		})
		if len(left) == len(wanted) {
			return left
		}
		wanted = left
	}
}

// claimsOf returns, for each name, the declared names of the tools that would have it. Tools of
// several plugins under one name count once: which plugin has the name is decided elsewhere.
func claimsOf(wanted []*renaming, plugins []*Plugin) map[string]map[string]bool {
	claims := map[string]map[string]bool{}
	claim := func(name, who string) {
		if claims[name] == nil {
			claims[name] = map[string]bool{}
		}
		claims[name][who] = true
	}
	renamed := map[*Tool]bool{}
	for _, r := range wanted {
		renamed[r.tool] = true
		claim(r.tool.override.Rename, r.tool.Spec.Name)
	}
	for _, p := range plugins {
		for _, t := range p.Tools {
			if !renamed[t] {
				claim(t.Spec.Name, t.Spec.Name)
			}
		}
		for _, f := range p.Filters {
			claim(f.Spec.Name, "filter "+f.Spec.Name)
		}
	}
	return claims
}

// SwitchedOff reports whether the operator disabled a tool that would have the name, and no other
// tool has it.
func (s *Snapshot) SwitchedOff(name string) bool {
	o := s.ordered()
	return o.overridden.off[name] && o.byTool[name] == nil
}

// Renamed returns the name that callers use for a declared name; empty if no tool of that name was
// renamed, or if another tool has the name now.
func (s *Snapshot) Renamed(name string) string {
	o := s.ordered()
	if o.byTool[name] != nil {
		return ""
	}
	return o.overridden.renamed[name]
}

// Strays returns, in order, the keys of overrides for tools that no plugin in use declares.
func (s *Snapshot) Strays() []string {
	o := s.ordered()
	var strays []string
	for key, override := range s.overrides {
		plugin, name, qualified := strings.Cut(key, ".")
		if !qualified {
			plugin, name = override.Plugin, key
		}
		if !slices.ContainsFunc(o.plugins, func(p *Plugin) bool {
			return p.usable() && (plugin == "" || plugin == p.Info.Name) && p.declares(name)
		}) {
			strays = append(strays, key)
		}
	}
	slices.Sort(strays)
	return strays
}
