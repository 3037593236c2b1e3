package agent

import (
	"slices"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/tool"
)

// begin returns the first event of a task's run, with everything that defines the run.
func (config *configured) begin(task *loop.Task, id, principal, session string) (*loop.RunStarted, error) {
	started := &loop.RunStarted{
		RunID: id, Principal: principal, Session: session, Prompt: task.Prompt, Groups: task.Groups, Foreground: task.Foreground,
		People: config.People, Context: task.Context, Effects: task.Effects, Parent: task.Parent, Ledger: task.Ledger, Variables: task.Variables,
	}
	if err := config.beginAgent(task, started); err != nil {
		return nil, err
	}
	if task.People != nil {
		started.People = task.People.WithDefaults()
	}
	if err := loop.CheckSystemTools(started.SystemTools); err != nil {
		return nil, tool.Errorf(tool.KindInvalidArgument, "%w", err)
	}
	if err := task.Window.Check(); err != nil {
		return nil, tool.Errorf(tool.KindInvalidArgument, "%w", err)
	}
	if started.Effects == nil {
		started.Effects = loop.RulesFor(task.Context, config.EffectsAllowed)
	}
	started.Traceparent, started.ParentSpan = config.traceOf(task)
	var err error
	if started.Request, err = digestOfRequest(task); err != nil {
		return nil, tool.Errorf(tool.KindInvalidArgument, "the request cannot be encoded: %w", err)
	}
	return started, nil
}

// beginAgent fills in what the agent of the task defines, and what the task changes of it.
func (config *configured) beginAgent(task *loop.Task, started *loop.RunStarted) error {
	p, err := config.profileOf(task)
	if err != nil {
		return err
	}
	if err := p.confine(task, config); err != nil {
		return err
	}
	models, err := config.modelsOf(task, &p)
	if err != nil {
		return tool.Errorf(tool.KindInvalidArgument, "%w", err)
	}
	sampling := task.Sampling.Over(p.Sampling)
	if err := sampling.Check(); err != nil {
		return tool.Errorf(tool.KindInvalidArgument, "%w", err)
	}
	started.Agent, started.Sampling, started.Delegates = p.name, sampling, p.delegates(config)
	if task.Like != nil {
		started.Agent, started.Sampling, started.Delegates = task.Like.Agent, task.Like.Sampling, task.Like.Delegates
	}
	schema := task.ResponseSchema
	if len(schema) == 0 {
		schema = p.ResponseSchema
	}
	if started.ResponseSchema, err = CheckResponseSchema(schema); err != nil {
		return err
	}
	if started.SystemPrompt, err = p.instructions(task, config); err != nil {
		return err
	}
	if started.Memory, err = config.memory(task, &p); err != nil {
		return err
	}
	if started.Tools, err = config.choice(task.Tools.Over(p.Tools), models); err != nil {
		return err
	}
	started.Restricted = task.Restrictions()
	started.RestrictedSystem = task.RestrictionsOfSystem()
	if started.SystemTools = task.SystemTools; started.SystemTools == nil {
		started.SystemTools = permitted(p.SystemTools, started.RestrictedSystem)
	}
	if started.ExplicitCompletion = *p.ExplicitCompletion; task.ExplicitCompletion != nil {
		started.ExplicitCompletion = *task.ExplicitCompletion
	}
	levels := loop.SubRunsOr(task.SubRuns, p.SubRuns)
	if task.Parent != nil && p.name != "" { // the parent and the agent both bound the levels
		levels = min(levels, p.SubRuns)
	}
	started.SubRuns, started.Limits = max(0, levels), p.limits(task)
	return config.beginModels(task, started, models)
}

// permitted returns the system tools of an agent that the caller of the first run permits. Nil
// permits all.
func permitted(names, only []string) []string {
	if only == nil {
		return names
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !slices.Contains(only, name) })
}

// beginModels fills in the models, their windows, and whether their prices allow a cost budget.
func (config *configured) beginModels(task *loop.Task, started *loop.RunStarted, models []chosen) error {
	if like := task.Like; like != nil {
		started.ModelName, started.Model, started.BaseURL, started.Fallbacks = like.ModelName, like.Model, like.BaseURL, like.Fallbacks
		started.Window = task.Window.Or(config.Window)
		return nil
	}
	first := models[0]
	started.ModelName, started.Model, started.BaseURL = first.Name, first.Model, first.BaseURL
	started.Window = task.Window.Or(loop.Window{Tokens: first.Window}.Over(config.Window))
	for _, m := range models[1:] {
		if task.Window.Tokens > 0 {
			m.Window = task.Window.Tokens
		}
		started.Fallbacks = append(started.Fallbacks, m.RunModel)
	}
	if started.Limits.MaxCost > 0 {
		return config.checkPrices(models, started.Delegates)
	}
	return nil
}

// choice returns a choice of tools with the defaults filled in.
func (config *configured) choice(c loop.ToolChoice, models []chosen) (loop.ToolChoice, error) {
	switch {
	case c.MaxTools < 0:
		return c, tool.Errorf(tool.KindInvalidArgument, "the run may be told of %d tools; use 0 or more", c.MaxTools)
	case config.Search == nil && c.MaxTools > 0:
		return c, tool.Errorf(tool.KindInvalidArgument, "the run is limited to %d tools, but no model can search for the others", c.MaxTools)
	case config.Search != nil:
		c.MaxTools = loop.FirstPositive(c.MaxTools, config.MaxTools, 0)
		if most := maxTools(models); most > 0 {
			c.MaxTools = min(c.MaxTools, most)
		}
	}
	return c, nil
}
