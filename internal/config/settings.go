package config

import (
	"time"

	"github.com/toolhost/toolhost/internal/host/lifecycle"
)

// The structs of this file define toolhost.yaml. The comment of a field is its documentation, also
// in docs/configuration.md. Package yamldoc documents the tags.

// Config is a whole toolhost.yaml. Default, Parse and Load return one with every field set; the
// zero Config is not usable. It is a plain value: do not change it while another goroutine reads
// it.
type Config struct {
	// The address for clients: `unix:///PATH`, `127.0.0.1:PORT` or `[::1]:PORT`.
	Listen string `yaml:"listen" is:"address" unset:"this user's socket, $XDG_RUNTIME_DIR/toolhost/toolhost.sock"`
	// Allows a TCP port in `listen`. Every user and program on the machine can then make calls, and
	// toolhost cannot tell them apart. Clients of a TCP port get no AdminService.
	Insecure bool `yaml:"insecure" default:"false"`
	// The folders that hold plugins, in order of precedence: if two plugins or tools have one name,
	// the first wins.
	Folders []string `yaml:"plugins" is:"folder" unset:"the folder of toolhost install, if it exists" hint:"the settings of one plugin belong under plugin"`
	// What toolhost does with a plugin that appears in one of these folders after the first use of
	// the folder, and with a plugin that declares more than you trusted: `ask` waits for `toolhost
	// trust NAME`, `allow` trusts it.
	NewPlugins string `yaml:"new_plugins" default:"ask" oneof:"ask,allow"`
	// The folder for data that outlives the process: copies of plugins, their descriptions and the
	// records of calls.
	State string `yaml:"state" is:"folder" unset:"$XDG_STATE_HOME/toolhost"`
	// The folder in which tools work.
	Workspace string `yaml:"workspace" is:"folder" unset:"the working directory of toolhost"`
	// Runs only the plugins in the lock file, and only with the digests in it.
	Locked bool `yaml:"locked" default:"false"`
	// The path of the lock file for `locked`.
	LockFile string `yaml:"lock_file" is:"file" default:"toolhost.lock"`
	// What toolhost prints to standard error.
	Log Log `yaml:"log"`
	// How toolhost starts plugin processes.
	Launch Launch `yaml:"launch"`
	// The bounds of one call.
	Calls Calls `yaml:"calls"`
	// How much memory callers can occupy in toolhost.
	Memory Memory `yaml:"memory"`
	// Which calls toolhost allows.
	Policy Policy `yaml:"policy"`
	// The log of decisions about calls.
	Audit Audit `yaml:"audit"`
	// The filters that toolhost runs around calls: in this order before a call, and in the reverse
	// order after it.
	Filters []Filter `yaml:"filters" is:"filter" hint:"write each on separate lines, the first after a dash"`
	// The secrets that tools may request, by name: the place of each value, and the plugins that
	// get it. Tools get no other secrets.
	Secrets map[string]Secret `yaml:"secrets" keys:"name" hint:"a mapping from names of secrets to the places of their values" conceal:"this file does not hold values; write env and the name of a variable, or file and a path, and plugins"`
	// How many outcomes toolhost keeps, to answer a repeated call with the same id.
	Ledger Ledger `yaml:"ledger"`
	// How much of a result callers see if they do not choose a size.
	Results Results `yaml:"results"`
	// How much toolhost keeps of results that are too large to show.
	Artifacts Artifacts `yaml:"artifacts"`
	// How many events of plugins and instances toolhost keeps.
	Events Events `yaml:"events"`
	// How much toolhost keeps of the output of plugins.
	Logs Logs `yaml:"logs"`
	// When toolhost looks for new, changed and removed plugins without a command.
	Reload Reload `yaml:"reload"`
	// The settings of every plugin.
	Defaults PluginSettings `yaml:"defaults"`
	// The settings of one plugin, by its name. They replace those of `defaults` key by key, and
	// also the variables of `env` one by one. Before a new file reports its name, it gets the
	// settings of the plugin that it most likely is: toolhost looks at its plugin.yaml, the lock
	// file, the earlier plugin in its place and its file name.
	ByPlugin map[string]PluginSettings `yaml:"plugin" keys:"name" hint:"a mapping from names of plugins to their settings"` // merged with Defaults; see Plugin
	// The settings of single tools, which replace what their plugins declare. The key is the name
	// that the plugin declares: TOOL, or PLUGIN.TOOL if several plugins have it. PLUGIN.TOOL has
	// precedence, key by key. Loading the file does not check that such a tool exists: toolhost
	// warns at its start.
	Tools map[string]ToolSettings `yaml:"tools" keys:"qualified" hint:"a mapping from names of tools to their settings"`
}

