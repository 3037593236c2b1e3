package agent

import (
	"maps"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/agent/loop"
	"github.com/toolhost/toolhost/tool"
)

// kindOf returns the tool choice of a kind of tasks. An empty name selects all tools.
func (a *Agent) kindOf(name string) (loop.ToolChoice, error) {
	if name == "" {
		return loop.ToolChoice{}, nil
	}
	choice, ok := a.config.Kinds[name]
	switch {
	case ok:
		return choice, nil
	case len(a.config.Kinds) == 0:
		return choice, tool.Errorf(tool.KindInvalidArgument, "there is no kind of task %q: this agentd knows none", loop.Clip(name))
	}
	known := strings.Join(slices.Sorted(maps.Keys(a.config.Kinds)), ", ")
	return choice, tool.Errorf(tool.KindInvalidArgument, "there is no kind of task %q; there are %s", loop.Clip(name), known)
}
