package config

import (
	"time"

	"github.com/toolhost/toolhost/internal/host/lifecycle"
)

// The structs of this file are the one source of what toolhost.yaml may say. The comment of a field is its
// documentation, in docs/configuration.md too; package settings says what the tags mean.

// Config is a whole toolhost.yaml. It comes from Default, Parse or Load, which fill in each field; the zero Config means
// nothing. It is a value without locks: do not change it while others read it.
type Config struct {
	// Where clients connect: `unix:///PATH`, `127.0.0.1:PORT` or `[::1]:PORT`.
	Listen string `yaml:"listen" is:"address" unset:"this user's socket, $XDG_RUNTIME_DIR/toolhost/toolhost.sock"`
	// Whether `listen` may be a TCP port. Whatever user or program of this machine can then make calls, and nothing says which
	// one it is. Clients of a TCP port get no AdminService.
	Insecure bool `yaml:"insecure" default:"false"`
	// The folders that hold plugins, searched in this order: the first plugin or tool of a name wins.
	Folders []string `yaml:"plugins" is:"folder" unset:"where toolhost install puts them, if there are any" hint:"the settings of one plugin belong under plugin"`
	// What becomes of a plugin that arrives in one of these folders after toolhost had used the folder for the first time, and of
	// a plugin that declares more than was trusted: `ask` holds both back until `toolhost trust NAME`, `allow` trusts them.
	NewPlugins string `yaml:"new_plugins" default:"ask" oneof:"ask,allow"`
	// The folder for what outlives the process: copies of plugins, their descriptions, what happened to calls.
	State string `yaml:"state" is:"folder" unset:"$XDG_STATE_HOME/toolhost"`
	// The folder that tools may work in.
	Workspace string `yaml:"workspace" is:"folder" unset:"the folder in which toolhost was started"`
	// Whether to run nothing but the plugins that the lock file pins, at the digests that it pins.
	Locked bool `yaml:"locked" default:"false"`
	// The lock file, which `locked` needs.
	LockFile string `yaml:"lock_file" is:"file" default:"toolhost.lock"`
	// What toolhost prints to standard error.
	Log Log `yaml:"log"`
	// How plugin processes are started.
	Launch Launch `yaml:"launch"`
	// The bounds of one call.
	Calls Calls `yaml:"calls"`
	// How much memory callers can make toolhost hold.
	Memory Memory `yaml:"memory"`
	// Which calls may be made.
	Policy Policy `yaml:"policy"`
	// The log of what was decided about calls.
	Audit Audit `yaml:"audit"`
	// Which filters of plugins are asked around calls: before a call in this order, after it in the reverse one.
	Filters []Filter `yaml:"filters" is:"filter" hint:"write each on separate lines, the first after a dash"`
	// The secrets that tools may ask for, by name, where their values are, and which plugins may have them. What is not here, no
	// tool gets.
	Secrets map[string]Secret `yaml:"secrets" keys:"name" hint:"a mapping from names of secrets to the places of their values" conceal:"this file does not hold values; write env and the name of a variable, or file and a path, and plugins"`
	// How many outcomes are kept, to answer a call that is repeated with its id.
	Ledger Ledger `yaml:"ledger"`
	// How much of a result callers see who do not say how much they want to see.
	Results Results `yaml:"results"`
	// What is kept of the results that are too large to be shown.
	Artifacts Artifacts `yaml:"artifacts"`
	// What is kept of what happened to plugins and instances.
	Events Events `yaml:"events"`
	// What is kept of what plugins print.
	Logs Logs `yaml:"logs"`
	// When toolhost looks for new, changed and removed plugins by itself.
	Reload Reload `yaml:"reload"`
	// The settings of every plugin.
	Defaults PluginSettings `yaml:"defaults"`
	// The settings of one plugin, by its name. They replace those of `defaults` key by key, variables of `env` too. A file
	// that has not said its name yet gets those of the plugin that it most likely is: by its plugin.yaml, the lock file, what
	// was in its place before, or its file name.
	ByPlugin map[string]PluginSettings `yaml:"plugin" keys:"name" hint:"a mapping from names of plugins to their settings"` // merged with Defaults already; see Plugin
	// What holds of single tools instead of what their plugins declare, by the name that the plugin declares: TOOL, or
	// PLUGIN.TOOL where several plugins ship it, which counts more, key by key. That there is such a tool is not checked here:
	// toolhost warns of those that no plugin ships when it starts.
	Tools map[string]ToolSettings `yaml:"tools" keys:"qualified" hint:"a mapping from names of tools to their settings"`
}

