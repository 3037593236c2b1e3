package catalog

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/toolhost/toolhost/server/internal/trust"
	"github.com/toolhost/toolhost/tool"
)

// Override contains the operator's settings of one tool. Nil and empty fields leave the plugin's
// declaration unchanged.
type Override struct {
	Plugin             string // the plugin that provides the tool: those of other plugins are left out
	Disabled           *bool  // the tool cannot be called and is not listed
	Rename             string // the name that callers use
	Description        string
	Category           string
	Tags               []string // nil: as declared
	Dangerous          *bool
	Strict             *bool
	Serial             *bool
	Parallel           *bool
	Timeout            *time.Duration // 0: no timeout of the tool
	RateLimitPerMinute *uint32        // 0: none
	MaxConcurrent      *int           // bound of simultaneous calls; 0: none
	AgentRates         AgentRates     // limits of single agents
	MaxRetries         *int           // attempts after the first one; 0: none
	CostPerUse         *float64
	Effects            []string // context keys that the tool may change although a rule reads them; nil: none
}

// AgentRates are the most calls of one agent for one principal that may start in any 60 seconds.
// The zero value sets nothing.
type AgentRates struct {
	Each *int           // of every agent that Of does not have; 0 and nil: no limit
	Of   map[string]int // by the agent's name; 0: no limit
}

// For returns the limit of an agent; 0: none.
func (r AgentRates) For(agent string) int {
	if agent == "" {
		return 0
	}
	if limit, ok := r.Of[agent]; ok {
		return limit
	}
	if r.Each == nil {
		return 0
	}
	return *r.Each
}

// Set reports whether there is a limit of any agent.
func (r AgentRates) Set() bool { return r.Each != nil && *r.Each > 0 || len(r.Of) > 0 }

// or returns the limits with those of other where r has none.
func (r AgentRates) or(other AgentRates) AgentRates {
	merged := AgentRates{Each: cmp.Or(r.Each, other.Each)}
	if len(r.Of)+len(other.Of) > 0 {
		merged.Of = maps.Clone(other.Of)
		if merged.Of == nil {
			merged.Of = map[string]int{}
		}
		maps.Copy(merged.Of, r.Of)
	}
	return merged
}

// Overrides are an operator's settings by TOOL or by PLUGIN.TOOL. PLUGIN.TOOL has precedence, field
// by field. The names are those that plugins declare. Overrides must not change while a catalog
// uses them.
type Overrides map[string]Override

// of returns the override for the tool of a plugin.
func (v Overrides) of(plugin, name string) Override {
	o, qualified := v[name], v[plugin+"."+name]
	return Override{
		Plugin:             o.Plugin,
		Disabled:           cmp.Or(qualified.Disabled, o.Disabled),
		Rename:             cmp.Or(qualified.Rename, o.Rename),
		Description:        cmp.Or(qualified.Description, o.Description),
		Category:           cmp.Or(qualified.Category, o.Category),
		Tags:               either(qualified.Tags, o.Tags),
		Dangerous:          cmp.Or(qualified.Dangerous, o.Dangerous),
		Strict:             cmp.Or(qualified.Strict, o.Strict),
		Serial:             cmp.Or(qualified.Serial, o.Serial),
		Parallel:           cmp.Or(qualified.Parallel, o.Parallel),
		Timeout:            cmp.Or(qualified.Timeout, o.Timeout),
		RateLimitPerMinute: cmp.Or(qualified.RateLimitPerMinute, o.RateLimitPerMinute),
		MaxConcurrent:      cmp.Or(qualified.MaxConcurrent, o.MaxConcurrent),
		AgentRates:         qualified.AgentRates.or(o.AgentRates),
		MaxRetries:         cmp.Or(qualified.MaxRetries, o.MaxRetries),
		CostPerUse:         cmp.Or(qualified.CostPerUse, o.CostPerUse),
		Effects:            either(qualified.Effects, o.Effects),
	}
}

func either(a, b []string) []string {
	if a != nil {
		return a
	}
	return b
}

// given returns, by folded name, the plugins to which the operator assigned names of tools. The
// operator assigns a name by choosing the plugin whose tool toolhost uses, or by renaming a
// plugin's tool to that name.
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
	set(&spec.Serial, o.Serial)
	set(&spec.Parallel, o.Parallel)
	set(&spec.Timeout, o.Timeout)
	set(&spec.RateLimitPerMinute, o.RateLimitPerMinute)
	set(&spec.CostPerUse, o.CostPerUse)
	if o.MaxRetries != nil {
		spec.Retry.MaxAttempts = uint32(*o.MaxRetries) + 1
	}
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

// apply applies the overrides to the tools of plugins, which the caller owns. It does not rename a
// tool to a name that another tool or filter has, among these plugins or according to taken.
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
				if !shipped(plugins, o.Plugin, t.Spec.Name) {
					p.warnf("the tool %q is left out: the configuration says that it is the plugin %q's, which does not have it", t.Spec.Name, o.Plugin)
				}
				continue
			case o.Disabled != nil && *o.Disabled:
				done.off[t.Spec.Name], done.off[cmp.Or(o.Rename, t.Spec.Name)] = true, true
				continue
			}
			copied := *t
			copied.override, copied.Spec = o, o.apply(t.Spec)
			set(&copied.MaxConcurrent, o.MaxConcurrent)
			copied.Effects, copied.AgentRates = o.Effects, o.AgentRates
			tools = append(tools, &copied)
			if o.Rename != "" && o.Rename != t.Spec.Name {
				wanted = append(wanted, &renaming{tool: &copied, plugin: p})
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

// shipped reports whether the plugin of a name declares a tool. If it does, the operator has
// decided whose the name is, and nothing is wrong.
func shipped(plugins []*Plugin, plugin, name string) bool {
	return slices.ContainsFunc(plugins, func(p *Plugin) bool { return p.Info.Name == plugin && p.usable() && p.declares(name) })
}

// warnOfStrays adds warnings to the plugin for overrides of tools that it does not declare.
func (v Overrides) warnOfStrays(p *Plugin) {
	for _, key := range slices.Sorted(maps.Keys(v)) {
		if name, qualified := strings.CutPrefix(key, p.Info.Name+"."); qualified && !p.declares(name) {
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

// possible returns the renamings that do not give two different tools the same name, and warns of
// the others. It takes several rounds: a tool that is not renamed keeps its name, which another
// renaming may need.
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
// several plugins with one declared name count once, because other code decides which plugin gets a
// name.
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
