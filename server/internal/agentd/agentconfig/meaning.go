package agentconfig

import (
	"maps"
	"slices"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// Choice is a selected model, with the configuration of its provider.
type Choice struct {
	Name      string // provider:name; empty: it depends on the key in the environment
	BaseURL   string // empty: the provider's default
	APIKeyEnv string // the variable that holds the key; empty: the provider's default
	Price     *model.Price
	Window    int64 // tokens; 0: the default
	Thinking  int64 // tokens; 0: off
	TextTools bool  // the model writes its calls as text
}

// Choose returns the model with a name: a name of Models, or provider:name. "" selects
// Config.Model.
func (c *Config) Choose(name string) (Choice, error) {
	if name == "" {
		name = c.Model
	}
	if name == "" {
		return Choice{}, nil
	}
	m, err := c.modelOf(name)
	if err != nil {
		return Choice{}, err
	}
	choice := Choice{Name: m.Provider + ":" + m.Model, BaseURL: m.BaseURL, APIKeyEnv: m.APIKeyEnv, Window: int64(m.Window), Thinking: int64(m.Thinking), TextTools: m.Tools == "text"}
	if _, named := c.Models[name]; !named {
		choice.Name = name
	}
	if p := m.Price; p.Input != nil {
		choice.Price = &model.Price{Input: *p.Input, Output: *p.Output, CacheRead: p.CacheRead, CacheWrite: p.CacheWrite}
	}
	return choice, nil
}

// Called returns the name in Models of a model that is given as provider:name. It returns the
// argument if Models has no such model. If several names of Models mean that model, it returns
// Config.Model if that is one of them, and else the first in alphabetical order.
func (c *Config) Called(model string) string {
	found := model
	for _, name := range slices.Sorted(maps.Keys(c.Models)) {
		if m := c.Models[name]; m.Provider+":"+m.Model == model && (found == model || name == c.Model) {
			found = name
		}
	}
	return found
}

// Agent returns the limits in the form of the agent. In loop.Limits, 0 means the agent's default.
// It equals the default of the file.
func (l Limits) Agent() loop.Limits {
	return loop.Limits{
		MaxTurns: l.MaxTurns, MaxCalls: l.MaxCalls, MaxResponseTokens: l.MaxResponseTokens, MaxTokens: int64(l.MaxTokens),
		MaxCost: l.MaxCost, MaxWallTime: l.MaxWallTime, MaxOutput: int64(l.MaxOutput), MaxFailures: l.MaxFailures,
		MaxTimeouts: l.MaxTimeouts, MaxRepeats: l.MaxRepeats,
	}
}

// People returns how the agent reaches people. present says whether the program has a terminal.
func (a Approvals) People(present bool) loop.People {
	return loop.People{
		Attended:   a.Headless == "never" || a.Headless == "auto" && present,
		Expiry:     a.Expiry,
		AskOutcome: a.UnknownOutcome == "ask",
	}
}

// Window returns when the agent shortens the conversation of a model. The parameter tokens is the
// size of the model's window; 0 means the default size.
func (c Compaction) Window(tokens int64) loop.Window {
	return loop.Window{Tokens: tokens, ClearAt: c.ClearAt, SummarizeAt: c.SummarizeAt, Keep: c.Keep}
}

// SubRunLevels returns SubRuns in the form of the agent, in which 0 means the default and -1 means
// none.
func (c *Config) SubRunLevels() int {
	if c.SubRuns == 0 {
		return -1
	}
	return c.SubRuns
}

// EffectsAllowed returns, by tool, the keys that effects may change although the run was started
// with values for them.
func (c *Config) EffectsAllowed() map[string][]string {
	allowed := make(map[string][]string, len(c.Tools))
	for name, t := range c.Tools {
		if len(t.Effects) > 0 {
			allowed[name] = t.Effects
		}
	}
	return allowed
}

// SystemToolPlugins returns the plugins whose tools replace system tools, by the name of the system
// tool.
func (c *Config) SystemToolPlugins() map[string]string {
	plugins := make(map[string]string)
	for name, t := range c.Tools {
		if t.Plugin != "" {
			plugins[name] = t.Plugin
		}
	}
	return plugins
}

// OfferedSystemTools returns the agent's own tools that the model gets.
func (c *Config) OfferedSystemTools() []string {
	if c.SystemTools == nil {
		return []string{loop.SystemAskUser, loop.SystemNewTask, loop.SystemCompact}
	}
	return c.SystemTools
}