// ToolSettings are what an operator says about one tool. What is nil or empty leaves it as its plugin declares it.
type ToolSettings struct {
	// Whether the tool is left out: it is not listed, and a call of it fails.
	Disabled *bool `yaml:"disabled" unset:"false"`
	// Which plugin the tool is of, where several ship it: those of others are left out. Not with PLUGIN.TOOL.
	Plugin string `yaml:"plugin" is:"name" unset:"the first that ships it"`
	// The name by which models, callers, rules and filters know the tool, instead of the one that its plugin declares. If
	// another tool or filter has that name, the tool keeps its own.
	Rename string `yaml:"rename" is:"name" unset:"what the plugin declares"`
	// What models are told about the tool, also where the plugin describes it for each session.
	Description string `yaml:"description" unset:"what the plugin declares"`
	// The category by which the tool is found.
	Category string `yaml:"category" unset:"what the plugin declares"`
	// The tags by which the tool is found, and by which filters are asked. They replace those that are declared.
	Tags []string `yaml:"tags" is:"tag" hint:"write a list of tags" unset:"what the plugin declares"`
	// Whether a person has to agree to each call, unless a rule of the policy decides.
	Dangerous *bool `yaml:"dangerous" unset:"what the plugin declares"`
	// Whether arguments are taken exactly as they are given, without repair.
	Strict *bool `yaml:"strict" unset:"what the plugin declares"`
	// The most time that a call has; never more than `calls.max_timeout`.
	Timeout *time.Duration `yaml:"timeout" min:"1ms" unset:"what the plugin declares"`
	// How many calls of a session may start in any 60 seconds; those beyond fail. Of one caller, in all of its sessions, ten
	// times as many may start.
	RateLimitPerMinute *int `yaml:"rate_limit_per_minute" zero:"unlimited" min:"1" max:"1000000" unset:"what the plugin declares"`
	// How many calls of all sessions may be executed at the same time; those beyond wait.
	MaxConcurrent *int `yaml:"max_concurrent" zero:"unlimited" min:"1" max:"1000000" unset:"unlimited"`
	// What a use costs, in the unit that all tools use. Each try that the plugin executes is charged, also one that fails, unless
	// the result reports a cost of its own. Results, statistics and the budgets of runs count it.
	CostPerUse *float64 `yaml:"cost_per_use" min:"0" max:"1000000000" unset:"what the plugin declares"`
	// The keys of the run's context that the tool's effects may change although a rule of the policy reads them. The tool has to
	// declare them in `effect_keys` as well.
	Effects []string `yaml:"effects" is:"key" hint:"write a list of keys of the context" unset:"none"`
}

// Log is what toolhost prints to standard error.
type Log struct {
	// The least level that is printed.
	Level string `yaml:"level" default:"info" oneof:"debug,info,warn,error"`
	// The form of a line.
	Format string `yaml:"format" default:"text" oneof:"text,json"`
}

// Launch is how plugin processes are started.
type Launch struct {
	// How many processes may start at the same time; others wait for their turn.
	Parallel int `yaml:"parallel" default:"4" min:"1" max:"1000"`
	// How long a process may take until it can take calls.
	Timeout time.Duration `yaml:"timeout" default:"30s" min:"1ms"`
	// How many processes wait behind their layers, each for the next call of a plugin that was used and does not run any
	// more. They have not begun to run it, and take next to no memory. 0: none.
	Waiting int `yaml:"waiting" default:"8" min:"0" max:"1000"`
}

