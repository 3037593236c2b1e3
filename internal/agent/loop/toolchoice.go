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
	Tags       []string `json:"tags,omitempty"` // a tool needs at least one of these
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
// of the run's calls, because dynamic tools depend on them.
func (r *RunStarted) Query(values map[string]json.RawMessage) tool.Query {
	c := &r.Tools
	return tool.Query{
		Names: c.Names, Categories: c.Categories, Tags: c.Tags, Dangerous: c.Dangerous, MaxCostPerUse: c.MaxCostPerUse,
		Session: r.Session, Context: values,
	}
}

// defersTools reports whether there are more tools than a request lists.
func (r *RunStarted) defersTools(offered []tool.Info) bool {
	return r.Tools.MaxTools > 0 && len(available(offered)) > r.Tools.MaxTools
}

// VisibleTools returns the tools that a request lists, in the order of offered. If there are too
// many, the order of preference is: tools that replace a system tool, tools that a search found,
// the latest first, tools that the run names, and then all others.
func (r *RunStarted) VisibleTools(offered []tool.Info, found []string) []tool.Info {
	all := available(offered)
	if !r.defersTools(offered) {
		return all
	}
	own := SystemTools()
	rank := func(info tool.Info) int {
		name := info.Spec.Name
		latest := slices.Index(found, name)
		switch {
		case slices.Contains(own, name):
			return 0
		case latest >= 0:
			return len(found) - latest
		case slices.Contains(r.Tools.Names, name):
			return len(found) + 1
		}
		return len(found) + 2
	}
	ranks := make(map[string]int, len(all))
	names := make([]string, len(all))
	for i, info := range all {
		names[i], ranks[info.Spec.Name] = info.Spec.Name, rank(info)
	}
	slices.SortStableFunc(names, func(a, b string) int { return ranks[a] - ranks[b] })
	for _, name := range names[r.Tools.MaxTools:] {
		delete(ranks, name)
	}
	return slices.DeleteFunc(all, func(info tool.Info) bool {
		_, in := ranks[info.Spec.Name]
		return !in
	})
}

// available returns the tools that can be called now, in a new slice.
func available(offered []tool.Info) []tool.Info {
	return slices.DeleteFunc(slices.Clone(offered), func(info tool.Info) bool { return info.UnavailableReason != "" })
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

// Over returns c with unset fields taken from d.
func (c ToolChoice) Over(d ToolChoice) ToolChoice {
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
