package agent

import (
	"maps"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/tool"
)

// kindOf returns the choice of tools of a kind of tasks, or of none if the name is empty.
func (a *Agent) kindOf(name string) (ToolChoice, error) {
	if name == "" {
		return ToolChoice{}, nil
	}
	choice, ok := a.config.Kinds[name]
	switch {
	case ok:
		return choice, nil
	case len(a.config.Kinds) == 0:
		return choice, tool.Errorf(tool.KindInvalidArgument, "there is no kind of task %q: this agentd knows none", clip(name))
	}
	known := strings.Join(slices.Sorted(maps.Keys(a.config.Kinds)), ", ")
	return choice, tool.Errorf(tool.KindInvalidArgument, "there is no kind of task %q; there are %s", clip(name), known)
}

// over returns c with what it does not set taken from d.
func (c ToolChoice) over(d ToolChoice) ToolChoice {
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
