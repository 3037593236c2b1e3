package agentconfig

import (
	"fmt"
	"maps"
	"slices"

	"github.com/toolhost/toolhost/internal/agent/loop"
	"github.com/toolhost/toolhost/internal/model"
)

// Choice is the model that is to be asked, with the words of its provider.
type Choice struct {
	Name      string // provider:name; empty: the key in the environment chooses
	BaseURL   string // empty: the provider's own
	APIKeyEnv string // the variable that holds the key; empty: the provider's usual one
	Price     *model.Price
	Window    int64 // 0: the usual one
	Thinking  int64 // tokens; 0: none is asked for
}

// Choose returns the model that a name means: one of Models, or provider:name. Empty means Model.
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
	choice := Choice{Name: m.Provider + ":" + m.Model, BaseURL: m.BaseURL, APIKeyEnv: m.APIKeyEnv, Window: int64(m.Window), Thinking: int64(m.Thinking)}
	if _, named := c.Models[name]; !named {
		choice.Name = name
	}
	if p := m.Price; p.Input != nil {
		choice.Price = &model.Price{Input: *p.Input, Output: *p.Output, CacheRead: p.CacheRead, CacheWrite: p.CacheWrite}
	}
	return choice, nil
}

// Called returns the name in Models of the model that the provider knows by a name, provider:name; the name itself if there is none
// of it. Where several fit, it is Model if that is one of them, else the first of the alphabet.
func (c *Config) Called(model string) string {
	found := model
	for _, name := range slices.Sorted(maps.Keys(c.Models)) {
		if m := c.Models[name]; m.Provider+":"+m.Model == model && (found == model || name == c.Model) {
			found = name
		}
	}
	return found
}

// Agent returns the limits as the agent wants them, where 0 is its own default; those defaults are the same.
func (l Limits) Agent() loop.Limits {
	return loop.Limits{
		MaxTurns: l.MaxTurns, MaxCalls: l.MaxCalls, MaxResponseTokens: l.MaxResponseTokens, MaxTokens: int64(l.MaxTokens),
		MaxCost: l.MaxCost, MaxWallTime: l.MaxWallTime, MaxOutput: int64(l.MaxOutput), MaxFailures: l.MaxFailures,
		MaxTimeouts: l.MaxTimeouts, MaxRepeats: l.MaxRepeats,
	}
}

// People returns who can be asked, where somebody being there, as far as the program can see, is present.
func (a Approvals) People(present bool) loop.People {
	return loop.People{
		Attended:   a.Headless == "never" || a.Headless == "auto" && present,
		Expiry:     a.Expiry,
		AskOutcome: a.UnknownOutcome == "ask",
	}
}

// Window returns when the conversations of a model are made smaller that can read so many tokens; 0 is the usual number.
func (c Compaction) Window(tokens int64) loop.Window {
	return loop.Window{Tokens: tokens, ClearAt: c.ClearAt, SummarizeAt: c.SummarizeAt, Keep: c.Keep}
}

// SubRunLevels returns SubRuns as the agent wants it, where 0 is its own default.
func (c *Config) SubRunLevels() int {
	if c.SubRuns == 0 {
		return -1
	}
	return c.SubRuns
}

// ToolChoices returns what the model is offered for each kind of task.
func (c *Config) ToolChoices() map[string]loop.ToolChoice {
	choices := make(map[string]loop.ToolChoice, len(c.Kinds))
	for name, k := range c.Kinds {
		choices[name] = loop.ToolChoice{
			Names: k.Names, Categories: k.Categories, Tags: k.Tags, Dangerous: k.Dangerous, MaxCostPerUse: k.MaxCostPerUse, MaxTools: k.MaxTools,
		}
	}
	return choices
}

// EffectsAllowed returns, by tool, the keys that effects may change although they were set when the run started.
func (c *Config) EffectsAllowed() map[string][]string {
	allowed := make(map[string][]string, len(c.Tools))
	for name, t := range c.Tools {
		if len(t.Effects) > 0 {
			allowed[name] = t.Effects
		}
	}
	return allowed
}

// SystemToolPlugins returns the plugins whose tools replace agentd's own, by the names of the tools.
func (c *Config) SystemToolPlugins() map[string]string {
	plugins := make(map[string]string)
	for name, t := range c.Tools {
		if t.Plugin != "" {
			plugins[name] = t.Plugin
		}
	}
	return plugins
}

// NoKind returns the error that a name is none of Kinds.
func (c *Config) NoKind(name string) error {
	return fmt.Errorf("%q is no name of kinds in the configuration; %s", name, listed(c.Kinds))
}

// OfferedSystemTools returns the agent's own tools that the model is offered.
func (c *Config) OfferedSystemTools() []string {
	if c.SystemTools == nil {
		return []string{loop.SystemAskUser}
	}
	return c.SystemTools
}