// Calls are the bounds of one call.
type Calls struct {
	// The time that a call has if neither its tool nor its caller says so.
	DefaultTimeout time.Duration `yaml:"default_timeout" default:"30s" min:"1ms"`
	// The most time that a call has, whatever its tool and its caller say.
	MaxTimeout time.Duration `yaml:"max_timeout" default:"10m" min:"1ms"`
	// How long a tool may take to stop after its call was cancelled or timed out, before its instance is ended. After a
	// tenth of it the instance gets no new calls until the tool has stopped.
	YieldTimeout time.Duration `yaml:"yield_timeout" default:"5s" min:"1ms"`
	// How long a caller may take for each piece of the arguments of a call that it has opened; all pieces together may take
	// `max_timeout`. Then the call fails, and nothing was executed.
	ArgumentsTimeout time.Duration `yaml:"arguments_timeout" default:"2m" min:"1ms"`
	// The largest arguments.
	MaxArgumentBytes Size `yaml:"max_argument_bytes" default:"16MiB" min:"1KiB" max:"1GiB"`
	// What becomes of arguments that a tool does not declare and that resemble one it declares, such as `deck_types` for
	// `deck_type`: the result reports them, or the call is refused.
	MisspelledArguments string `yaml:"misspelled_arguments" default:"report" oneof:"report,refuse"`
	// What becomes of a structured result that does not fit the output schema of its tool: `refuse` ends the call with an error of
	// the kind internal, which says what is wrong; `warn` lets the result through, and says it in the log and in the result's
	// metadata `toolhost.output_schema`.
	OutputSchemas string `yaml:"output_schemas" default:"refuse" oneof:"refuse,warn"`
	// The largest result; a call that exceeds it fails.
	MaxResultBytes Size `yaml:"max_result_bytes" default:"64MiB" min:"1KiB" max:"1GiB"`
}

// Memory is how much memory callers can make toolhost hold. What is beyond fails with rate_limited, or waits.
type Memory struct {
	// The most bytes of all calls in flight together: messages that arrive, arguments, work on arguments, and results that
	// their callers have not read. A quarter of it belongs to the connections, 256 KiB each; a connection that finds none is
	// closed. `auto` is a thirty-second of the machine's memory, or of the memory that toolhost's control group allows, but at
	// least 64MiB and at most 320MiB. A call that is alone may take more, as far as the largest arguments and results allow.
	InFlight Size `yaml:"in_flight" default:"auto" zero:"auto" min:"16MiB" max:"1TiB"`
	// The most bytes of the calls in flight of one principal, of what does not belong to the connections. `auto` is two
	// thirds of that.
	InFlightPerPrincipal Size `yaml:"in_flight_per_principal" default:"auto" zero:"auto" min:"4MiB" max:"1TiB"`
}

// Policy is which calls may be made.
type Policy struct {
	// The rules in their order: the first whose expression is true decides. Where none is, tools that are dangerous require
	// approval and all others are allowed.
	Rules []Rule `yaml:"rules" is:"rule" hint:"write each on separate lines, the first after a dash"`
}

// Rule is one rule of the policy.
type Rule struct {
	// The name, which errors and the audit log give. No two rules have the same.
	Name string `yaml:"name" required:"true"`
	// An expression in CEL that is true for the calls that the rule decides; docs/policy/README.md says what it may speak of.
	When string `yaml:"when" required:"true"`
	// What is to become of these calls.
	Then string `yaml:"then" required:"true" oneof:"allow,deny,require_approval"`
	// Why, for those whose call it is, and for the audit log.
	Reason string `yaml:"reason" unset:"nothing is said"`
}

// Audit is the log of what was decided about calls: a line of JSON for each. Arguments are not in it, only their digest.
type Audit struct {
	// The file, which is only appended to. It may be moved away before a hangup signal, after which a new one is begun.
	File string `yaml:"file" is:"file" unset:"audit.jsonl in the folder that state names"`
	// Which decisions are in it: `all`, or `decisions`, those that a rule or a person made and those that held a call back.
	Log string `yaml:"log" default:"decisions" oneof:"decisions,all"`
}

