package agent

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/tool"
)

// toolFilter removes tools that a request must not list: tools that the model's API does not
// accept, and tools that would replace a system tool although the configuration does not allow it.
// It is safe for concurrent use.
type toolFilter struct {
	plugins map[string]string // see Config.SystemToolPlugins
	log     *slog.Logger

	mu      sync.Mutex
	leftOut map[string]string // the tools with a warning in the log, and the reason
}

func newToolFilter(cfg *Config) *toolFilter {
	return &toolFilter{plugins: cfg.SystemToolPlugins, log: cfg.Log.With(loglevel.Key, loglevel.Tools), leftOut: make(map[string]string)}
}

// maxTools returns how many tools of plugins a request to any of the models can have in addition to
// all system tools. 0 means no limit. If there are more tools, the model finds them by search, if
// search is available.
func maxTools(models []chosen) int {
	most := 0
	for _, m := range models {
		if limiter, ok := m.offered.Model.(model.ToolLimiter); ok && limiter.MaxTools() > 0 {
			// final_answer is not among them, but a run that has it is not offered attempt_completion.
			limit := max(1, limiter.MaxTools()-len(loop.SystemTools()))
			if most == 0 || limit < most {
				most = limit
			}
		}
	}
	return most
}

// accepted returns the tools of plugins that the model's API accepts. own is the number of system
// tools in the request. It logs each of the other tools once.
func (f *toolFilter) accepted(m model.Model, tools []model.Tool, own int) []model.Tool {
	limiter, ok := m.(model.ToolLimiter)
	if !ok {
		return tools
	}
	tools = slices.DeleteFunc(tools, func(t model.Tool) bool {
		reason := limiter.Refuses(t)
		if reason != "" {
			f.leaveOut(m.Name(), t.Name, reason)
		}
		return reason != ""
	})
	most := limiter.MaxTools() - own
	if limiter.MaxTools() == 0 || len(tools) <= most {
		return tools
	}
	for _, t := range tools[max(0, most):] {
		f.leaveOut(m.Name(), t.Name, "the model's API takes no more tools, and this agentd cannot search for the others")
	}
	return tools[:max(0, most)]
}

// mostWarned limits the memory for tools that were logged.
const mostWarned = 10_000

// leaveOut logs that a tool is left out of requests to a model, or to any model if the name of the
// model is empty. It logs that once per agent. Each model request would log it otherwise.
func (f *toolFilter) leaveOut(model, name, reason string) {
	f.mu.Lock()
	told := f.leftOut[model+" "+name] == reason || len(f.leftOut) >= mostWarned
	if !told {
		f.leftOut[model+" "+name] = reason
	}
	f.mu.Unlock()
	if !told {
		f.log.Warn("the model is not offered a tool", "tool", name, "model", cmp.Or(model, "any"), "reason", reason)
	}
}

// admits reports whether a plugin's tool may be offered. A tool with the name of a system tool, in
// any letter case, is offered only if the configuration names its plugin. Otherwise the log has one
// warning.
func (f *toolFilter) admits(info *tool.Info) bool {
	name := info.Spec.Name
	system := strings.ToLower(name) // tool names are ASCII
	if !loop.IsSystemTool(system) {
		return true
	}
	if name != system {
		f.leaveOut("", name, fmt.Sprintf("it differs only by case from agentd's own tool %s", system))
		return false
	}
	if name == loop.SystemFinalAnswer {
		f.leaveOut("", name, "agentd's own tool with this name ends runs with a response schema, and no other replaces it")
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
	f.leaveOut("", name, reason)
	return false
}
