package loop

import (
	"encoding/json"
	"slices"

	"github.com/toolhost/toolhost/tool"
)

// ToolChoice selects the tools that a run may use. Every field that is set must match; the zero value is all.
type ToolChoice struct {
	Names      []string `json:"names,omitempty"`
	Categories []string `json:"categories,omitempty"`
	Tags       []string `json:"tags,omitempty"` // at least one of these
	// Dangerous is whether the tools are dangerous. Nil: both.
	Dangerous *bool `json:"dangerous,omitempty"`
	// MaxCostPerUse is what a use of a tool may cost. Nil: any.
	MaxCostPerUse *float64 `json:"max_cost_per_use,omitempty"`
	// MaxTools is how many tools the model is told of at a time; it finds the others with tool_search. 0 means the agent's
	// bound in a task, none in a journal.
	MaxTools int `json:"max_tools,omitempty"`
}

// defaultMaxTools is how many tools a model is told of: with more, models choose worse, and each costs room in every
// request.
const DefaultMaxTools = 40

// query returns the tools that the run may use as a toolhost is asked for them. Dynamic tools are described for the
// session and the values with which their calls are made.
func (r *RunStarted) Query(values map[string]json.RawMessage) tool.Query {
	c := &r.Tools
	return tool.Query{
		Names: c.Names, Categories: c.Categories, Tags: c.Tags, Dangerous: c.Dangerous, MaxCostPerUse: c.MaxCostPerUse,
		Session: r.Session, Context: values,
	}
}

// defers reports whether there are more tools than the model is told of.
func (r *RunStarted) defersTools(offered []tool.Info) bool {
	return r.Tools.MaxTools > 0 && len(available(offered)) > r.Tools.MaxTools
}

// told returns the tools that the model is told of, in the order of offered. Where there are too many, those come
// first that take the place of a system tool, then those that were found, the latest first, then those that the run
// names, then all others in their order.
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

// available returns the tools that can be called now, in a slice of its own.
func available(offered []tool.Info) []tool.Info {
	return slices.DeleteFunc(slices.Clone(offered), func(info tool.Info) bool { return info.UnavailableReason != "" })
}

// narrowed returns the choice with only the named tools left. No names leave it as it is; ok is false if there is none
// of them in it.
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

// over returns c with what it does not set taken from d.
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
