package agent

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/tool"
)

// rightToCustomize is the right of callers whose runs may leave their agents; see Task.Confined.
const rightToCustomize = "runs.customize"

// profile is what a task's agent permits: a named agent, or the defaults of the configuration.
type profile struct {
	NamedAgent
	name string // empty: no agent
}

// profileOf returns the profile for a task.
func (config *configured) profileOf(task *loop.Task) (profile, error) {
	name := task.Agent
	if name == "" && task.Parent == nil {
		name = config.DefaultAgent
	}
	p := profile{name: name}
	if name != "" {
		named, ok := config.Agents[name]
		switch {
		case !ok && len(config.Agents) == 0:
			return p, tool.Errorf(tool.KindInvalidArgument, "there is no agent %q: this agentd has none", loop.Clip(name))
		case !ok:
			return p, tool.Errorf(tool.KindInvalidArgument, "there is no agent %q; there are %s", loop.Clip(name), strings.Join(slices.Sorted(maps.Keys(config.Agents)), ", "))
		}
		p.NamedAgent = named
	} else if task.Confined && len(config.Agents) > 0 {
		return p, tool.Errorf(tool.KindDenied, "a run without an agent needs the right %s; name one of the agents %s",
			rightToCustomize, strings.Join(slices.Sorted(maps.Keys(config.Agents)), ", "))
	}
	p.Limits = p.Limits.Or(config.Limits)
	p.SubRuns = loop.SubRunsOr(p.SubRuns, config.SubRuns)
	if p.SystemTools == nil {
		p.SystemTools = config.SystemTools
	}
	if p.ExplicitCompletion == nil {
		p.ExplicitCompletion = &config.ExplicitCompletion
	}
	return p, nil
}

// departure returns what a task has that the profile does not permit. Empty means nothing. What
// only narrows the profile is no departure. TestEveryFieldOfATask has a verdict on each field of a
// task.
//
// Without a named agent, only the instructions, the model and the sampling can depart: the tools
// are all tools, and everything else is a default.
func (p *profile) departure(task *loop.Task, config *configured) string {
	named := p.name != ""
	switch {
	case task.SystemPrompt != "":
		return "other instructions"
	case task.Model != "" && !p.hasModel(task.Model, config):
		return "another model"
	case !task.Sampling.Over(p.Sampling).Equal(p.Sampling):
		return "another sampling"
	case named && task.Tools.Widens(p.Tools):
		return "other tools"
	case named && slices.ContainsFunc(task.SystemTools, func(name string) bool { return !slices.Contains(p.SystemTools, name) }):
		return "other system tools"
	case named && exceeds(task.Tools.MaxTools, loop.FirstPositive(p.Tools.MaxTools, config.MaxTools, 0)):
		return "more tools in a request"
	case len(p.ResponseSchema) > 0 && len(task.ResponseSchema) > 0 && !sameJSON(task.ResponseSchema, p.ResponseSchema):
		return "another response schema"
	case task.Parent != nil: // the limits of a sub-run are shares of its parent's
	case named && task.Limits.Exceeds(p.Limits):
		return "higher limits"
	case named && task.SubRuns > max(p.SubRuns, 0):
		return "more levels of sub-runs"
	case named && task.ExplicitCompletion != nil && *task.ExplicitCompletion != *p.ExplicitCompletion:
		return "another completion"
	case named && task.Window.Or(p.window(task, config)) != p.window(task, config):
		// A smaller window is no narrower one: it costs requests for summaries.
		return "another window"
	}
	return ""
}

// exceeds reports whether a number is above a limit, of which 0 is none.
func exceeds(n, limit int) bool { return limit > 0 && n > limit }

// window returns the window of a task's run if the task sets none.
func (p *profile) window(task *loop.Task, config *configured) loop.Window {
	var first chosen
	if models, err := config.modelsOf(task, p); err == nil && len(models) > 0 {
		first = models[0]
	}
	return loop.Window{Tokens: first.Window}.Over(config.Window).Or(loop.Window{})
}

func (p *profile) hasModel(name string, config *configured) bool {
	if slices.Contains(p.Models, name) {
		return true
	}
	byDefault := len(p.Models) == 0 || slices.Contains(p.Models, "")
	return byDefault && (name == config.ModelName || name == config.Model.Name())
}

// confine returns an error if a task that must stay within its agent does not.
func (p *profile) confine(task *loop.Task, config *configured) error {
	what := p.departure(task, config)
	if !task.Confined || what == "" {
		return nil
	}
	if p.name == "" {
		return tool.Errorf(tool.KindDenied, "the run would have %s than the default, which needs the right %s", what, rightToCustomize)
	}
	return tool.Errorf(tool.KindDenied, "the run would have %s than the agent %s permits, which needs the right %s", what, p.name, rightToCustomize)
}

// instructions returns the instructions of a task's run.
func (p *profile) instructions(task *loop.Task, config *configured) (string, error) {
	if task.SystemPrompt != "" || p.Instructions == nil {
		return cmp.Or(task.SystemPrompt, config.SystemPrompt), nil
	}
	values := task.Context
	if task.Parent != nil {
		values = task.Variables
	}
	text, err := p.Instructions.fill(values)
	if err != nil {
		return "", tool.Errorf(tool.KindInvalidArgument, "the agent %s: %w", p.name, err)
	}
	return text, nil
}

// delegates returns the agents to which runs of the profile may delegate.
func (p *profile) delegates(config *configured) []loop.Delegate {
	var all []loop.Delegate
	for _, name := range p.Delegates {
		all = append(all, loop.Delegate{Name: name, Description: config.Agents[name].Description})
	}
	return all
}

// limits returns the limits of a task's run. The limits of the task of a delegate are shares of the
// budgets of its parent.
func (p *profile) limits(task *loop.Task) loop.Limits {
	if task.Parent != nil && task.Agent != "" {
		return p.Limits.Within(task.Limits)
	}
	return task.Limits.Or(p.Limits)
}

// checkPrices returns an error if the price of a model is unknown that a run with a cost budget may
// use, also in the sub-runs of the agents to which it delegates.
func (config *configured) checkPrices(models []chosen, delegates []loop.Delegate) error {
	for _, m := range models {
		if m.offered.Price == nil {
			return tool.Errorf(tool.KindInvalidArgument, "the run has a cost budget, but the price of %s is not configured; set models.NAME.price in agentd.yaml", m.Model)
		}
	}
	seen := make(map[string]bool)
	for open := delegates; len(open) > 0; {
		name := open[0].Name
		if open = open[1:]; seen[name] {
			continue
		}
		seen[name] = true
		p := profile{config.Agents[name], name}
		used, err := config.modelsNamed(p.Models)
		if err != nil {
			return tool.Errorf(tool.KindInvalidArgument, "the agent %s, to which the run may delegate: %w", name, err)
		}
		for _, m := range used {
			if m.offered.Price == nil {
				return tool.Errorf(tool.KindInvalidArgument, "the run has a cost budget and may delegate to the agent %s, but the price of %s is not configured; "+
					"set models.NAME.price in agentd.yaml", name, m.Model)
			}
		}
		open = append(open, p.delegates(config)...)
	}
	return nil
}

// modelsOf returns the models of a task's run, the first one first. It returns none for a run that
// is like its parent.
func (config *configured) modelsOf(task *loop.Task, p *profile) ([]chosen, error) {
	switch {
	case task.Like != nil:
		return nil, nil // those of the parent, also if the configuration does not have them any more
	case task.Model != "":
		return config.modelsNamed([]string{task.Model})
	}
	return config.modelsNamed(p.Models)
}
