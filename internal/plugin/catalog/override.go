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

// Override is what an operator says about a tool. What is nil or empty leaves the tool as its plugin declares it.
type Override struct {
	Plugin             string // which plugin the tool is of: those of others are left out
	Disabled           *bool  // the tool cannot be called, and is not listed
	Rename             string // the name by which callers know it
	Description        string
	Category           string
	Tags               []string // nil: as declared
	Dangerous          *bool
	Strict             *bool
	Timeout            *time.Duration // 0: none of its own
	RateLimitPerMinute *uint32        // 0: none
	MaxConcurrent      *int           // calls at the same time; 0: any number
	CostPerUse         *float64
	Effects            []string // keys of the context that the tool may change although a rule reads them; nil: none
}

// Overrides are what an operator says about tools, by TOOL or by PLUGIN.TOOL, which counts more, value by value. The names
// are those that plugins declare. Nobody may change them while a catalogue has them.
type Overrides map[string]Override

// of returns what is said about the tool of a plugin.
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

// given returns the names of plugins, by the folded names of tools that the operator gave to them: by naming the plugin, or by
// renaming a plugin's tool.
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

// apply returns a spec as the operator wants it, but for its name.
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

// overridden is what came of overrides besides tools.
type overridden struct {
	off     map[string]bool   // names of tools that are switched off, those that they would have had, too
	renamed map[string]string // from names that plugins declare to those that callers use
}

// apply puts what the operator says over the tools of plugins, which are the caller's own. No tool is renamed to a name that
// a tool or filter has, here or as taken says.
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

// warnOfStrays says on the plugin what is said about tools that it does not declare.
func (v Overrides) warnOfStrays(p *Plugin) {
	for _, key := range slices.Sorted(maps.Keys(v)) {
		if name, own := strings.CutPrefix(key, p.Info.Name+"."); own && !p.declares(name) {
			p.warnf("the configuration speaks of its tool %q, which it does not have", name)
		}
	}
}

// declares reports whether the plugin says that it has a tool, also if that cannot be used.
func (p *Plugin) declares(name string) bool {
	return slices.ContainsFunc(p.Info.Tools, func(spec tool.Spec) bool { return spec.Name == name })
}

// renaming is a tool that is to get the name that its override says.
type renaming struct {
	tool   *Tool
	plugin *Plugin
}

// possible returns the renamings that give no two different tools the same name, and warns of the others. What is not
// renamed after all keeps a name that another may have wanted, so that it takes rounds to find out.
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

// claimsOf returns, for each name, which tools would have it, by the names that their plugins declare. Tools of several
// plugins under one name count as one: which of them has it is decided elsewhere.
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

// SwitchedOff reports whether the operator switched off a tool that would have the name, and no other has it.
func (s *Snapshot) SwitchedOff(name string) bool {
	o := s.ordered()
	return o.overridden.off[name] && o.byTool[name] == nil
}

// Renamed returns the name that callers use for the tool that its plugin declares under a name; empty if that is not the
// name of a tool that was renamed, or by now that of another.
func (s *Snapshot) Renamed(name string) string {
	o := s.ordered()
	if o.byTool[name] != nil {
		return ""
	}
	return o.overridden.renamed[name]
}

// Strays returns, in order, the keys of overrides that speak of tools that no plugin in use declares.
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
