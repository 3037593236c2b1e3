package loop

import (
	"encoding/json"
	"slices"

	"github.com/toolhost/toolhost/tool"
)

// ToolChoice selects the tools that a run may use. A tool must match every field that is set. The
// zero value selects all.
type ToolChoice struct {
	Names      []string `json:"names,omitempty"`
	Categories []string `json:"categories,omitempty"`
	Tags       []string `json:"tags,omitempty"`    // a tool needs at least one of these
	Plugins    []string `json:"plugins,omitempty"` // the tools of one of these plugins
	// Excluded are the names of tools that are never selected.
	Excluded []string `json:"excluded,omitempty"`
	// Dangerous selects dangerous or other tools. Nil selects both.
	Dangerous *bool `json:"dangerous,omitempty"`
	// MaxCostPerUse is the largest declared cost of one use. Nil means no limit.
	MaxCostPerUse *float64 `json:"max_cost_per_use,omitempty"`
	// MaxTools is how many tools a request lists. The model finds the others with tool_search. 0
	// means the agent's limit in a task, and no limit in a journal.
	MaxTools int `json:"max_tools,omitempty"`
}

// DefaultMaxTools is the default number of tools in a request. With more, models choose worse, and
// each tool uses tokens in every request.
const DefaultMaxTools = 40

// Query returns the run's selection as a query to toolhost. The session and the context are those
// of the run's calls, because dynamic tools depend on them. The answer may have tools that the run
// must not use; see Permits.
func (r *RunStarted) Query(values map[string]json.RawMessage) tool.Query {
	c := r.Tools.about(r.Restricted)
	return tool.Query{
		Names: c.Names, Categories: c.Categories, Tags: c.Tags, Plugins: c.Plugins, Excluded: c.Excluded, Dangerous: c.Dangerous, MaxCostPerUse: c.MaxCostPerUse,
		Session: r.Session, Context: values,
	}
}

// Permits reports whether the run may use a tool of toolhost: its own choice selects the tool, and
// so do the restrictions of its caller.
//
// The query alone does not suffice. A toolhost of an earlier version ignores fields that it does
// not know, and two lists without a common element have no query, because an empty list limits
// nothing.
func (r *RunStarted) Permits(info *tool.Info) bool {
	return r.Tools.selects(info) && r.Restricted.selects(info)
}

// selects reports whether a tool matches every field that is set, as toolhost decides for a query.
func (c *ToolChoice) selects(info *tool.Info) bool {
	spec := &info.Spec
	return !slices.Contains(c.Excluded, spec.Name) &&
		(len(c.Plugins) == 0 || slices.Contains(c.Plugins, info.Plugin)) &&
		(len(c.Names) == 0 || slices.Contains(c.Names, spec.Name)) &&
		(len(c.Categories) == 0 || slices.Contains(c.Categories, spec.Category)) &&
		(len(c.Tags) == 0 || slices.ContainsFunc(c.Tags, func(tag string) bool { return slices.Contains(spec.Tags, tag) })) &&
		(c.Dangerous == nil || *c.Dangerous == spec.Dangerous) &&
		(c.MaxCostPerUse == nil || spec.CostPerUse <= *c.MaxCostPerUse)
}

// about returns one choice that selects at least the tools that both c and d select, so that a
// search has few others among its results.
func (c ToolChoice) about(d ToolChoice) ToolChoice {
	c.Names, c.Categories, c.Plugins = common(c.Names, d.Names), common(c.Categories, d.Categories), common(c.Plugins, d.Plugins)
	if len(c.Tags) == 0 { // a tool may have a tag of each list, and none of both
		c.Tags = d.Tags
	}
	if d.MaxCostPerUse != nil && (c.MaxCostPerUse == nil || *d.MaxCostPerUse < *c.MaxCostPerUse) {
		c.MaxCostPerUse = d.MaxCostPerUse
	}
	return c.Over(ToolChoice{Excluded: d.Excluded, Dangerous: d.Dangerous})
}

// common returns what two limiting lists have in common. An empty list limits nothing, so it
// returns a if they have nothing in common.
func common(a, b []string) []string {
	if len(a) == 0 {
		return b
	}
	both := slices.DeleteFunc(slices.Clone(a), func(s string) bool { return len(b) > 0 && !slices.Contains(b, s) })
	if len(both) == 0 {
		return a
	}
	return both
}

// restrictions returns the part of a choice that restricts all runs of a caller. MaxTools restricts
// no tool.
func (c ToolChoice) restrictions() ToolChoice {
	c.MaxTools = 0
	return c
}