// Filter says around which calls a filter is asked, and what becomes of them without it. If neither tools nor tags are
// given, that is all calls; else those of tools that one of them fits.
type Filter struct {
	// The filter's name. A plugin declares it; `toolhost plugins` shows it.
	Filter string `yaml:"filter" required:"true"`
	// The tools around whose calls it is asked: names, or patterns in which `*` stands for any characters and `?` for one. With
	// neither `tools` nor `tags`, those of all tools.
	Tools []string `yaml:"tools" is:"tool" hint:"write a list of names or patterns, such as [fs_*]"`
	// The tags of tools around whose calls it is asked, besides those of `tools`.
	Tags []string `yaml:"tags" is:"tag" hint:"write a list of tags"`
	// What becomes of a call whose filter fails, takes too long or does not exist: `fail` ends it with an error, `skip` lets it
	// go on without the filter.
	WhenItFails string `yaml:"when_it_fails" default:"fail" oneof:"fail,skip"`
	// How long the filter may take to answer; no longer than what is left of the call's time. Its plugin may have to be started
	// first.
	Timeout time.Duration `yaml:"timeout" default:"5s" min:"1ms"`
}

// Secret is where a secret's value is, and who may have it. Either Env or File is set.
type Secret struct {
	// The variable of toolhost's own environment that holds the value. Either this or `file`.
	Env string `yaml:"env" unset:"the value is in a file"`
	// The file that holds the value, of at most 64 KiB; the end of its last line is no part of it. It is read whenever the
	// value is needed.
	File string `yaml:"file" is:"file" unset:"the value is in the environment"`
	// The plugins whose tools get the value, where they declare that they need it.
	Plugins []string `yaml:"plugins" is:"name" required:"true" hint:"write a list of names"`
}

// Ledger bounds the outcomes that are kept. Whichever bound is reached first counts; the oldest outcomes go.
type Ledger struct {
	// The most outcomes in memory.
	MaxEntries int `yaml:"max_entries" default:"10000" min:"1" max:"100000000"`
	// The most bytes of all outcomes in memory together. toolhost may need three times as much for them. Those of calls with side
	// effects are on disk as well.
	MemoryBytes Size `yaml:"memory_bytes" default:"64MiB" min:"1MiB" max:"1TiB"`
	// The most bytes of all outcomes on disk.
	MaxBytes Size `yaml:"max_bytes" default:"256MiB" min:"1MiB" max:"1TiB"`
	// How long the outcome of a call with side effects is kept on disk, to answer its id with it.
	KeepResults time.Duration `yaml:"keep_results" default:"24h" min:"1m"`
	// How long the id of a call with side effects is kept on disk, so that it is not executed again.
	KeepIDs time.Duration `yaml:"keep_ids" default:"168h" min:"1h"`
	// The most ids on disk. When there are so many, calls with side effects are refused until the oldest is old enough.
	MaxIDs int `yaml:"max_ids" default:"1000000" min:"1" max:"100000000"`
}

// Results is how much of a result is shown.
type Results struct {
	// The most text and JSON of a result; what has more is kept as an artifact, of which the result has the beginning, the
	// end and a handle.
	ShownBytes Size `yaml:"shown_bytes" default:"4KiB" min:"256B" max:"1GiB"`
}

// Artifacts bounds what is kept of results that are too large to be shown. Whichever bound is reached first counts; the
// oldest artifacts go.
type Artifacts struct {
	// The most bytes of all artifacts together.
	MaxBytes Size `yaml:"max_bytes" default:"1GiB" min:"1MiB" max:"1TiB"`
	// The most artifacts.
	MaxCount int `yaml:"max_count" default:"10000" min:"1" max:"10000000"`
	// How long an artifact is kept.
	MaxAge time.Duration `yaml:"max_age" default:"168h" min:"1s"`
}

// Events is what is kept of what happened to plugins and instances.
type Events struct {
	// How many events can be read again; the oldest go.
	Kept int `yaml:"kept" default:"10000" min:"1" max:"10000000"`
}

