package agentconfig

import (
	"time"

	"github.com/toolhost/toolhost/server/internal/access/authconfig"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/telemetry/telemetryconfig"
	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
)

// The structs of this file define agentd.yaml. The comment of a field is its documentation, also in
// docs/agentd.md. Package yamldoc documents the tags.

// Config is a whole agentd.yaml. Default, Parse and Load return one with every field set; the zero
// Config is not usable. It is a plain value: do not change it while another goroutine reads it.
type Config struct {
	// The address for clients of `agentd serve`: `unix:///PATH`, `127.0.0.1:PORT` or `[::1]:PORT`.
	Listen string `yaml:"listen" is:"address" unset:"this user's socket, $XDG_RUNTIME_DIR/agentd/agentd.sock" restart:"true"`
	// Allows a TCP port in `listen`. Every user and program on the machine can then start runs and
	// decide for you, and agentd cannot tell them apart.
	Insecure bool `yaml:"insecure" default:"false" deprecated:"a listener with admits under listeners" restart:"true"`
	// Further addresses for clients, with TLS or on loopback. The address of `listen` stays, unless
	// it is not given and one of these is a unix socket.
	Listeners []authconfig.Listener `yaml:"listeners" is:"listener" hint:"write each on separate lines, the first after a dash" restart:"true"`
	// What clients over TCP can take.
	Network authconfig.Network `yaml:"network" restart:"true"`
	// Chosen RPCs as JSON over HTTP, for programs without gRPC.
	HTTP authconfig.HTTP `yaml:"http" restart:"true"`
	// Where the other agentds of a database reach this one, to show their callers what the model is
	// writing in a run that is at work here.
	Nodes authconfig.Nodes `yaml:"nodes" restart:"true"`
	// Which callers may do what.
	Auth authconfig.Auth `yaml:"auth"`
	// The address of the toolhost whose tools agentd calls, or those of several that share a ledger,
	// separated by commas, or dns:///HOST:PORT for the addresses that DNS has.
	Toolhost string `yaml:"toolhost" is:"servers" unset:"TOOLHOST_ADDR, else this user's socket" restart:"true"`
	// The folder for data that outlives the process.
	State string `yaml:"state" is:"folder" unset:"$XDG_STATE_HOME/toolhost" restart:"true"`
	// The file that stores the runs, or the URL of a PostgreSQL database, without a password. Only
	// `agentd serve` works on runs in a database.
	Journal string `yaml:"journal" is:"file or database" unset:"runs.db in the folder that state names" restart:"true"`
	// What decides which agentd works on a run, of several with one database: `local`, each looks in
	// the database; `temporal`, Temporal has them try, and each looks there seldom.
	Engine string `yaml:"engine" default:"local" oneof:"local,temporal" restart:"true"`
	// Where Temporal is, for `engine: temporal`.
	Temporal Temporal `yaml:"temporal" restart:"true"`
	// How long `agentd serve` keeps finished runs. It deletes a run with its sub-runs, when it starts
	// and then once per hour.
	Runs Runs `yaml:"runs"`
	// The audit log of `agentd serve`: callers that were refused, and what people decided.
	Audit Audit `yaml:"audit" restart:"true"`
	// What `agentd serve` prints to standard error.
	Log Log `yaml:"log"`
	// Pages for browsers, on which people see what waits for a decision, and decide.
	Console Console `yaml:"console" restart:"true"`
	// What agentd tells others about itself: metrics and traces.
	Telemetry telemetryconfig.Settings `yaml:"telemetry"`
	// The model: a name of `models`, or `anthropic:NAME`, `openai:NAME`,
	// `openai-responses:NAME`, `gemini:NAME` or `scripted:FILE`.
	Model string `yaml:"model" unset:"the model of the agent that agent names, or else depends on the key in the environment"`
	// Models under names of your choice, with their addresses and prices.
	Models map[string]Model `yaml:"models"`
	// Instructions for the model before the conversation.
	SystemPrompt string `yaml:"system_prompt" unset:"a short default"`
	// Memory files: texts such as AGENTS.md that every run has in its instructions. A path is relative
	// to the folder of this file. `workspace:PATH` is a file of the workspace, which each run reads
	// when it starts; tools can write it, so the model gets it as data.
	Memory []string `yaml:"memory" is:"memory file" hint:"write a list of files" unset:"none"`
	// The size of the largest memory file. All files of a run have at most 256KiB together.
	MemoryMaxBytes yamldoc.Size `yaml:"memory_max_bytes" default:"64KiB" min:"1KiB" max:"256KiB"`
	// Whether the description of a tool tells the model how many of its calls of the last 7 days
	// failed and how long they took: calls of the run's own tenant, or of all tenants. The numbers are
	// rounded and stay the same during a run. agentd needs the right `stats.read` at toolhost.
	ToolStatistics string `yaml:"tool_statistics" default:"none" oneof:"none,tenant,all"`
	// Ends a run successfully only when the model calls `attempt_completion`. Applies to runs that
	// do not set it. Runs of `agentd chat` never end this way.
	ExplicitCompletion bool `yaml:"explicit_completion" default:"false"`
	// agentd's own tools that the model gets in addition to those that a run requires. The model
	// gets `ask_user` only if a person can answer.
	SystemTools []string `yaml:"system_tools" is:"tool" oneof:"ask_user,attempt_completion,new_task,compact_conversation,tool_search" hint:"write a list of names" unset:"ask_user, new_task and compact_conversation"`
	// The agent of runs that name none: a name of `agents`. The flag --agent has precedence.
	Agent string `yaml:"agent" unset:"none: all tools, and the settings of this file"`
	// Agents under names of your choice. A run names one of them.
	Agents map[string]Agent `yaml:"agents"`
	// The bounds of a run.
	Limits Limits `yaml:"limits"`
	// How much the runs of tenants and principals may use. A full quota refuses only its own tenant
	// or principal.
	Quotas Quotas `yaml:"quotas"`
	// The most runs that work at the same time; others wait. Sub-runs, and runs that only wait for
	// a person, do not count. Of several agentds with one database, each has its own.
	MaxRuns int `yaml:"max_runs" default:"1000" min:"1" max:"1000000" restart:"true"`
	// The most bytes of attachments that requests to models hold in memory at the same time; others
	// wait. An encoded request takes a few times as much.
	AttachmentMemory yamldoc.Size `yaml:"attachment_memory" default:"64MiB" min:"20MiB" max:"1TiB" restart:"true"`
	// How long a model may send nothing. After that agentd treats the response as broken and
	// repeats the request.
	ModelIdle time.Duration `yaml:"model_idle" default:"5m" min:"1s"`
	// The most levels of sub-runs below a run.
	SubRuns int `yaml:"sub_runs" default:"2" zero:"none" min:"1" max:"100"`
	// Settings of single tools, by their names.
	Tools map[string]Tool `yaml:"tools"`
	// What agentd asks people.
	Approvals Approvals `yaml:"approvals"`
	// What `agentd serve` tells people by messages, such as that a decision waits.
	Notify Notify `yaml:"notify"`
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

// Runs says which finished runs stay. A run that has not finished stays, and so does one with such
// a sub-run.
type Runs struct {
	// How long a finished run stays after the last event of it and its sub-runs.
	Keep time.Duration `yaml:"keep" default:"forever" zero:"forever" min:"1h"`
	// The most finished runs, without sub-runs. Beyond that, those that were started first go.
	MaxCount int `yaml:"max_count" default:"unlimited" zero:"unlimited" min:"1" max:"100000000"`
}

// Agent returns the retention in the form of the agent.
func (r Runs) Agent() agent.Retention { return agent.Retention{Keep: r.Keep, MaxCount: r.MaxCount} }

// Log configures what `agentd serve` prints to standard error.
type Log struct {
	// The lowest level that is logged.
	Level string `yaml:"level" default:"info" oneof:"debug,info,warn,error"`
	// Other levels for subsystems, such as `{models: debug, tools: warn}`.
	Levels map[string]string `yaml:"levels" keys:"subsystem" oneof:"debug,info,warn,error" unset:"every subsystem has the level of level" hint:"a mapping from subsystems to levels"`
	// The form of a record: text for people, or one line of JSON.
	Format string `yaml:"format" default:"text" oneof:"text,json" restart:"true"`
}

// Model configures the address and the price of a model.
type Model struct {
	// The API of the model. For an API that is compatible with OpenAI's, `openai` with a
	// `base_url`.
	Provider string `yaml:"provider" required:"true" oneof:"anthropic,openai,openai-responses,gemini,scripted"`
	// The provider's name of the model; the file of a scripted model.
	Model string `yaml:"model" required:"true"`
	// The URL of the API.
	BaseURL string `yaml:"base_url" unset:"the provider's own"`
	// The variable of agentd's environment that holds the key.
	APIKeyEnv string `yaml:"api_key_env" unset:"ANTHROPIC_API_KEY, OPENAI_API_KEY, or GOOGLE_API_KEY and GEMINI_API_KEY"`
	// How many tokens the model can read and write at once.
	Window int `yaml:"window" default:"128000" min:"1000" max:"100000000"`
	// How many tokens the model may think for one response, in addition to its output. Only for
	// models of Anthropic.
	Thinking int `yaml:"thinking" default:"off" zero:"off" min:"1024" max:"1000000"`
	// How the model calls tools: `native`, by the API; `text`, in a form that agentd reads from the
	// model's text. `text` is for models and servers without function calling.
	Tools string `yaml:"tools" default:"native" oneof:"native,text"`
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

// Audit configures the audit log.
type Audit struct {
	// The path of the file. agentd only appends to it. If another program rotates it, that program
	// moves the file away and sends agentd a hangup signal: agentd begins a new file.
	File string `yaml:"file" is:"file" unset:"agentd-audit.jsonl in the folder that state names"`
	// The size from which agentd goes on in a new file. The former file stays beside it, with the
	// time and the number of its last line in its name.
	MaxBytes yamldoc.Size `yaml:"max_bytes" default:"100MiB" min:"1MiB" max:"1TiB"`
	// How many former files stay. `all` removes none.
	KeepFiles int `yaml:"keep_files" default:"all" zero:"all" min:"1" max:"100000"`
}
