package agentconfig

import (
	"time"

	"github.com/toolhost/toolhost/internal/yamldoc"
)

// The structs of this file are the one source of what agentd.yaml may say. The comment of a field is its documentation,
// in docs/agentd.md too; package settings says what the tags mean.

// Config is a whole agentd.yaml. It comes from Default, Parse or Load, which fill in each field; the zero Config means
// nothing. It is a value without locks: do not change it while others read it.
type Config struct {
	// Where clients of `agentd serve` connect: `unix:///PATH`, `127.0.0.1:PORT` or `[::1]:PORT`.
	Listen string `yaml:"listen" is:"address" unset:"this user's socket, $XDG_RUNTIME_DIR/agentd/agentd.sock"`
	// Whether `listen` may be a TCP port. Whatever user or program of this machine can then start runs and decide for you, and
	// nothing says which one it is.
	Insecure bool `yaml:"insecure" default:"false"`
	// Where the toolhost is whose tools are called.
	Toolhost string `yaml:"toolhost" is:"address" unset:"TOOLHOST_ADDR, else this user's socket"`
	// The folder for what outlives the process.
	State string `yaml:"state" is:"folder" unset:"$XDG_STATE_HOME/toolhost"`
	// The file that keeps the runs.
	Journal string `yaml:"journal" is:"file" unset:"runs.db in the folder that state names"`
	// What `agentd serve` prints to standard error.
	Log Log `yaml:"log"`
	// The model that is asked: a name of `models`, or `anthropic:NAME`, `openai:NAME` or `scripted:FILE`.
	Model string `yaml:"model" unset:"the key in the environment chooses"`
	// Models by names of your own, with where they are and what they cost.
	Models map[string]Model `yaml:"models"`
	// Instructions for the model before the conversation.
	SystemPrompt string `yaml:"system_prompt" unset:"a short one of agentd's own"`
	// Whether a run ends well only when the model says with `attempt_completion` that it is done. Holds for runs
	// that do not say it themselves; those of `agentd chat` never end so.
	ExplicitCompletion bool `yaml:"explicit_completion" default:"false"`
	// agentd's own tools that the model is offered, besides those that a run cannot do without. `ask_user` is offered only
	// where somebody can be asked.
	SystemTools []string `yaml:"system_tools" is:"tool" oneof:"ask_user,attempt_completion,new_task,compact_conversation,tool_search" hint:"write a list of names" unset:"ask_user"`
	// The kind of task that `agentd run` and `agentd chat` have if --kind does not say another: a name of `kinds`. Other runs
	// say it themselves.
	Kind string `yaml:"kind" unset:"all tools are offered"`
	// Kinds of tasks by names of your own, with the tools that the model is offered for them.
	Kinds map[string]Kind `yaml:"kinds"`
	// The bounds of a run.
	Limits Limits `yaml:"limits"`
	// How many runs may be at work at the same time. Others wait for their turn; sub-runs, and runs that wait for nothing but
	// a person, do not count.
	MaxRuns int `yaml:"max_runs" default:"1000" min:"1" max:"1000000"`
	// How long a model may say nothing before its response counts as broken and is asked for again.
	ModelIdle time.Duration `yaml:"model_idle" default:"5m" min:"1s"`
	// How many levels of sub-runs there may be below a run.
	SubRuns int `yaml:"sub_runs" default:"2" zero:"none" min:"1" max:"100"`
	// What holds of single tools, by their names.
	Tools map[string]Tool `yaml:"tools"`
	// What people are asked.
	Approvals Approvals `yaml:"approvals"`
	// When conversations are made smaller, before the model cannot read them any more.
	Compaction Compaction `yaml:"compaction"`
}

// Tool is what an operator says about one tool.
type Tool struct {
	// The plugin whose tool of this name replaces agentd's own tool `ask_user`, `attempt_completion`, `new_task`,
	// `compact_conversation` or `tool_search`. A plugin's tool with such a name is not offered otherwise.
	Plugin string `yaml:"plugin" is:"name" unset:"agentd's own tool is used"`
	// The keys of a run's context that the tool's effects may change although they were set when the run started. The tool has to
	// declare them in `effect_keys` as well.
	Effects []string `yaml:"effects" is:"key" hint:"write a list of keys of the context" unset:"none"`
}

// Compaction is when conversations are made smaller: first old results are cleared, then what was said is summed up.
type Compaction struct {
	// The part of the model's window from which on old results are cleared.
	ClearAt float64 `yaml:"clear_at" default:"0.5" min:"0.01" max:"1"`
	// The part of the model's window from which on the conversation is summed up.
	SummarizeAt float64 `yaml:"summarize_at" default:"0.8" min:"0.01" max:"1"`
	// How many of the last responses stay as they are, with their results.
	Keep int `yaml:"keep" default:"3" min:"1" max:"1000"`
}

// Log is what `agentd serve` prints to standard error.
type Log struct {
	// The least level that is printed.
	Level string `yaml:"level" default:"info" oneof:"debug,info,warn,error"`
	// The form of a line.
	Format string `yaml:"format" default:"text" oneof:"text,json"`
}