// ToolSettings are the operator's settings of one tool. A nil or empty field leaves the plugin's
// declaration unchanged.
type ToolSettings struct {
	// Removes the tool: toolhost does not list it, and a call of it fails.
	Disabled *bool `yaml:"disabled" unset:"false"`
	// The plugin whose tool toolhost uses if several plugins have it. Not with PLUGIN.TOOL.
	Plugin string `yaml:"plugin" is:"name" unset:"the first that ships it"`
	// The name of the tool for models, callers, rules and filters, instead of the declared one. If
	// another tool or filter has that name, the tool keeps the declared one.
	Rename string `yaml:"rename" is:"name" unset:"what the plugin declares"`
	// The description that models get, also if the plugin describes the tool for each session.
	Description string `yaml:"description" unset:"what the plugin declares"`
	// The category for the selection of tools.
	Category string `yaml:"category" unset:"what the plugin declares"`
	// The tags for the selection of tools and for `filters`. They replace the declared ones.
	Tags []string `yaml:"tags" is:"tag" hint:"write a list of tags" unset:"what the plugin declares"`
	// Requires a person's approval of each call, unless a policy rule decides.
	Dangerous *bool `yaml:"dangerous" unset:"what the plugin declares"`
	// Passes arguments to the tool unchanged, without repair.
	Strict *bool `yaml:"strict" unset:"what the plugin declares"`
	// The longest time of a call, at most `calls.max_timeout`.
	Timeout *time.Duration `yaml:"timeout" min:"1ms" unset:"what the plugin declares"`
	// The most calls of one session that may start in any 60 seconds; further calls fail. All
	// sessions of one caller together may start ten times as many.
	RateLimitPerMinute *int `yaml:"rate_limit_per_minute" zero:"unlimited" min:"1" max:"1000000" unset:"what the plugin declares"`
	// The most calls of all sessions that execute at the same time; further calls wait.
	MaxConcurrent *int `yaml:"max_concurrent" zero:"unlimited" min:"1" max:"1000000" unset:"unlimited"`
	// The cost of one use, in the unit of all tools. toolhost charges each attempt that the plugin
	// executes, also a failed one, unless the result reports another cost. Results, statistics and
	// the budgets of runs include it.
	CostPerUse *float64 `yaml:"cost_per_use" min:"0" max:"1000000000" unset:"what the plugin declares"`
	// The keys of the run's context that effects of the tool may change although a policy rule
	// reads them. The tool has to declare them in `effect_keys` too.
	Effects []string `yaml:"effects" is:"key" hint:"write a list of keys of the context" unset:"none"`
}

// Log configures what toolhost prints to standard error.
type Log struct {
	// The lowest level that is printed.
	Level string `yaml:"level" default:"info" oneof:"debug,info,warn,error"`
	// The format of a line.
	Format string `yaml:"format" default:"text" oneof:"text,json"`
}

// Launch configures how toolhost starts plugin processes.
type Launch struct {
	// The most processes that start at the same time; others wait.
	Parallel int `yaml:"parallel" default:"4" min:"1" max:"1000"`
	// The longest time from the start of a process until it accepts calls.
	Timeout time.Duration `yaml:"timeout" default:"30s" min:"1ms"`
	// The size of the prestart pool. Each process in it is sandboxed already, and waits for the
	// next call of a plugin that was used and no longer runs. It has not started the plugin yet,
	// and takes little memory. 0: no pool.
	Waiting int `yaml:"waiting" default:"8" min:"0" max:"1000"`
}