// Logs is what is kept, in memory, of what plugins print.
type Logs struct {
	// How many lines of each plugin can be read again; the oldest go.
	LinesPerPlugin int `yaml:"lines_per_plugin" default:"2000" min:"1" max:"1000000"`
	// The longest line; the rest of a longer one is cut off.
	LineBytes Size `yaml:"line_bytes" default:"8KiB" min:"256B" max:"1MiB"`
	// How many lines of each plugin are taken in a second; the rest is counted and dropped.
	LinesPerSecond int `yaml:"lines_per_second" default:"1000" min:"1" max:"1000000"`
	// The most memory that the lines of all plugins take together; the plugin whose lines take most loses its oldest.
	MaxBytes Size `yaml:"max_bytes" default:"64MiB" min:"1MiB" max:"1TiB"`
	// How many exits of each plugin's instances can be read again, each with the last lines of standard error.
	ExitsKept int `yaml:"exits_kept" default:"10" min:"1" max:"10000"`
}

// Reload is when toolhost looks for new, changed and removed plugins by itself.
type Reload struct {
	// Whether to look whenever something changes in a folder of plugins. A hangup signal and `toolhost reload` always work.
	Watch bool `yaml:"watch" default:"true"`
}

// PluginSettings are how one plugin is kept. Like Config, they come filled in.
type PluginSettings struct {
	// Whether the plugin is left alone: it is listed, its tools are not offered, and it is never started.
	Disabled bool `yaml:"disabled" default:"false"`
	// What calls may share: `shared` is a pool of processes for all calls, `session` a process for each session, `call` a
	// process for each call.
	// Calls in one process can see each other's memory, HOME, TMPDIR and secrets, whichever caller, session or tenant made them.
	Isolation lifecycle.Isolation `yaml:"isolation" default:"shared" oneof:"shared,session,call"`
	// How many instances are kept once the plugin is in use, idle or not. Only with isolation `shared`.
	MinInstances int `yaml:"min_instances" default:"0" min:"0" max:"1000"`
	// The most instances at the same time, those that are ending apart. `auto` is 1 with isolation `shared` and 16 with the
	// others, or `min_instances` if that is more.
	MaxInstances int `yaml:"max_instances" default:"auto" zero:"auto" min:"1" max:"1000"`
	// How many processes wait for calls once the plugin is in use. Only with isolation `call`.
	Prewarmed int `yaml:"prewarmed" default:"1" min:"0" max:"1000"`
	// The most calls of one instance at the same time. With isolation `call` it is always 1.
	MaxCallsPerInstance int `yaml:"max_calls_per_instance" default:"unlimited" zero:"unlimited" min:"1" max:"1000000"`
	// The most calls that wait for an instance; those beyond fail at once.
	MaxQueue int `yaml:"max_queue" default:"1024" min:"1" max:"1000000"`
	// After this time without calls an instance is stopped.
	IdleTimeout time.Duration `yaml:"idle_timeout" default:"5m" zero:"never" min:"1ms"`
	// After so many calls an instance is replaced. With isolation `call` it is always 1.
	RecycleAfterCalls int `yaml:"recycle_after_calls" default:"never" zero:"never" min:"1" max:"1000000000"`
	// When it is so old, an instance is replaced.
	RecycleAfterAge time.Duration `yaml:"recycle_after_age" default:"never" zero:"never" min:"1s"`
	// How long the calls of an instance that is to go may go on. If it is replaced in good order, by an upgrade, a rollback, a
	// restart or when it is recycled, they may end.
	DrainTimeout time.Duration `yaml:"drain_timeout" default:"30s" min:"1ms"`
	// The pause between the second crash in a row, or a later one, and the next start. The first restart is immediate.
	Backoff Backoff `yaml:"backoff"`
	// When a plugin that crashes again and again is not started any more, until an operator clears it or a probe lives.
	Quarantine Quarantine `yaml:"quarantine"`
	// An instance that lived so long ends a row of crashes, and lets a probe succeed.
	StableAfter time.Duration `yaml:"stable_after" default:"10s" min:"1ms"`
	// What one instance may use. A plugin that asks for less gets less.
	Limits Limits `yaml:"limits"`
	// What its processes may touch. Whatever a plugin asks for, it gets what is granted here.
	Sandbox Sandbox `yaml:"sandbox"`
	// Variables of toolhost's own environment that the plugin gets, with the values that they have there. A plugin.yaml asks for
	// them by `env: {pass: […]}`, and gets none by asking.
	PassEnv []string `yaml:"pass_env" is:"variable" hint:"write a list of names"`
	// Environment variables with fixed values, besides the few that every plugin gets. Nothing is expanded in them.
	Env map[string]string `yaml:"env" keys:"variable" hint:"a mapping of names to texts"`
}