// Model is where a model is and what it costs.
type Model struct {
	// Whose API the model has. Anything that is compatible with OpenAI's is `openai`, with a `base_url`.
	Provider string `yaml:"provider" required:"true" oneof:"anthropic,openai,scripted"`
	// The name of the model, as its provider calls it; of a scripted one the file.
	Model string `yaml:"model" required:"true"`
	// The URL of the API.
	BaseURL string `yaml:"base_url" unset:"the provider's own"`
	// The variable of agentd's environment that holds the key.
	APIKeyEnv string `yaml:"api_key_env" unset:"ANTHROPIC_API_KEY or OPENAI_API_KEY"`
	// How many tokens it can read and write at once.
	Window int `yaml:"window" default:"128000" min:"1000" max:"100000000"`
	// How many tokens it may think for one response, beside those that it writes. For models of Anthropic.
	Thinking int `yaml:"thinking" default:"off" zero:"off" min:"1024" max:"1000000"`
	// What its tokens cost, which `limits.max_cost` needs.
	Price Price `yaml:"price"`
}

// Price is what a million tokens cost, in whatever currency the budgets are in. What is nil is not set. Either Input and
// Output are set, or all is nil.
type Price struct {
	// Tokens that the model reads.
	Input *float64 `yaml:"input" min:"0" max:"1000000" unset:"nobody knows what the model costs"`
	// Tokens that the model writes.
	Output *float64 `yaml:"output" min:"0" max:"1000000" unset:"nobody knows what the model costs"`
	// Tokens that the model reads from the provider's cache.
	CacheRead *float64 `yaml:"cache_read" min:"0" max:"1000000" unset:"as input"`
	// Tokens that the model reads, and that are written into the provider's cache.
	CacheWrite *float64 `yaml:"cache_write" min:"0" max:"1000000" unset:"as input"`
}

// Kind is what the model is offered for a kind of task. A tool has to fit every key that is given; without any, all tools do.
type Kind struct {
	// The names of the tools.
	Names []string `yaml:"names" is:"tool" hint:"write a list of names"`
	// Tools of one of these categories.
	Categories []string `yaml:"categories" is:"tag" hint:"write a list of categories"`
	// Tools with at least one of these tags.
	Tags []string `yaml:"tags" is:"tag" hint:"write a list of tags"`
	// Whether the tools are dangerous.
	Dangerous *bool `yaml:"dangerous" unset:"both"`
	// What a use of a tool may cost, in the unit that all tools use.
	MaxCostPerUse *float64 `yaml:"max_cost_per_use" min:"0" max:"1000000000" unset:"any cost"`
	// How many tools the model is told of at a time; it finds the others with `tool_search`.
	MaxTools int `yaml:"max_tools" default:"40" min:"1" max:"10000"`
}

// Limits are the bounds of a run. 0: unlimited; of MaxResponseTokens: auto. What is counted is counted anew from each
// message that makes a finished run go on.
type Limits struct {
	// How many responses the model may give.
	MaxTurns int `yaml:"max_turns" default:"100" min:"1" max:"1000000"`
	// How many tool calls may be made.
	MaxCalls int `yaml:"max_calls" default:"1000" min:"1" max:"1000000"`
	// How many tokens the model may write in one response; `auto` is the model's own bound. It is raised once where a response
	// is cut.
	MaxResponseTokens int `yaml:"max_response_tokens" default:"auto" zero:"auto" min:"1" max:"10000000"`
	// How many tokens, read and written, the model and the tools may use.
	MaxTokens int `yaml:"max_tokens" default:"unlimited" zero:"unlimited" min:"1" max:"1000000000000"`
	// What the model and the tools may cost, in the currency of the prices. The model needs a price; tools cost what they report or
	// declare as `cost_per_use`, also where they fail. The call that reaches the bound is the last one.
	MaxCost float64 `yaml:"max_cost" default:"unlimited" zero:"unlimited" min:"0.000001" max:"1000000000"`
	// How long a run may be at work. Time in which it waits for nothing but a person does not count.
	MaxWallTime time.Duration `yaml:"max_wall_time" default:"unlimited" zero:"unlimited" min:"1s"`
	// How much text the tools may return in all.
	MaxOutput yamldoc.Size `yaml:"max_output" default:"unlimited" zero:"unlimited" min:"1KiB"`
	// How many calls may fail in a row.
	MaxFailures int `yaml:"max_failures" default:"20" min:"1" max:"1000000"`
	// How often in a row one tool may time out before the run pauses.
	MaxTimeouts int `yaml:"max_timeouts" default:"3" min:"1" max:"1000000"`
	// How many results in a row may be such as the run has had before, for the same tool and arguments.
	MaxRepeats int `yaml:"max_repeats" default:"10" min:"1" max:"1000000"`
}

// Approvals is what people are asked, and what becomes of it if nobody responds.
type Approvals struct {
	// Whether there is nobody to ask: whatever would need a person is a no then, and the model is told so. With `auto` that is
	// so for `agentd run` and `agentd resume` without a terminal; runs of `agentd serve` wait for `agentd respond`.
	Headless string `yaml:"headless" default:"auto" oneof:"auto,always,never"`
	// How long a decision waits before it counts as a no.
	Expiry time.Duration `yaml:"expiry" default:"24h" min:"1s"`
	// What follows when nobody knows how a call with side effects ended: `go_on` tells the model, which decides; `ask` lets a
	// person decide.
	UnknownOutcome string `yaml:"unknown_outcome" default:"go_on" oneof:"go_on,ask"`
}