// Calls are the bounds of one call.
type Calls struct {
	// The timeout of a call if neither its tool nor its caller sets one.
	DefaultTimeout time.Duration `yaml:"default_timeout" default:"30s" min:"1ms"`
	// The longest timeout, whatever the tool and the caller set.
	MaxTimeout time.Duration `yaml:"max_timeout" default:"10m" min:"1ms"`
	// How long a tool may take to return after its call was cancelled or timed out. Then toolhost
	// ends the instance. After a tenth of this time, the instance gets no new calls until the tool
	// has returned.
	YieldTimeout time.Duration `yaml:"yield_timeout" default:"5s" min:"1ms"`
	// How long a caller may take for each piece of the arguments of a call that it has opened. All
	// pieces together may take `max_timeout`. After that the call fails, and toolhost has executed
	// nothing.
	ArgumentsTimeout time.Duration `yaml:"arguments_timeout" default:"2m" min:"1ms"`
	// The largest arguments.
	MaxArgumentBytes Size `yaml:"max_argument_bytes" default:"16MiB" min:"1KiB" max:"1GiB"`
	// What toolhost does with an undeclared argument that resembles a declared one, such as
	// `deck_types` for `deck_type`: `report` names it in the result, `refuse` fails the call.
	MisspelledArguments string `yaml:"misspelled_arguments" default:"report" oneof:"report,refuse"`
	// What toolhost does with a structured result that does not fit the output schema of its tool:
	// `refuse` ends the call with an error of kind internal that describes the misfit; `warn`
	// returns the result, with the misfit in the log and in the result's metadata
	// `toolhost.output_schema`.
	OutputSchemas string `yaml:"output_schemas" default:"refuse" oneof:"refuse,warn"`
	// The largest result; a call with a larger one fails.
	MaxResultBytes Size `yaml:"max_result_bytes" default:"64MiB" min:"1KiB" max:"1GiB"`
}

// Memory bounds the memory that callers can occupy. Requests beyond it wait or fail with
// rate_limited.
type Memory struct {
	// The most bytes of all calls in flight together: received messages, arguments, work on
	// arguments, and results that callers have not read. A quarter of it is for connections, 256
	// KiB each; toolhost closes a connection that finds none. `auto` is a thirty-second of the
	// memory of the machine or of toolhost's control group, at least 64MiB and at most 320MiB. A
	// single call may take more, up to the largest arguments and results.
	InFlight Size `yaml:"in_flight" default:"auto" zero:"auto" min:"16MiB" max:"1TiB"`
	// The most bytes of the calls in flight of one principal, without those for connections. `auto`
	// is two thirds of `in_flight` without those for connections.
	InFlightPerPrincipal Size `yaml:"in_flight_per_principal" default:"auto" zero:"auto" min:"4MiB" max:"1TiB"`
}

// Policy has the rules for calls.
type Policy struct {
	// The rules, in order: the first rule whose expression is true decides. If there is none,
	// dangerous tools require approval and all others are allowed.
	Rules []Rule `yaml:"rules" is:"rule" hint:"write each on separate lines, the first after a dash"`
}

// Rule is one rule of the policy.
type Rule struct {
	// The name of the rule in errors and in the audit log. Each rule has a different one.
	Name string `yaml:"name" required:"true"`
	// A CEL expression that is true for the calls that the rule decides; docs/policy/README.md
	// lists its variables.
	When string `yaml:"when" required:"true"`
	// The decision about these calls.
	Then string `yaml:"then" required:"true" oneof:"allow,deny,require_approval"`
	// The reason, for the caller and for the audit log.
	Reason string `yaml:"reason" unset:"no reason"`
}

// Audit configures the log of decisions about calls: one line of JSON for each. The log has digests
// of arguments, not the arguments.
type Audit struct {
	// The path of the file. toolhost only appends to it. To rotate it, move it away and send
	// toolhost a hangup signal: it begins a new file.
	File string `yaml:"file" is:"file" unset:"audit.jsonl in the folder that state names"`
	// Which decisions the log has: `all`, or `decisions`: those of a rule or a person, and those
	// that stopped a call.
	Log string `yaml:"log" default:"decisions" oneof:"decisions,all"`
}