// Restrictions returns RunStarted.Restricted of the task's run.
func (t *Task) Restrictions() ToolChoice {
	if t.Parent != nil {
		return t.Restricted
	}
	return t.Tools.restrictions()
}

// RestrictionsOfSystem returns RunStarted.RestrictedSystem of the task's run.
func (t *Task) RestrictionsOfSystem() []string {
	if t.Parent != nil {
		return t.RestrictedSystem
	}
	return t.SystemTools
}

// defersTools reports whether there are more tools than a request lists.
func (r *RunStarted) defersTools(offered []tool.Info) bool {
	return r.Tools.MaxTools > 0 && available(offered) > r.Tools.MaxTools
}

// VisibleTools returns the tools that a request lists, in the order of offered. If there are too
// many, the order of preference is: tools that replace a system tool, tools that a search found,
// the latest first, and then all others.
func (r *RunStarted) VisibleTools(offered []tool.Info, found []string) []tool.Info {
	most := available(offered)
	if r.defersTools(offered) {
		most = r.Tools.MaxTools
	}
	chosen := preferred(offered, found, most)
	others := most - len(chosen)
	isChosen := make(map[string]bool, len(chosen))
	for _, name := range chosen {
		isChosen[name] = true
	}
	visible := make([]tool.Info, 0, most)
	for i := range offered {
		info := &offered[i]
		switch {
		case info.UnavailableReason != "":
		case isChosen[info.Spec.Name]:
			visible = append(visible, *info)
		case others > 0:
			others--
			visible = append(visible, *info)
		}
	}
	return visible
}

// preferred returns the names of the tools that VisibleTools prefers to others, if there are fewer
// than most, and of the best of them otherwise.
func preferred(offered []tool.Info, found []string, most int) (names []string) {
	ranks := map[string]int{}
	for i, name := range found {
		ranks[name] = len(found) - i
	}
	for _, name := range SystemTools() {
		ranks[name] = 0
	}
	for i := range offered {
		if _, preferred := ranks[offered[i].Spec.Name]; preferred && offered[i].UnavailableReason == "" {
			names = append(names, offered[i].Spec.Name)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return ranks[a] - ranks[b] })
	return names[:min(most, len(names))]
}

// available returns the number of tools that can be called.
func available(offered []tool.Info) (n int) {
	for i := range offered {
		if offered[i].UnavailableReason == "" {
			n++
		}
	}
	return n
}

// narrowed returns the choice restricted to the names. No names leave it unchanged. ok is false if
// no named tool is in the choice.
func (c ToolChoice) narrowed(names []string) (narrow ToolChoice, ok bool) {
	if len(names) == 0 {
		return c, true
	}
	if len(c.Names) > 0 {
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !slices.Contains(c.Names, name) })
	}
	c.Names = names
	return c, len(names) > 0
}

// Widens reports whether c.Over(d) may select a tool that d does not select.
func (c ToolChoice) Widens(d ToolChoice) bool {
	return outside(c.Names, d.Names) || outside(c.Categories, d.Categories) || outside(c.Tags, d.Tags) || outside(c.Plugins, d.Plugins) ||
		c.Dangerous != nil && d.Dangerous != nil && *c.Dangerous != *d.Dangerous ||
		c.MaxCostPerUse != nil && d.MaxCostPerUse != nil && *c.MaxCostPerUse > *d.MaxCostPerUse
}

// outside reports whether a list has an element that a limiting list does not have. An empty list
// limits nothing.
func outside(list, limit []string) bool {
	return len(limit) > 0 && slices.ContainsFunc(list, func(s string) bool { return !slices.Contains(limit, s) })
}

// Over returns c with unset fields taken from d. It excludes what either of them excludes.
func (c ToolChoice) Over(d ToolChoice) ToolChoice {
	for _, name := range d.Excluded {
		if !slices.Contains(c.Excluded, name) {
			c.Excluded = append(slices.Clip(c.Excluded), name)
		}
	}
	if len(c.Plugins) == 0 {
		c.Plugins = d.Plugins
	}
	if len(c.Names) == 0 {
		c.Names = d.Names
	}
	if len(c.Categories) == 0 {
		c.Categories = d.Categories
	}
	if len(c.Tags) == 0 {
		c.Tags = d.Tags
	}
	if c.Dangerous == nil {
		c.Dangerous = d.Dangerous
	}
	if c.MaxCostPerUse == nil {
		c.MaxCostPerUse = d.MaxCostPerUse
	}
	if c.MaxTools == 0 {
		c.MaxTools = d.MaxTools
	}
	return c
}
