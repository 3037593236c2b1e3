package agentconfig

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
)

// Agent is a named agent: what a run has that names it. Without a key, the run has what the key of
// the whole file says.
type Agent struct {
	// What the agent is for. Models that may delegate to it read this.
	Description string `yaml:"description" unset:"none"`
	// The instructions for the model. `${context.KEY}` is the value of a key of the run's initial
	// context, and `$${` is the text `${`. A run without a value for such a key is refused.
	Instructions string `yaml:"instructions" unset:"as system_prompt"`
	// The file with the instructions, instead of `instructions`.
	InstructionsFile string `yaml:"instructions_file" is:"file" unset:"as system_prompt"`
	// Memory files of the agent, in addition to those of `memory` of the file and in the same form.
	Memory []string `yaml:"memory" is:"memory file" hint:"write a list of files" unset:"none"`
	// The model: a name of `models`, or `anthropic:NAME`, `openai:NAME`, `openai-responses:NAME`,
	// `gemini:NAME` or `scripted:FILE`.
	Model string `yaml:"model" unset:"as model of the file"`
	// The models that get a request if `model` is overloaded, if the conversation is too long for it,
	// or if the provider refuses the key or has no such model, in order.
	Fallbacks []string `yaml:"fallbacks" is:"model" hint:"write a list of models" unset:"none"`
	// How random the model's choice of words is.
	Temperature *float64 `yaml:"temperature" min:"0" max:"2" unset:"the provider's default"`
	// The part of the probability from which the model chooses its words.
	TopP *float64 `yaml:"top_p" min:"0" max:"1" unset:"the provider's default"`
	// How much a reasoning model thinks.
	Effort string `yaml:"effort" oneof:"none,low,medium,high" unset:"the provider's default"`
	// The tools that the model gets.
	Tools Selection `yaml:"tools"`
	// agentd's own tools that the model gets, as the key `system_tools` of the file. An agent that
	// delegates gets `new_task` too.
	SystemTools []string `yaml:"system_tools" is:"tool" oneof:"ask_user,attempt_completion,new_task,compact_conversation,tool_search" hint:"write a list of names" unset:"as system_tools of the file"`
	// Whether the descriptions of tools have statistics, as the key `tool_statistics` of the file.
	ToolStatistics string `yaml:"tool_statistics" oneof:"none,tenant,all" unset:"as tool_statistics of the file"`
	// The bounds of a run.
	Limits AgentLimits `yaml:"limits"`
	// The agents to which the agent may delegate: `new_task` has to name one of them.
	DelegatesTo []string `yaml:"delegates_to" is:"agent" hint:"write a list of names of agents" unset:"none"`
	// The most levels of sub-runs below a run. 0: none.
	SubRuns *int `yaml:"sub_runs" min:"0" max:"100" unset:"as sub_runs of the file"`
	// Whether a run succeeds only if the model calls `attempt_completion`.
	ExplicitCompletion *bool `yaml:"explicit_completion" unset:"as explicit_completion of the file"`
	// The file with the response schema of the agent's runs and sub-runs, as JSON. A caller needs the
	// right `runs.customize` for another schema.
	ResponseSchemaFile string `yaml:"response_schema_file" is:"file" unset:"the answer is text"`
}

// Selection selects tools. A tool has to match every key that is set. Without a key, all tools
// match.
type Selection struct {
	// The names of the tools.
	Names []string `yaml:"names" is:"tool" hint:"write a list of names"`
	// Tools of one of these categories.
	Categories []string `yaml:"categories" is:"tag" hint:"write a list of categories"`
	// Tools with at least one of these tags.
	Tags []string `yaml:"tags" is:"tag" hint:"write a list of tags"`
	// Tools of one of these plugins.
	Plugins []string `yaml:"plugins" is:"plugin" hint:"write a list of plugins"`
	// The names of tools that the model never gets.
	Excluded []string `yaml:"excluded" is:"tool" hint:"write a list of names"`
	// Whether the tools are dangerous.
	Dangerous *bool `yaml:"dangerous" unset:"both"`
	// The highest cost of one use of a tool, in the unit of all tools.
	MaxCostPerUse *float64 `yaml:"max_cost_per_use" min:"0" max:"1000000000" unset:"any cost"`
	// The most tools that a request describes to the model; it finds the others with `tool_search`.
	MaxTools int `yaml:"max_tools" default:"40" min:"1" max:"10000"`
}

