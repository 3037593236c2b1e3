package agent

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/toolhost/toolhost/internal/agent/loop"
	"github.com/toolhost/toolhost/internal/model"
	"github.com/toolhost/toolhost/tool"
)

// toolFilter leaves out the tools that a model is not to see: those that its API does not take, and those that would replace a
// system tool without the configuration's consent. It is safe for concurrent use.
type toolFilter struct {
	model   model.Model
	plugins map[string]string // see Config.SystemToolPlugins
	log     *slog.Logger

	mu      sync.Mutex
	leftOut map[string]string // tools of which the log has a warning, and why they are left out
}

func newToolFilter(cfg *Config) *toolFilter {
	return &toolFilter{model: cfg.Model, plugins: cfg.SystemToolPlugins, log: cfg.Log, leftOut: make(map[string]string)}
}

// mostTold returns how many tools of plugins the model may be told of beside all that are the agent's own; 0 if there is no
// bound. Beyond it, tools are deferred where there is a search.
func (f *toolFilter) maxTools() int {
	limiter, ok := f.model.(model.ToolLimiter)
	if !ok || limiter.MaxTools() == 0 {
		return 0
	}
	return max(1, limiter.MaxTools()-len(loop.SystemTools()))
}

// taken returns those of the tools of plugins that the model's API takes beside so many of the agent's own, and says once
// for each of the others that it is left out.
func (f *toolFilter) accepted(tools []model.Tool, own int) []model.Tool {
	limiter, ok := f.model.(model.ToolLimiter)
	if !ok {
		return tools
	}
	tools = slices.DeleteFunc(tools, func(t model.Tool) bool {
		reason := limiter.Refuses(t)
		if reason != "" {
			f.leaveOut(t.Name, reason)
		}
		return reason != ""
	})
	most := limiter.MaxTools() - own
	if limiter.MaxTools() == 0 || len(tools) <= most {
		return tools
	}
	for _, t := range tools[max(0, most):] {
		f.leaveOut(t.Name, "the model's API takes no more tools, and this agentd cannot search for the others")
	}
	return tools[:max(0, most)]
}

// mostWarned bounds what is remembered of tools that were left out.
const mostWarned = 10_000

// leaveOut warns that no model sees a tool, once per agent: with each turn it would be noise.
func (f *toolFilter) leaveOut(name, reason string) {
	f.mu.Lock()
	told := f.leftOut[name] == reason || len(f.leftOut) >= mostWarned
	if !told {
		f.leftOut[name] = reason
	}
	f.mu.Unlock()
	if !told {
		f.log.Warn("the model is not told of a tool", "tool", name, "model", f.model.Name(), "reason", reason)
	}
}

// admits reports whether a plugin's tool may be offered. A tool whose name is that of a system tool, in whatever case, is
// offered only where the configuration names its plugin; the agent warns once of another one. It may be called concurrently.
func (f *toolFilter) admits(info *tool.Info) bool {
	name := info.Spec.Name
	own := strings.ToLower(name) // the names of tools are ASCII
	if !loop.IsSystemTool(own) {
		return true
	}
	if name != own {
		f.leaveOut(name, fmt.Sprintf("it differs only by case from agentd's own tool %s", own))
		return false
	}
	plugin := f.plugins[name]
	if plugin != "" && plugin == info.Plugin {
		return true
	}
	reason := fmt.Sprintf("agentd has a tool of its own with this name; the tool of the plugin %s replaces it only if agentd.yaml sets "+
		"tools.%s.plugin to %[1]s", loop.Clip(info.Plugin), name)
	if plugin != "" {
		reason += fmt.Sprintf(", and it is set to %s", loop.Clip(plugin))
	}
	f.leaveOut(name, reason)
	return false
}
