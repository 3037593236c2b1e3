package agent

import (
	"slices"

	"github.com/toolhost/toolhost/internal/model"
)

// mostTold returns how many tools of plugins the model may be told of beside all that are the agent's own; 0 if there is no
// bound. Beyond it, tools are deferred where there is a search.
func (a *Agent) mostTold() int {
	choosy, ok := a.config.Model.(model.Choosy)
	if !ok || choosy.MostTools() == 0 {
		return 0
	}
	return max(1, choosy.MostTools()-len(SystemTools()))
}

// taken returns those of the tools of plugins that the model's API takes beside so many of the agent's own, and says once
// for each of the others that it is left out.
func (a *Agent) taken(tools []model.Tool, own int) []model.Tool {
	choosy, ok := a.config.Model.(model.Choosy)
	if !ok {
		return tools
	}
	tools = slices.DeleteFunc(tools, func(t model.Tool) bool {
		reason := choosy.Refuses(t)
		if reason != "" {
			a.leaveOut(t.Name, reason)
		}
		return reason != ""
	})
	most := choosy.MostTools() - own
	if choosy.MostTools() == 0 || len(tools) <= most {
		return tools
	}
	for _, t := range tools[max(0, most):] {
		a.leaveOut(t.Name, "the model's API takes no more tools, and this agentd cannot search for the others")
	}
	return tools[:max(0, most)]
}

// mostWarned bounds what is remembered of tools that were left out.
const mostWarned = 10_000

// leaveOut warns that no model sees a tool, once per agent: with each turn it would be noise.
func (a *Agent) leaveOut(name, reason string) {
	a.mu.Lock()
	told := a.leftOut[name] == reason || len(a.leftOut) >= mostWarned
	if !told {
		a.leftOut[name] = reason
	}
	a.mu.Unlock()
	if !told {
		a.config.Log.Warn("the model is not told of a tool", "tool", name, "model", a.config.Model.Name(), "reason", reason)
	}
}
