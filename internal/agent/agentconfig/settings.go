package agentconfig

import (
	"time"

	"github.com/toolhost/toolhost/internal/yamldoc"
)

// The structs of this file define agentd.yaml. The comment of a field is its documentation, also in
// docs/agentd.md. Package yamldoc documents the tags.

// Config is a whole agentd.yaml. Default, Parse and Load return one with every field set; the zero
// Config is not usable. It is a plain value: do not change it while another goroutine reads it.
type Config struct {
	// The address for clients of `agentd serve`: `unix:///PATH`, `127.0.0.1:PORT` or `[::1]:PORT`.
	Listen string `yaml:"listen" is:"address" unset:"this user's socket, $XDG_RUNTIME_DIR/agentd/agentd.sock"`
	// Allows a TCP port in `listen`. Every user and program on the machine can then start runs and
	// decide for you, and agentd cannot tell them apart.
	Insecure bool `yaml:"insecure" default:"false"`
	// The address of the toolhost whose tools agentd calls.
	Toolhost string `yaml:"toolhost" is:"address" unset:"TOOLHOST_ADDR, else this user's socket"`
	// The folder for data that outlives the process.
	State string `yaml:"state" is:"folder" unset:"$XDG_STATE_HOME/toolhost"`
	// The file that stores the runs.
	Journal string `yaml:"journal" is:"file" unset:"runs.db in the folder that state names"`
	// What `agentd serve` prints to standard error.
	Log Log `yaml:"log"`
	// The model: a name of `models`, or `anthropic:NAME`, `openai:NAME` or `scripted:FILE`.
	Model string `yaml:"model" unset:"depends on the key in the environment"`
	// Models under names of your choice, with their addresses and prices.
	Models map[string]Model `yaml:"models"`
	// Instructions for the model before the conversation.
	SystemPrompt string `yaml:"system_prompt" unset:"a short default"`
	// Ends a run successfully only when the model calls `attempt_completion`. Applies to runs that
	// do not set it. Runs of `agentd chat` never end this way.
	ExplicitCompletion bool `yaml:"explicit_completion" default:"false"`
	// agentd's own tools that the model gets in addition to those that a run requires. The model
	// gets `ask_user` only if a person can answer.
	SystemTools []string `yaml:"system_tools" is:"tool" oneof:"ask_user,attempt_completion,new_task,compact_conversation,tool_search" hint:"write a list of names" unset:"ask_user"`
	// The default kind of task of `agentd run` and `agentd chat`: a name of `kinds`. The flag
	// --kind has precedence. Other runs name their kind.
	Kind string `yaml:"kind" unset:"all tools are offered"`
	// Kinds of tasks under names of your choice, with the tools that the model gets for each.
	Kinds map[string]Kind `yaml:"kinds"`
	// The bounds of a run.
	Limits Limits `yaml:"limits"`
	// The most runs that work at the same time; others wait. Sub-runs, and runs that only wait for
	// a person, do not count.
	MaxRuns int `yaml:"max_runs" default:"1000" min:"1" max:"1000000"`
	// How long a model may send nothing. After that agentd treats the response as broken and
	// repeats the request.
	ModelIdle time.Duration `yaml:"model_idle" default:"5m" min:"1s"`
	// The most levels of sub-runs below a run.
	SubRuns int `yaml:"sub_runs" default:"2" zero:"none" min:"1" max:"100"`
	// Settings of single tools, by their names.
	Tools map[string]Tool `yaml:"tools"`
	// What agentd asks people.
	Approvals Approvals `yaml:"approvals"`
	// When agentd shortens conversations, so that they fit into the model's window.
	Compaction Compaction `yaml:"compaction"`
}

// Tool are the operator's settings of one tool.
type Tool struct {
	// The plugin whose tool of this name replaces agentd's own tool `ask_user`,
	// `attempt_completion`, `new_task`, `compact_conversation` or `tool_search`. Without this key,
	// the model does not get a plugin's tool with such a name.
	Plugin string `yaml:"plugin" is:"name" unset:"agentd's own tool is used"`
	// The keys of a run's context that effects of the tool may change although the run was started
	// with values for them. The tool has to declare them in `effect_keys` too.
	Effects []string `yaml:"effects" is:"key" hint:"write a list of keys of the context" unset:"none"`
}

// Compaction configures when agentd shortens conversations. It first clears old results, and later
// summarizes the conversation.
type Compaction struct {
	// The part of the model's window at which agentd clears old results.
	ClearAt float64 `yaml:"clear_at" default:"0.5" min:"0.01" max:"1"`
	// The part of the model's window at which agentd summarizes the conversation.
	SummarizeAt float64 `yaml:"summarize_at" default:"0.8" min:"0.01" max:"1"`
	// How many of the last responses stay unchanged, with their results.
	Keep int `yaml:"keep" default:"3" min:"1" max:"1000"`
}

// Log configures what `agentd serve` prints to standard error.
type Log struct {
	// The lowest level that is printed.
	Level string `yaml:"level" default:"info" oneof:"debug,info,warn,error"`
	// The format of a line.
	Format string `yaml:"format" default:"text" oneof:"text,json"`
}

