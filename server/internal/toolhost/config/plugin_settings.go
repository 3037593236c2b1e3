package config

import (
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
)

// PluginSettings configure one plugin. Like Config, they have every field set.
type PluginSettings struct {
	// Lists the plugin, but does not offer its tools and never starts it.
	Disabled bool `yaml:"disabled" default:"false"`
	// What calls share: `shared` is a pool of processes for all calls of a tenant, `principal` one
	// process for each principal, `session` one process for each session, `call` one process for
	// each call. Calls in one process can see each other's memory, HOME, TMPDIR and secrets,
	// whatever their caller or session. Calls of different tenants never share a process. A plugin
	// with a secret that has values for principals has at least `principal`.
	Isolation lifecycle.Isolation `yaml:"isolation" default:"shared" oneof:"shared,principal,session,call"`
	// How many instances stay after the first call, idle or not. Only with isolation `shared`.
	MinInstances int `yaml:"min_instances" default:"0" min:"0" max:"1000"`
	// The most instances of one tenant at the same time, without those that end. `auto` is 1 with
	// isolation `shared` and 16 with the others, or `min_instances` if that is more.
	MaxInstances int `yaml:"max_instances" default:"auto" zero:"auto" min:"1" max:"1000"`
	// The most instances of all tenants together, also those that end. Tenants with calls get equal
	// parts. If there are more tenants than instances, they take turns of at least a second. A call
	// that gets no instance for five seconds fails.
	MaxTotalInstances int `yaml:"max_total_instances" default:"unlimited" zero:"unlimited" min:"1" max:"100000"`
	// How many processes wait for calls after the first call. Only with isolation `call`.
	Prewarmed int `yaml:"prewarmed" default:"1" min:"0" max:"1000"`
	// The most calls of one instance at the same time. With isolation `call` it is always 1.
	MaxCallsPerInstance int `yaml:"max_calls_per_instance" default:"unlimited" zero:"unlimited" min:"1" max:"1000000"`
	// The most calls of one tenant that wait for an instance; further calls fail at once.
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
	// How toolhost connects to the server of a plugin whose plugin.yaml has `mcp: {url: …}`.
	HTTP HTTP `yaml:"http"`
	// What the tools of the plugin may ask during a call: `person` lets them ask a person who uses
	// the caller of the tool, `model` lets them use the caller's language model, at the caller's
	// cost, and `roots` lets an MCP server learn the folders of an MCP client.
	Ask []string `yaml:"ask" oneof:"person,model,roots" hint:"write a list such as [person]" unset:"nothing"`
	// Variables of toolhost's environment that the plugin gets with their values. A plugin.yaml can
	// only request them, with `env: {pass: […]}`.
	PassEnv []string `yaml:"pass_env" is:"variable" hint:"write a list of names"`
	// Environment variables with fixed values, in addition to those of every plugin. toolhost
	// expands nothing in them.
	Env map[string]string `yaml:"env" keys:"variable" hint:"a mapping of names to texts" private:"true"`
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

// HTTP configures the connections to an MCP server at a URL.
type HTTP struct {
	// Addresses that toolhost may connect to although they are not public, such as 10.1.2.3,
	// 127.0.0.1:8080 or 10.1.0.0/16. A URL with http:// needs a public address listed, too.
	Addresses []string `yaml:"addresses" is:"address range" unset:"public addresses only" hint:"write a list such as [127.0.0.1:8080]"`
	// The certificates of the authorities that sign the certificate of the server, as PEM.
	Authorities string `yaml:"authorities" is:"file" unset:"those of the system"`
	// The certificate that toolhost presents to the server, with its chain, as PEM. It needs `key`.
	Certificate string `yaml:"certificate" is:"file" unset:"none"`
	// The private key of `certificate`, as PEM.
	Key string `yaml:"key" is:"file" unset:"none"`
	// The time for the resolution of the name with the connection, and for the TLS handshake.
	ConnectTimeout time.Duration `yaml:"connect_timeout" default:"10s" min:"1ms" max:"10m"`
	// The time for the answer to a request that calls no tool, such as the list of tools. The time
	// of a call is that of its tool.
	AnswerTimeout time.Duration `yaml:"answer_timeout" default:"30s" min:"1ms" max:"1h"`
	// How long a stream of the server may be silent during a call. A comment of the stream ends the
	// silence.
	IdleTimeout time.Duration `yaml:"idle_timeout" default:"5m" min:"1ms" max:"24h"`
	// The most connections of one instance at the same time. Further requests wait.
	MaxConnections int `yaml:"max_connections" default:"64" min:"2" max:"10000"`
}