// Backoff bounds the random pause before a restart.
type Backoff struct {
	// The bound of the first pause; it doubles with each crash in the row.
	Initial time.Duration `yaml:"initial" default:"200ms" min:"1ms"`
	// The bound of every pause.
	Max time.Duration `yaml:"max" default:"30s" min:"1ms"`
}

// Quarantine is when a plugin is not started any more.
type Quarantine struct {
	// So many crashes within `window` bring it there.
	Crashes int `yaml:"crashes" default:"5" zero:"never" min:"1" max:"1000"`
	// The time in which crashes are counted.
	Window time.Duration `yaml:"window" default:"10m" min:"1s"`
	// After this time in quarantine it is started once, to see whether it lives.
	ProbeAfter time.Duration `yaml:"probe_after" default:"5m" zero:"never" min:"1ms"`
}

// Limits are what one instance, with all that it starts, may use. 0: unlimited.
type Limits struct {
	// Memory, of all that the instance runs together. An instance that wants more is killed. `auto` is half of the memory that
	// toolhost itself may use on this machine, and 512 MiB at least.
	Memory Size `yaml:"memory" default:"auto" zero:"unlimited" auto:"auto" min:"16MiB"`
	// Processors, of all that the instance runs together: 0.5 is half of one. An instance that wants more is slowed down.
	CPUs float64 `yaml:"cpus" default:"unlimited" zero:"unlimited" min:"0.01" max:"10000"`
	// Processes and threads at the same time. Starting one more fails. A Go program alone has about ten; one that starts others
	// without end must not take the machine down.
	Processes int `yaml:"processes" default:"1024" zero:"unlimited" min:"8" max:"1000000"`
	// Open files and connections of each process. Opening one more fails.
	OpenFiles int `yaml:"open_files" default:"unlimited" zero:"unlimited" min:"32" max:"10000000"`
	// The size of each file that is written. Writing more fails.
	FileSize Size `yaml:"file_size" default:"unlimited" zero:"unlimited" min:"1KiB"`
	// What to do if this machine cannot enforce a limit: `best_effort` starts the plugin without it and says so, `required`
	// does not start the plugin.
	Enforcement string `yaml:"enforcement" default:"best_effort" oneof:"best_effort,required"`
}

// Sandbox is what the processes of a plugin may touch besides the system's libraries, their own executable and a folder of
// their own.
type Sandbox struct {
	// Whether there are layers. `required` does not start the plugin if one of them cannot be put up. `on` puts up those that this
	// machine gives. `auto` is `required` for each layer that a process of this toolhost has had, and `on` for the others. `off`
	// lets the plugin touch what toolhost may.
	Mode string `yaml:"mode" default:"auto" oneof:"auto,on,required,off"`
	// Whether it may use the network.
	Network bool `yaml:"network" default:"false"`
	// What it may do in the folder that `workspace` names.
	Workspace string `yaml:"workspace" default:"write" oneof:"none,read,write"`
	// Further files and folders that it may read, and execute. They must be there when it starts.
	Read []string `yaml:"read" is:"path" hint:"write a list of paths"`
	// Further files and folders that it may read, execute and change. They must be there when it starts.
	Write []string `yaml:"write" is:"path" hint:"write a list of paths"`
}