// Filter configures for which calls toolhost runs a filter, and what happens if the filter fails.
// With neither tools nor tags, toolhost runs it for every call; otherwise for the tools that match
// one of them.
type Filter struct {
	// The name of the filter. A plugin declares it; `toolhost plugins` shows it.
	Filter string `yaml:"filter" required:"true"`
	// The tools: names, or patterns in which `*` stands for any characters and `?` for one. With
	// neither `tools` nor `tags`, all tools.
	Tools []string `yaml:"tools" is:"tool" hint:"write a list of names or patterns, such as [fs_*]"`
	// Tags of further tools, in addition to `tools`.
	Tags []string `yaml:"tags" is:"tag" hint:"write a list of tags"`
	// What happens to a call if its filter fails, times out or does not exist: `fail` ends it with
	// an error, `skip` continues without the filter.
	WhenItFails string `yaml:"when_it_fails" default:"fail" oneof:"fail,skip"`
	// The longest time of the filter, at most the rest of the call's time. It includes the start of
	// the filter's plugin.
	Timeout time.Duration `yaml:"timeout" default:"5s" min:"1ms"`
}

// Secret is the place of a secret's value, and the plugins that get it. Either Env or File is set.
type Secret struct {
	// The variable of toolhost's environment that holds the value. Set either this or `file`.
	Env string `yaml:"env" unset:"the value is in a file"`
	// The file that holds the value, at most 64 KiB; a newline at its end is not part of the value.
	// toolhost reads it each time that it needs the value.
	File string `yaml:"file" is:"file" unset:"the value is in the environment"`
	// The plugins whose tools get the value if they declare that they need it.
	Plugins []string `yaml:"plugins" is:"name" required:"true" hint:"write a list of names"`
}

// Ledger bounds the outcomes that toolhost keeps. At the first bound that is reached, it removes
// the oldest outcomes.
type Ledger struct {
	// The most outcomes in memory.
	MaxEntries int `yaml:"max_entries" default:"10000" min:"1" max:"100000000"`
	// The most bytes of all outcomes in memory. toolhost may need three times as much for them.
	// Outcomes of calls with side effects are also on disk.
	MemoryBytes Size `yaml:"memory_bytes" default:"64MiB" min:"1MiB" max:"1TiB"`
	// The most bytes of all outcomes on disk.
	MaxBytes Size `yaml:"max_bytes" default:"256MiB" min:"1MiB" max:"1TiB"`
	// How long toolhost keeps the outcome of a call with side effects on disk, to answer its id.
	KeepResults time.Duration `yaml:"keep_results" default:"24h" min:"1m"`
	// How long toolhost keeps the id of a call with side effects on disk, so that it does not
	// execute the call again.
	KeepIDs time.Duration `yaml:"keep_ids" default:"168h" min:"1h"`
	// The most ids on disk. At this number, toolhost refuses calls with side effects until the
	// oldest id expires.
	MaxIDs int `yaml:"max_ids" default:"1000000" min:"1" max:"100000000"`
}

// Results bounds how much of a result callers see.
type Results struct {
	// The most text and JSON of a result. toolhost keeps a larger result as an artifact, and
	// returns its beginning, its end and a handle.
	ShownBytes Size `yaml:"shown_bytes" default:"4KiB" min:"256B" max:"1GiB"`
}

// Artifacts bounds the results that toolhost keeps because they are too large to show. At the first
// bound that is reached, it removes the oldest artifacts.
type Artifacts struct {
	// The most bytes of all artifacts.
	MaxBytes Size `yaml:"max_bytes" default:"1GiB" min:"1MiB" max:"1TiB"`
	// The most artifacts.
	MaxCount int `yaml:"max_count" default:"10000" min:"1" max:"10000000"`
	// How long toolhost keeps an artifact.
	MaxAge time.Duration `yaml:"max_age" default:"168h" min:"1s"`
}

// Events bounds the events of plugins and instances that toolhost keeps.
type Events struct {
	// How many events clients can read later. Beyond that, toolhost removes the oldest.
	Kept int `yaml:"kept" default:"10000" min:"1" max:"10000000"`
}