// AgentLimits are the bounds of a run of an agent, with the meanings of `limits`. A caller needs
// the right `runs.customize` for higher ones.
type AgentLimits struct {
	// The most responses of the model.
	MaxTurns int `yaml:"max_turns" min:"1" max:"1000000" unset:"as limits"`
	// The most tool calls.
	MaxCalls int `yaml:"max_calls" min:"1" max:"1000000" unset:"as limits"`
	// The most tokens of one response.
	MaxResponseTokens int `yaml:"max_response_tokens" min:"1" max:"10000000" unset:"as limits"`
	// The most tokens, read and written, of the model and the tools.
	MaxTokens int `yaml:"max_tokens" min:"1" max:"1000000000000" unset:"as limits"`
	// The highest cost of the model and the tools. It requires the prices of the model, of the
	// fallbacks, and of the models of the agents to which the agent delegates.
	MaxCost float64 `yaml:"max_cost" min:"0.000001" max:"1000000000" unset:"as limits"`
	// How long a run may work.
	MaxWallTime time.Duration `yaml:"max_wall_time" min:"1s" unset:"as limits"`
	// The most text of all tool results.
	MaxOutput yamldoc.Size `yaml:"max_output" min:"1KiB" unset:"as limits"`
	// The most calls that fail in a row.
	MaxFailures int `yaml:"max_failures" min:"1" max:"1000000" unset:"as limits"`
	// How often in a row one tool may time out before the run pauses.
	MaxTimeouts int `yaml:"max_timeouts" min:"1" max:"1000000" unset:"as limits"`
	// The most results in a row that repeat an earlier result of the same tool and arguments.
	MaxRepeats int `yaml:"max_repeats" min:"1" max:"1000000" unset:"as limits"`
}

// Agent returns the limits in the form of the agent.
func (l AgentLimits) Agent() loop.Limits { return Limits(l).Agent() }

// Choice returns the selection in the form of the agent.
func (s Selection) Choice() loop.ToolChoice {
	return loop.ToolChoice{
		Names: s.Names, Categories: s.Categories, Tags: s.Tags, Plugins: s.Plugins, Excluded: s.Excluded, Dangerous: s.Dangerous,
		MaxCostPerUse: s.MaxCostPerUse, MaxTools: s.MaxTools,
	}
}

// Models returns the names of the agent's models, the first one first. It returns none for the
// default model without fallbacks.
func (a *Agent) Models() []string {
	if a.Model == "" && len(a.Fallbacks) == 0 {
		return nil
	}
	return append([]string{a.Model}, a.Fallbacks...)
}

// Named returns the agent in the form of the agent, without its memory files. file is the content
// of the file with instructions that the agent names, if it names one.
func (a *Agent) Named(file string) (agent.NamedAgent, error) {
	n := agent.NamedAgent{
		Description: a.Description, Models: a.Models(), Tools: a.Tools.Choice(), SystemTools: a.SystemTools, Limits: a.Limits.Agent(),
		Sampling:  model.Sampling{Temperature: a.Temperature, TopP: a.TopP, Effort: model.Effort(a.Effort)},
		Delegates: a.DelegatesTo, ExplicitCompletion: a.ExplicitCompletion,
		ToolStatistics: agent.ToolStatistics(a.ToolStatistics),
	}
	if a.SubRuns != nil {
		if n.SubRuns = *a.SubRuns; n.SubRuns == 0 {
			n.SubRuns = -1
		}
	}
	text := a.Instructions
	if a.InstructionsFile != "" {
		text = file
	}
	if text == "" {
		return n, nil
	}
	in, err := agent.ParseInstructions(text)
	n.Instructions = &in
	return n, err
}

