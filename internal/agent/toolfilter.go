package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/agent/loop"
	"github.com/toolhost/toolhost/internal/model"
	"github.com/toolhost/toolhost/tool"
)

// mostTold returns how many tools of plugins the model may be told of beside all that are the agent's own; 0 if there is no
// bound. Beyond it, tools are deferred where there is a search.
func (a *Agent) mostTold() int {
	choosy, ok := a.config.Model.(model.Choosy)
	if !ok || choosy.MostTools() == 0 {
		return 0
	}
	return max(1, choosy.MostTools()-len(loop.SystemTools()))
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

// admits reports whether a plugin's tool may be offered. A tool whose name is that of a system tool, in whatever case, is
// offered only where the configuration names its plugin; the agent warns once of another one. It may be called concurrently.
func (a *Agent) admits(info *tool.Info) bool {
	name := info.Spec.Name
	own := strings.ToLower(name) // the names of tools are ASCII
	if !loop.IsSystemTool(own) {
		return true
	}
	if name != own {
		a.leaveOut(name, fmt.Sprintf("it differs only by case from agentd's own tool %s", own))
		return false
	}
	plugin := a.config.SystemToolPlugins[name]
	if plugin != "" && plugin == info.Plugin {
		return true
	}
	reason := fmt.Sprintf("agentd has a tool of its own with this name; the tool of the plugin %s replaces it only if agentd.yaml sets "+
		"tools.%s.plugin to %[1]s", loop.Clip(info.Plugin), name)
	if plugin != "" {
		reason += fmt.Sprintf(", and it is set to %s", loop.Clip(plugin))
	}
	a.leaveOut(name, reason)
	return false
}