// Logs bounds what toolhost keeps of the output of plugins, in memory.
type Logs struct {
	// How many lines of each plugin clients can read later. Beyond that, toolhost removes the
	// oldest.
	LinesPerPlugin int `yaml:"lines_per_plugin" default:"2000" min:"1" max:"1000000"`
	// The longest line; toolhost cuts longer ones.
	LineBytes Size `yaml:"line_bytes" default:"8KiB" min:"256B" max:"1MiB"`
	// How many lines of each plugin toolhost accepts in a second; it counts and drops the rest.
	LinesPerSecond int `yaml:"lines_per_second" default:"1000" min:"1" max:"1000000"`
	// The most memory for the lines of all plugins. Beyond that, the plugin with the most bytes
	// loses its oldest lines.
	MaxBytes Size `yaml:"max_bytes" default:"64MiB" min:"1MiB" max:"1TiB"`
	// How many exits of each plugin's instances clients can read later, each with the last lines of
	// standard error.
	ExitsKept int `yaml:"exits_kept" default:"10" min:"1" max:"10000"`
}

// Reload configures when toolhost looks for new, changed and removed plugins.
type Reload struct {
	// Looks for changes whenever a folder of plugins changes. A hangup signal and `toolhost reload`
	// always do so.
	Watch bool `yaml:"watch" default:"true"`
}

// PluginSettings configure one plugin. Like Config, they have every field set.
type PluginSettings struct {
	// Lists the plugin, but does not offer its tools and never starts it.
	Disabled bool `yaml:"disabled" default:"false"`
	// What calls share: `shared` is a pool of processes for all calls, `session` one process for
	// each session, `call` one process for each call. Calls in one process can see each other's
	// memory, HOME, TMPDIR and secrets, whatever their caller, session or tenant.
	Isolation lifecycle.Isolation `yaml:"isolation" default:"shared" oneof:"shared,session,call"`
	// How many instances stay after the first call, idle or not. Only with isolation `shared`.
	MinInstances int `yaml:"min_instances" default:"0" min:"0" max:"1000"`
	// The most instances at the same time, without those that end. `auto` is 1 with isolation
	// `shared` and 16 with the others, or `min_instances` if that is more.
	MaxInstances int `yaml:"max_instances" default:"auto" zero:"auto" min:"1" max:"1000"`
	// How many processes wait for calls after the first call. Only with isolation `call`.
	Prewarmed int `yaml:"prewarmed" default:"1" min:"0" max:"1000"`
	// The most calls of one instance at the same time. With isolation `call` it is always 1.
	MaxCallsPerInstance int `yaml:"max_calls_per_instance" default:"unlimited" zero:"unlimited" min:"1" max:"1000000"`
	// The most calls that wait for an instance; further calls fail at once.
	MaxQueue int `yaml:"max_queue" default:"1024" min:"1" max:"1000000"`
	// How long an instance stays without calls.
	IdleTimeout time.Duration `yaml:"idle_timeout" default:"5m" zero:"never" min:"1ms"`
	// The number of calls after which toolhost replaces an instance. With isolation `call` it is
	// always 1.
	RecycleAfterCalls int `yaml:"recycle_after_calls" default:"never" zero:"never" min:"1" max:"1000000000"`
	// The age at which toolhost replaces an instance.
	RecycleAfterAge time.Duration `yaml:"recycle_after_age" default:"never" zero:"never" min:"1s"`
	// How long the calls of an instance may continue when toolhost replaces it because of an
	// upgrade, a rollback, a restart or recycling.
	DrainTimeout time.Duration `yaml:"drain_timeout" default:"30s" min:"1ms"`
	// The pause before the second restart after a series of crashes, and before later ones. The
	// first restart is immediate.
	Backoff Backoff `yaml:"backoff"`
	// When toolhost stops restarting a plugin that keeps crashing. An operator or a successful
	// probe ends the quarantine.
	Quarantine Quarantine `yaml:"quarantine"`
	// An instance that lives this long ends a series of crashes, and makes a probe succeed.
	StableAfter time.Duration `yaml:"stable_after" default:"10s" min:"1ms"`
	// What one instance may use. A plugin that requests less gets less.
	Limits Limits `yaml:"limits"`
	// What the processes of the plugin may access. These settings decide, whatever the plugin
	// requests.
	Sandbox Sandbox `yaml:"sandbox"`
	// Variables of toolhost's environment that the plugin gets with their values. A plugin.yaml can
	// only request them, with `env: {pass: […]}`.
	PassEnv []string `yaml:"pass_env" is:"variable" hint:"write a list of names"`
	// Environment variables with fixed values, in addition to those of every plugin. toolhost
	// expands nothing in them.
	Env map[string]string `yaml:"env" keys:"variable" hint:"a mapping of names to texts"`
}

