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

// toolFilter removes tools that a request must not list: those that the model's API does not
// accept, and those that would replace a system tool without consent of the configuration. It is
// safe for concurrent use.
type toolFilter struct {
	model   model.Model
	plugins map[string]string // see Config.SystemToolPlugins
	log     *slog.Logger

	mu      sync.Mutex
	leftOut map[string]string // the tools with a warning in the log, and the reason
}

func newToolFilter(cfg *Config) *toolFilter {
	return &toolFilter{model: cfg.Model, plugins: cfg.SystemToolPlugins, log: cfg.Log, leftOut: make(map[string]string)}
}

// maxTools returns how many tools of plugins a request can have beside all system tools, or 0
// without a limit. If there are more, tools are found by search, where there is one.
func (f *toolFilter) maxTools() int {
	limiter, ok := f.model.(model.ToolLimiter)
	if !ok || limiter.MaxTools() == 0 {
		return 0
	}
	return max(1, limiter.MaxTools()-len(loop.SystemTools()))
}

// accepted returns the tools of plugins that the model's API accepts beside own system tools. It
// logs each of the others once.
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

// mostWarned limits the memory for tools that were logged.
const mostWarned = 10_000

// leaveOut logs that a tool is left out, once per agent. Each model request would log it otherwise.
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

// admits reports whether a plugin's tool may be offered. A tool with the name of a system tool, in
// any letter case, is offered only if the configuration names its plugin. Otherwise the log has one
// warning.
func (f *toolFilter) admits(info *tool.Info) bool {
	name := info.Spec.Name
	own := strings.ToLower(name) // tool names are ASCII
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
	reason := fmt.Sprintf("agentd has a system tool with this name; the tool of the plugin %s replaces it only if agentd.yaml sets "+
		"tools.%s.plugin to %[1]s", loop.Clip(info.Plugin), name)
	if plugin != "" {
		reason += fmt.Sprintf(", and it is set to %s", loop.Clip(plugin))
	}
	f.leaveOut(name, reason)
	return false
}