// NamedModels returns the names of all models that runs can name: those of Models, and those that
// agents name as PROVIDER:NAME.
func (c *Config) NamedModels() []string {
	names := slices.Collect(maps.Keys(c.Models))
	for _, a := range c.Agents {
		for _, name := range a.Models() {
			if name != "" {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// NoAgent returns the error for a name that Agents does not have.
func (c *Config) NoAgent(name string) error {
	return fmt.Errorf("%q is no name of agents in the configuration; %s", name, listed(c.Agents))
}

var agentName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// checkAgents reports what is wrong with the named agents.
func checkAgents(d *yamldoc.Decoder, c *Config) {
	if at, given := d.At["agent"]; given && !d.Failed("agent") {
		if _, known := c.Agents[c.Agent]; !known {
			d.Fail(at, "agent", "%q is not a name of agents; %s", c.Agent, listed(c.Agents))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		a := c.Agents[name]
		checkAgent(d, c, yamldoc.Join("agents", yamldoc.ShownKey(name)), name, &a)
	}
}

func checkAgent(d *yamldoc.Decoder, c *Config, parent, name string, a *Agent) {
	fail := func(key, format string, args ...any) {
		full := yamldoc.Join(parent, key)
		list, _, _ := strings.Cut(full, "[") // an element has the place of its list
		if !d.Failed(full) {
			d.Fail(d.At[list], full, format, args...)
		}
	}
	if !agentName.MatchString(name) {
		d.Fail(d.At[parent], parent, "the name of an agent has 1 to 64 of the characters A-Z a-z 0-9 _ -")
	}
	if a.Instructions != "" && a.InstructionsFile != "" {
		fail("instructions_file", "there are instructions already; give the text or the file")
	}
	if _, err := agent.ParseInstructions(a.Instructions); err != nil {
		fail("instructions", "%v", err)
	}
	if a.Model != "" && !c.hasModel(a.Model) {
		fail("model", "%q is not a name of models; %s, or write %s", a.Model, listed(c.Models), forms)
	}
	for i, name := range a.Fallbacks {
		switch key := fmt.Sprintf("fallbacks[%d]", i); {
		case !c.hasModel(name):
			fail(key, "%q is not a name of models; %s, or write %s", name, listed(c.Models), forms)
		case name == a.Model || slices.Contains(a.Fallbacks[:i], name):
			fail(key, "the agent has the model %q already", name)
		}
	}
	checkMemory(a.Memory, fail)
	for i, name := range a.DelegatesTo {
		key := fmt.Sprintf("delegates_to[%d]", i)
		if _, known := c.Agents[name]; !known {
			fail(key, "%q is not a name of agents; %s", name, listed(c.Agents))
		} else if slices.Contains(a.DelegatesTo[:i], name) {
			fail(key, "the agent %s is in the list already", name)
		}
	}
	if a.SubRuns != nil && *a.SubRuns == 0 && len(a.DelegatesTo) > 0 {
		fail("sub_runs", "the agent delegates, which needs at least 1 level of sub-runs")
	}
	if a.Limits.MaxCost > 0 && len(d.Errs) == 0 {
		if without := c.unpriced(name, map[string]bool{}); without != "" {
			fail("limits.max_cost", "a run of this agent may use the model %s, whose price is unknown; set models.NAME.price", without)
		}
	}
}

// hasModel reports whether a name is one of models, or a model as PROVIDER:NAME.
func (c *Config) hasModel(name string) bool {
	_, known := c.Models[name]
	return known || strings.Contains(name, ":")
}

// unpriced returns a model without a price that a run of an agent may use, or its sub-runs. Empty
// means that there is none.
func (c *Config) unpriced(name string, seen map[string]bool) string {
	if seen[name] {
		return ""
	}
	seen[name] = true
	a := c.Agents[name]
	models := a.Models()
	if len(models) == 0 || models[0] == "" {
		models = append(models[:0:0], c.Model)
		models = append(models, a.Fallbacks...)
	}
	for _, m := range models {
		if c.Models[m].Price.Input == nil {
			if m == "" {
				return "of the file"
			}
			return m
		}
	}
	for _, delegate := range a.DelegatesTo {
		if found := c.unpriced(delegate, seen); found != "" {
			return found
		}
	}
	return ""
}