// Model configures the address and the price of a model.
type Model struct {
	// The API of the model. For an API that is compatible with OpenAI's, `openai` with a
	// `base_url`.
	Provider string `yaml:"provider" required:"true" oneof:"anthropic,openai,scripted"`
	// The provider's name of the model; the file of a scripted model.
	Model string `yaml:"model" required:"true"`
	// The URL of the API.
	BaseURL string `yaml:"base_url" unset:"the provider's own"`
	// The variable of agentd's environment that holds the key.
	APIKeyEnv string `yaml:"api_key_env" unset:"ANTHROPIC_API_KEY or OPENAI_API_KEY"`
	// How many tokens the model can read and write at once.
	Window int `yaml:"window" default:"128000" min:"1000" max:"100000000"`
	// How many tokens the model may think for one response, in addition to its output. Only for
	// models of Anthropic.
	Thinking int `yaml:"thinking" default:"off" zero:"off" min:"1024" max:"1000000"`
	// The price of its tokens, which `limits.max_cost` requires.
	Price Price `yaml:"price"`
}

// Price is the price of a million tokens, in the currency of the budgets. nil means that a price is
// not set. Either Input and Output are set, or every field is nil.
type Price struct {
	// Tokens that the model reads.
	Input *float64 `yaml:"input" min:"0" max:"1000000" unset:"the cost is unknown"`
	// Tokens that the model writes.
	Output *float64 `yaml:"output" min:"0" max:"1000000" unset:"the cost is unknown"`
	// Tokens that the model reads from the provider's cache.
	CacheRead *float64 `yaml:"cache_read" min:"0" max:"1000000" unset:"as input"`
	// Tokens that the model reads and the provider writes into its cache.
	CacheWrite *float64 `yaml:"cache_write" min:"0" max:"1000000" unset:"as input"`
}

// Kind selects the tools that the model gets for a kind of task. A tool has to match every key that
// is set. Without a key, all tools match.
type Kind struct {
	// The names of the tools.
	Names []string `yaml:"names" is:"tool" hint:"write a list of names"`
	// Tools of one of these categories.
	Categories []string `yaml:"categories" is:"tag" hint:"write a list of categories"`
	// Tools with at least one of these tags.
	Tags []string `yaml:"tags" is:"tag" hint:"write a list of tags"`
	// Whether the tools are dangerous.
	Dangerous *bool `yaml:"dangerous" unset:"both"`
	// The highest cost of one use of a tool, in the unit of all tools.
	MaxCostPerUse *float64 `yaml:"max_cost_per_use" min:"0" max:"1000000000" unset:"any cost"`
	// The most tools that a request describes to the model; it finds the others with `tool_search`.
	MaxTools int `yaml:"max_tools" default:"40" min:"1" max:"10000"`
}

// Limits are the bounds of a run. 0: unlimited; for MaxResponseTokens: auto. A message that
// continues a finished run resets all counts.
type Limits struct {
	// The most responses of the model.
	MaxTurns int `yaml:"max_turns" default:"100" min:"1" max:"1000000"`
	// The most tool calls.
	MaxCalls int `yaml:"max_calls" default:"1000" min:"1" max:"1000000"`
	// The most tokens of one response; `auto` is the model's own bound. If the bound cuts a
	// response, agentd raises it once.
	MaxResponseTokens int `yaml:"max_response_tokens" default:"auto" zero:"auto" min:"1" max:"10000000"`
	// The most tokens, read and written, of the model and the tools.
	MaxTokens int `yaml:"max_tokens" default:"unlimited" zero:"unlimited" min:"1" max:"1000000000000"`
	// The highest cost of the model and the tools, in the currency of the prices. It requires a
	// price of the model. The cost of a tool is what it reports, or its declared `cost_per_use`,
	// also if it fails. The call that reaches the bound is the last one.
	MaxCost float64 `yaml:"max_cost" default:"unlimited" zero:"unlimited" min:"0.000001" max:"1000000000"`
	// How long a run may work. Time in which it only waits for a person does not count.
	MaxWallTime time.Duration `yaml:"max_wall_time" default:"unlimited" zero:"unlimited" min:"1s"`
	// The most text of all tool results.
	MaxOutput yamldoc.Size `yaml:"max_output" default:"unlimited" zero:"unlimited" min:"1KiB"`
	// The most calls that fail in a row.
	MaxFailures int `yaml:"max_failures" default:"20" min:"1" max:"1000000"`
	// How often in a row one tool may time out before the run pauses.
	MaxTimeouts int `yaml:"max_timeouts" default:"3" min:"1" max:"1000000"`
	// The most results in a row that repeat an earlier result of the same tool and arguments.
	MaxRepeats int `yaml:"max_repeats" default:"10" min:"1" max:"1000000"`
}

// Approvals configures what agentd asks people, and what it does without an answer.
type Approvals struct {
	// Whether no person can answer. Then agentd denies everything that needs a person, and tells
	// the model. `auto` means so for `agentd run` and `agentd resume` without a terminal; runs of
	// `agentd serve` wait for `agentd respond`.
	Headless string `yaml:"headless" default:"auto" oneof:"auto,always,never"`
	// How long agentd waits for a decision before it counts as a denial.
	Expiry time.Duration `yaml:"expiry" default:"24h" min:"1s"`
	// What agentd does if the outcome of a call with side effects is unknown: `go_on` tells the
	// model, which decides; `ask` asks a person.
	UnknownOutcome string `yaml:"unknown_outcome" default:"go_on" oneof:"go_on,ask"`
}
