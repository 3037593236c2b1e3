package config

import (
	"time"

	"github.com/toolhost/toolhost/server/internal/access/authconfig"
	"github.com/toolhost/toolhost/server/internal/telemetry/telemetryconfig"
)

// The structs of this file, of plugin_settings.go and of workspace.go define
// toolhost.yaml. The comment of a field is its documentation, also in docs/configuration.md.
// Package yamldoc documents the tags.

// Config is a whole toolhost.yaml. Default, Parse and Load return one with every field set; the
// zero Config is not usable. It is a plain value: do not change it while another goroutine reads
// it.
type Config struct {
	// The address for clients: `unix:///PATH`, `127.0.0.1:PORT` or `[::1]:PORT`.
	Listen string `yaml:"listen" is:"address" unset:"this user's socket, $XDG_RUNTIME_DIR/toolhost/toolhost.sock" restart:"true"`
	// Allows a TCP port in `listen`. Every user and program on the machine can then make calls, and
	// toolhost cannot tell them apart. Clients of a TCP port get no AdminService.
	Insecure bool `yaml:"insecure" default:"false" deprecated:"a listener with admits under listeners" restart:"true"`
	// Further addresses for clients, with TLS or on loopback. The address of `listen` stays, unless
	// it is not given and one of these is a unix socket.
	Listeners []authconfig.Listener `yaml:"listeners" is:"listener" hint:"write each on separate lines, the first after a dash" restart:"true"`
	// What clients over TCP can take.
	Network authconfig.Network `yaml:"network" restart:"true"`
	// The server for clients of the Model Context Protocol over HTTP.
	MCP MCP `yaml:"mcp" restart:"true"`
	// Chosen RPCs as JSON over HTTP, for programs without gRPC.
	HTTP authconfig.HTTP `yaml:"http" restart:"true"`
	// The folders that hold plugins, in order of precedence: if two plugins or tools have one name,
	// the first wins.
	Folders []string `yaml:"plugins" is:"folder" unset:"the folder of toolhost install, if it exists" hint:"the settings of one plugin belong under plugin" restart:"true"`
	// What toolhost does with a plugin that appears in one of these folders after the first use of
	// the folder, and with a plugin that declares more than you trusted: `ask` waits for `toolhost
	// trust NAME`, `allow` trusts it.
	NewPlugins string `yaml:"new_plugins" default:"ask" oneof:"ask,allow" restart:"true"`
	// The folder for data that outlives the process: copies of plugins, their descriptions and the
	// records of calls.
	State string `yaml:"state" is:"folder" unset:"$XDG_STATE_HOME/toolhost" restart:"true"`
	// The PostgreSQL database that keeps the ledger of calls, for several toolhosts together: a URL
	// such as `postgres://toolhost@db/toolhost?sslmode=verify-full`, without a password. Unset means
	// a file in the folder of `state`. Everything else stays in that folder.
	Records string `yaml:"records" is:"database" unset:"a file" restart:"true"`
	// Where the other toolhosts of `records` reach this one, to cancel its calls, to answer their
	// questions, to follow them, and to read its artifacts.
	Nodes authconfig.Nodes `yaml:"nodes" restart:"true"`
	// The folders in which tools work. `workspace: DIR` is short for `workspace: {folder: DIR}`.
	Workspace Workspace `yaml:"workspace" restart:"true"`
	// Runs only the plugins in the lock file, and only with the digests in it.
	Locked bool `yaml:"locked" default:"false" restart:"true"`
	// The path of the lock file for `locked`.
	LockFile string `yaml:"lock_file" is:"file" default:"toolhost.lock" restart:"true"`
	// What toolhost prints to standard error.
	Log Log `yaml:"log"`
	// How toolhost starts plugin processes.
	Launch Launch `yaml:"launch"`
	// The bounds of one call.
	Calls Calls `yaml:"calls"`
	// The bounds of what tools ask persons and models during a call.
	Questions Questions `yaml:"questions"`
	// The bounds of standing approvals.
	Approvals Approvals `yaml:"approvals"`
	// How much memory callers can occupy in toolhost.
	Memory Memory `yaml:"memory" restart:"true"`
	// Which callers may do what.
	Auth authconfig.Auth `yaml:"auth"`
	// How much tenants and principals may use.
	Quotas Quotas `yaml:"quotas"`
	// Which calls toolhost allows.
	Policy Policy `yaml:"policy"`
	// The log of decisions about calls.
	Audit Audit `yaml:"audit" restart:"true"`
	// The filters that toolhost runs around calls: in this order before a call, and in the reverse
	// order after it.
	Filters []Filter `yaml:"filters" is:"filter" hint:"write each on separate lines, the first after a dash"`
	// The secrets that tools may request, by name: the place of each value, and the plugins that
	// get it. Tools get no other secrets.
	Secrets map[string]Secret `yaml:"secrets" keys:"name" hint:"a mapping from names of secrets to the places of their values" conceal:"this file does not hold values; write env and the name of a variable, file and a path, or command and a program, and plugins"`
	// How many outcomes toolhost keeps, to answer a repeated call with the same id.
	Ledger Ledger `yaml:"ledger" restart:"true"`
	// How much of a result callers see if they do not choose a size.
	Results Results `yaml:"results"`
	// How much toolhost keeps of results that are too large to show.
	Artifacts Artifacts `yaml:"artifacts" restart:"true"`
	// How many events of plugins and instances toolhost keeps.
	Events Events `yaml:"events" restart:"true"`
	// How much toolhost keeps on disk of what happened to plugins and calls.
	History History `yaml:"history" restart:"true"`
	// How much toolhost keeps of the output of plugins.
	Logs Logs `yaml:"logs" restart:"true"`
	// What toolhost tells others about itself: metrics and traces.
	Telemetry telemetryconfig.Settings `yaml:"telemetry"`
	// When toolhost looks for new, changed and removed plugins without a command.
	Reload Reload `yaml:"reload" restart:"true"`
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

// MCP says at which addresses MCP clients can connect, to the path /mcp. Without listeners, there
// is no such server.
type MCP struct {
	// The addresses, with TLS or on loopback, as under `listeners` of the file.
	Listeners []authconfig.Listener `yaml:"listeners" is:"listener" hint:"write each on separate lines, the first after a dash" restart:"true"`
	// The names by which clients reach the server, without ports. Requests for other names are
	// refused, because a web page can send them.
	Hosts []string `yaml:"hosts" is:"host" unset:"localhost and the loopback addresses on a plain port, and every name with tls" hint:"write a list such as [toolhost.example]" restart:"true"`
	// The origins of web pages that may use the server, such as `https://app.example`.
	Origins []string `yaml:"origins" is:"origin" unset:"only pages of the server itself" hint:"write a list such as [https://app.example]" restart:"true"`
	// Offers the tools find_tools and call_tool instead of all tools.
	Search bool `yaml:"search" default:"false" restart:"true"`
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
	// Runs a call alone, never beside another call of the same response of a model.
	Serial *bool `yaml:"serial" unset:"what the plugin declares"`
	// Runs a call without regard to the order of the response. Calls of other tools that are not
	// `read_only` run one after the other, in this order. `serial` has precedence.
	Parallel *bool `yaml:"parallel" unset:"what the plugin declares"`
	// The longest time of a call, at most `calls.max_timeout`.
	Timeout *time.Duration `yaml:"timeout" min:"1ms" unset:"what the plugin declares"`
	// The most calls of one session that may start in any 60 seconds; further calls fail. All
	// sessions of one caller together may start ten times as many.
	RateLimitPerMinute *int `yaml:"rate_limit_per_minute" zero:"unlimited" min:"1" max:"1000000" unset:"what the plugin declares"`
	// The most calls of one agent for one caller that may start in any 60 seconds, in all of its runs;
	// further calls fail. Calls without an agent do not count.
	AgentRateLimitPerMinute *int `yaml:"agent_rate_limit_per_minute" zero:"unlimited" min:"1" max:"1000000" unset:"unlimited"`
	// Other limits for single agents, by their names in agentd.yaml.
	Agents map[string]AgentLimits `yaml:"agents" keys:"name" hint:"a mapping from names of agents to their limits"`
	// The most calls of all sessions that execute at the same time; further calls wait.
	MaxConcurrent *int `yaml:"max_concurrent" zero:"unlimited" min:"1" max:"1000000" unset:"unlimited"`
	// How often toolhost tries a failed call again, within the timeout of the call. Only
	// infrastructure errors of the kinds `crashed`, `unavailable` and `rate_limited` count. toolhost
	// never tries a call again that an instance may have executed, unless the tool is `read_only` or
	// `idempotent`. The pauses are those that the plugin declares, or grow from 200 ms to 5 s.
	MaxRetries *int `yaml:"max_retries" zero:"none" min:"1" max:"20" unset:"what the plugin declares"`
	// The cost of one use, in the unit of all tools. toolhost charges each attempt that the plugin
	// executes, also a failed one, unless the result reports another cost. Results, statistics and
	// the budgets of runs include it.
	CostPerUse *float64 `yaml:"cost_per_use" min:"0" max:"1000000000" unset:"what the plugin declares"`
	// The keys of the run's context that effects of the tool may change although a policy rule
	// reads them. The tool has to declare them in `effect_keys` too.
	Effects []string `yaml:"effects" is:"key" hint:"write a list of keys of the context" unset:"none"`
}

// AgentLimits are the limits of one agent's calls of one tool.
type AgentLimits struct {
	// The most calls of the agent for one caller that may start in any 60 seconds.
	RateLimitPerMinute *int `yaml:"rate_limit_per_minute" zero:"unlimited" min:"1" max:"1000000" unset:"agent_rate_limit_per_minute of the tool"`
}

// Log configures what toolhost prints to standard error.
type Log struct {
	// The lowest level that is logged.
	Level string `yaml:"level" default:"info" oneof:"debug,info,warn,error"`
	// Other levels for subsystems, such as `{policy: debug, plugin.fs: warn}`.
	Levels map[string]string `yaml:"levels" keys:"subsystem" oneof:"debug,info,warn,error" unset:"every subsystem has the level of level" hint:"a mapping from subsystems to levels"`
	// The form of a record: text for people, or one line of JSON.
	Format string `yaml:"format" default:"text" oneof:"text,json" restart:"true"`
}

// Launch configures how toolhost starts plugin processes.
type Launch struct {
	// The most processes that start at the same time; others wait.
	Parallel int `yaml:"parallel" default:"4" min:"1" max:"1000" restart:"true"`
	// The longest time from the start of a process until it accepts calls.
	Timeout time.Duration `yaml:"timeout" default:"30s" min:"1ms"`
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
	// `toolhost.output_schema`. A format of a text, such as date-time, and a result of an MCP
	// server only warn, whatever is set here.
	OutputSchemas string `yaml:"output_schemas" default:"refuse" oneof:"refuse,warn"`
	// The largest result; a call with a larger one fails.
	MaxResultBytes Size `yaml:"max_result_bytes" default:"64MiB" min:"1KiB" max:"1GiB"`
}

// Questions bounds what tools ask. A tool can ask only what `ask` of its plugin permits, and only
// if the caller of the tool answers such questions.
type Questions struct {
	// The most questions of one call. A further one gets the error rate_limited.
	PerCall int `yaml:"per_call" default:"16" min:"1" max:"1000"`
	// The most bytes of one question, and of one answer.
	MaxBytes Size `yaml:"max_bytes" default:"256KiB" min:"1KiB" max:"512KiB"`
	// How long a question waits for its answer. For the same time in all, the questions of a call
	// pause its deadline, also beyond `calls.max_timeout`.
	MaxWait time.Duration `yaml:"max_wait" default:"1h" min:"1s" max:"168h"`
}

// Approvals bounds standing approvals: approvals of later calls, which a person gives in advance.
type Approvals struct {
	// Whether standing approvals can be created and used. With `false`, those that exist stay, and
	// approve nothing.
	Standing bool `yaml:"standing" default:"true"`
	// How long a standing approval can last. A shorter value also shortens those that exist, and a
	// longer one does not lengthen them.
	Longest time.Duration `yaml:"longest" default:"720h" min:"1m" max:"8760h"`
	// The most standing approvals of one principal.
	PerPrincipal int `yaml:"per_principal" default:"100" min:"1" max:"10000"`
	// The most standing approvals of one tenant.
	PerTenant int `yaml:"per_tenant" default:"1000" min:"1" max:"100000"`
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
	Then string `yaml:"then" required:"true" oneof:"allow,deny,require_approval,four_eyes"`
	// The reason, for the caller and for the audit log.
	Reason string `yaml:"reason" unset:"no reason"`
	// The groups of which the approver has to be in one, for `require_approval` and `four_eyes`: a
	// group of the default tenant, or TENANT/GROUP.
	Approvers []string `yaml:"approvers" is:"group" unset:"any approver" hint:"write a list such as [leads]"`
}

// Audit configures the log of decisions about calls: one line of JSON for each. The log has digests
// of arguments, not the arguments.
type Audit struct {
	// The path of the file. toolhost only appends to it. If another program rotates it, that program
	// moves the file away and sends toolhost a hangup signal: toolhost begins a new file.
	File string `yaml:"file" is:"file" unset:"audit.jsonl in the folder that state names"`
	// Which decisions the log has: `all`, or `decisions`: those of a rule or a person, and those
	// that stopped a call.
	Log string `yaml:"log" default:"decisions" oneof:"decisions,all"`
	// The size from which toolhost goes on in a new file. The former file stays beside it, with the
	// time and the number of its last line in its name.
	MaxBytes Size `yaml:"max_bytes" default:"100MiB" min:"1MiB" max:"1TiB"`
	// How many former files stay. `all` removes none.
	KeepFiles int `yaml:"keep_files" default:"all" zero:"all" min:"1" max:"100000"`
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

// Secret is where the values of a secret are, and the plugins that get them. At most one of Env,
// File and Command is set, and at least one place in all.
type Secret struct {
	// The variable of toolhost's environment that holds the value for the tenant `default`. Set only
	// one of `env`, `file` and `command`.
	Env string `yaml:"env" unset:"the value is elsewhere"`
	// The file that holds the value for the tenant `default`, at most 64 KiB; a newline at its end is
	// not part of the value. toolhost reads it each time that it needs the value.
	File string `yaml:"file" is:"file" unset:"the value is elsewhere"`
	// The program, with its arguments, that prints the value for the tenant `default`, such as the
	// client of a vault. toolhost runs it without a shell, for 10 seconds at most, with only the
	// variables `PATH`, `HOME`, `USER`, `LANG`, `LC_ALL`, `TZ`, `XDG_CONFIG_HOME` and
	// `XDG_RUNTIME_DIR` of its environment.
	Command []string `yaml:"command" is:"word" hint:"write a list: the absolute path of a program, and its arguments" unset:"the value is elsewhere"`
	// How long toolhost uses a value that `command` printed.
	Refresh time.Duration `yaml:"refresh" unset:"5m" min:"1s"`
	// The plugins whose tools get the value if they declare that they need it.
	Plugins []string `yaml:"plugins" is:"name" required:"true" hint:"write a list of names"`
	// The places of the values of other tenants. `all` is the place for every tenant that is not
	// listed. A tenant without a place does not get the secret.
	Tenants map[string]SecretPlace `yaml:"tenants" keys:"tenant" hint:"a mapping from tenants to the places of their values"`
	// The places of the values of single principals, by their keys, such as `ada` or `red/ada`. They
	// have precedence over those of tenants. An instance of a plugin that may get such a secret
	// serves one principal.
	Principals map[string]SecretPlace `yaml:"principals" keys:"principal" hint:"a mapping from principals to the places of their values"`
}

// SecretPlace is where one value of a secret is. One of Env, File and Command is set.
type SecretPlace struct {
	// The variable of toolhost's environment that holds the value.
	Env string `yaml:"env" unset:"the value is elsewhere"`
	// The file that holds the value.
	File string `yaml:"file" is:"file" unset:"the value is elsewhere"`
	// The program that prints the value, with its arguments.
	Command []string `yaml:"command" is:"word" hint:"write a list: the absolute path of a program, and its arguments" unset:"the value is elsewhere"`
	// How long toolhost uses a value that `command` printed.
	Refresh time.Duration `yaml:"refresh" unset:"5m" min:"1s"`
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
	MaxIDs int `yaml:"max_ids" default:"5000000" min:"1" max:"100000000"`
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

// History bounds what toolhost keeps on disk for the time after its restart: events, crashes with
// the calls that were executed, failed calls, and statistics by hour.
type History struct {
	// How long toolhost keeps an entry. It keeps at most 20,000 events, 2,000 crashes, 50,000 failed
	// calls, and 200,000 statistics of one tool in one hour. All entries together take at most 192
	// MiB.
	Keep time.Duration `yaml:"keep" default:"720h" min:"1h" max:"87600h"`
}

// Logs bounds what toolhost keeps of the output of plugins, in memory.
type Logs struct {
	// How many lines of each plugin for each tenant clients can read later. Beyond that, toolhost
	// removes the oldest.
	LinesPerPlugin int `yaml:"lines_per_plugin" default:"2000" min:"1" max:"1000000"`
	// The longest line. Of a longer one, toolhost keeps the beginning and the end.
	LineBytes Size `yaml:"line_bytes" default:"8KiB" min:"256B" max:"1MiB"`
	// How many lines of each plugin for each tenant toolhost accepts in a second; it counts and drops
	// the rest.
	LinesPerSecond int `yaml:"lines_per_second" default:"1000" min:"1" max:"1000000"`
	// The most memory for the lines of all plugins. Beyond that, the plugin and tenant with the most
	// bytes lose their oldest lines.
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