// Backoff bounds the random pause before a restart.
type Backoff struct {
	// The bound of the first pause. It doubles with each crash of the series.
	Initial time.Duration `yaml:"initial" default:"200ms" min:"1ms"`
	// The bound of every pause.
	Max time.Duration `yaml:"max" default:"30s" min:"1ms"`
}

// Quarantine configures when toolhost stops restarting a plugin.
type Quarantine struct {
	// The number of crashes within `window` after which the quarantine begins.
	Crashes int `yaml:"crashes" default:"5" zero:"never" min:"1" max:"1000"`
	// The time in which toolhost counts crashes.
	Window time.Duration `yaml:"window" default:"10m" min:"1s"`
	// The time in quarantine after which toolhost starts the plugin once, to test it.
	ProbeAfter time.Duration `yaml:"probe_after" default:"5m" zero:"never" min:"1ms"`
}

// Limits bound one instance with all of its processes. 0: unlimited.
type Limits struct {
	// The memory of all processes of the instance. The kernel kills an instance that exceeds it.
	// `auto` is half of the memory that toolhost may use on this machine, at least 512 MiB.
	Memory Size `yaml:"memory" default:"auto" zero:"unlimited" auto:"auto" min:"16MiB"`
	// The processors for all processes of the instance: 0.5 is half of one. The kernel slows an
	// instance that needs more.
	CPUs float64 `yaml:"cpus" default:"unlimited" zero:"unlimited" min:"0.01" max:"10000"`
	// The most processes and threads at the same time. Starting another one fails. A Go program has
	// about ten. The bound protects the machine from a plugin that starts processes without end.
	Processes int `yaml:"processes" default:"1024" zero:"unlimited" min:"8" max:"1000000"`
	// The most open files and connections of each process. Opening another one fails.
	OpenFiles int `yaml:"open_files" default:"unlimited" zero:"unlimited" min:"32" max:"10000000"`
	// The largest file that the instance writes. Writing more fails.
	FileSize Size `yaml:"file_size" default:"unlimited" zero:"unlimited" min:"1KiB"`
	// What toolhost does if this machine cannot enforce a limit: `best_effort` starts the plugin
	// with a warning, `required` does not start it.
	Enforcement string `yaml:"enforcement" default:"best_effort" oneof:"best_effort,required"`
}

// Sandbox configures what the processes of a plugin may access in addition to the system's
// libraries, their executable and a private folder.
type Sandbox struct {
	// Whether the sandbox is on. It has several layers. `required` does not start the plugin if a
	// layer fails. `on` uses the layers that this machine supports. `auto` is `required` for each
	// layer that worked for a process of this toolhost before, and `on` for the others. `off` gives
	// the plugin the access of toolhost.
	Mode string `yaml:"mode" default:"auto" oneof:"auto,on,required,off"`
	// Allows the network.
	Network bool `yaml:"network" default:"false"`
	// The access to the folder that `workspace` names.
	Workspace string `yaml:"workspace" default:"write" oneof:"none,read,write"`
	// Further files and folders that the plugin may read and execute. They must exist when it
	// starts.
	Read []string `yaml:"read" is:"path" hint:"write a list of paths"`
	// Further files and folders that the plugin may read, execute and change. They must exist when
	// it starts.
	Write []string `yaml:"write" is:"path" hint:"write a list of paths"`
}
