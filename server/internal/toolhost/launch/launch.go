package launch

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/server/internal/fairness/budget"
	"github.com/toolhost/toolhost/server/internal/fairness/pace"
	"github.com/toolhost/toolhost/server/internal/secrets"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/config"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/supervisor"
	"github.com/toolhost/toolhost/server/internal/toolhost/limits"
	"github.com/toolhost/toolhost/server/internal/toolhost/namewatch"
	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
	"github.com/toolhost/toolhost/server/internal/toolhost/process"
	"github.com/toolhost/toolhost/server/internal/toolhost/reaper"
	"github.com/toolhost/toolhost/server/internal/toolhost/sandbox"
	"github.com/toolhost/toolhost/server/internal/toolhost/workspace/workspaceproxy"
	"github.com/toolhost/toolhost/server/internal/toolhost/workspace/workspaces"
	"github.com/toolhost/toolhost/tool"
)

// Launcher starts plugin processes: for the host, and for the catalog when it needs the description
// of a new executable. It is safe for concurrent use.
type Launcher struct {
	cfg         Config
	current     atomic.Pointer[Settings]
	walls       sandbox.Machine                 // the sandbox mechanisms that processes got
	known       atomic.Pointer[catalog.Catalog] // nil until plugins are called, and not only described
	renew       atomic.Pointer[Renew]           // nil until Follow
	running     running                         // the processes that are called
	executed    lastExecuted                    // what known plugins execute
	tellMissing sync.Once
	asked       atomic.Uint64 // descriptions so far; each process needs an instance name
	authorize   Authorize     // nil: no plugin has such credentials
	tenants     pace.Tenants  // whose calls arrive, and whose results are large
}

// Config is what a Launcher needs, and keeps until its end.
type Config struct {
	RunDir  string // the folder for sockets and homes of processes
	Reaper  *reaper.Handle
	Cgroups *limits.Cgroups
	Names   *namewatch.Watcher // nil: no one watches names
	Logger  *slog.Logger       // gets the log of the processes

	// Redact redacts a line of the output of processes; nil: lines stay as they are.
	Redact func(line string, headless, cut bool) string

	// Granted says that only plugins are asked for their description that the operator has trusted.
	// MCP servers then have their whole grants but the workspace while they are asked: many look for
	// their network or write a file when they start. Plugins of the contract need neither to describe
	// themselves.
	Granted bool

	Subreaped bool // toolhost runs below subreapers
	Brief     bool // the state ends with this process, so a bytecode cache has no reader

	// Memory is where sessions with MCP servers reserve memory for large messages; nil: no limit.
	Memory *budget.Budget

	// Workspaces are those of tenants, or of sessions if PerSession is set; nil: all calls share one.
	Workspaces *workspaces.Store
	PerSession bool
	// Proxy has the sockets of workspaces that are not folders of this machine; nil: they are.
	// Separate says that tenants or sessions have their own.
	Proxy    *workspaceproxy.Proxy
	Separate bool
}

// Settings are the part of the configuration with which a Launcher starts processes. They can be
// replaced while it runs; see Configure.
type Settings struct {
	Config  *config.Config
	Places  Places
	Secrets *secrets.Store // for the processes of MCP servers, which get them in their environment
}

// Authorize returns a transport that adds the credentials of the owner of an instance to requests
// to the server of a plugin.
type Authorize func(p *catalog.Plugin, owner supervisor.Owner, next http.RoundTripper) http.RoundTripper

// New returns a Launcher.
func New(cfg Config, settings Settings) *Launcher {
	l := &Launcher{cfg: cfg}
	l.current.Store(&settings)
	return l
}

// Authorize makes the requests to servers of plugins carry credentials. It must be called before
// the first launch.
func (l *Launcher) Authorize(authorize Authorize) { l.authorize = authorize }

// Know says that the plugins of a catalog are called from now on, and not only described. So
// sandboxes protect what they execute.
func (l *Launcher) Know(c *catalog.Catalog) { l.known.Store(c) }

// Tenants returns the record of the tenants whose calls arrive, and whose results are large.
func (l *Launcher) Tenants() *pace.Tenants { return &l.tenants }

// Secrets returns the secrets in force.
func (l *Launcher) Secrets() *secrets.Store { return l.current.Load().Secrets }

// Configure makes the Launcher start processes with other settings. The function that it returns
// reports whether the processes of a plugin now start in another way.
func (l *Launcher) Configure(settings Settings) (replaced func(p *catalog.Plugin) bool) {
	before, now := l.current.Load(), &settings
	l.current.Store(now)
	return func(p *catalog.Plugin) bool {
		// A session with an MCP server says at its start what the server may ask.
		if p.Manifest != nil && p.Manifest.MCP != nil && !slices.Equal(before.Config.Plugin(p.Info.Name).Ask, now.Config.Plugin(p.Info.Name).Ask) {
			return true
		}
		if p.Manifest.Remote() {
			return !reflect.DeepEqual(before.Config.Plugin(p.Info.Name).HTTP, now.Config.Plugin(p.Info.Name).HTTP)
		}
		return !l.process(before, p, "").StartsLike(l.process(now, p, ""))
	}
}

// Launch implements supervisor.LaunchFunc.
func (l *Launcher) Launch(ctx context.Context, p *catalog.Plugin, instance string) (supervisor.Process, error) {
	settings, owner := l.current.Load(), supervisor.LaunchOwner(ctx)
	if p.Manifest.Remote() {
		session, err := l.openRemote(ctx, settings, p, instance, owner)
		if err != nil {
			return nil, err
		}
		return session, nil
	}
	var cfg process.Config
	var server *mcpServer
	started, err := l.recorded(ctx, settings.Places, p, instance, func() sandbox.Config {
		cfg = l.process(settings, p, instance)
		return cfg.Sandbox
	}, func() (started *process.Process, err error) {
		if owner.Tenant != identity.DefaultTenant {
			cfg.Tenant = owner.Tenant
		}
		if most := uint64(settings.Config.Quotas.MemoryOf(owner.Tenant, owner.Principal)); most > 0 {
			cfg.Limits.MemoryBytes = less(cfg.Limits.MemoryBytes, most)
		}
		readBytecode(&cfg, p)
		cfg.Report = func(state tool.InstanceState) { supervisor.ReportLaunch(ctx, state) }
		if server, err = l.mcpServer(&cfg, p, owner); err != nil {
			return nil, err
		}
		return l.launchOwned(ctx, &cfg, owner)
	})
	if err != nil {
		return nil, err
	}
	l.tellMissing.Do(func() {
		if missing := l.walls.Missing(); len(missing) > 0 {
			l.cfg.Logger.Warn("this machine does not support all sandbox mechanisms; `toolhost ps --wide` shows the reasons", "missing", missing)
		}
	})
	return hosted{started, server.conn(started), l.cfg.Subreaped, cfg.Sandbox.Workspace}, nil
}

// Describe implements catalog.DescribeFunc. The process lives until it has described itself. It
// gets the settings of the plugin that the file most likely is (see catalog.DescribeFunc). These
// include environment and limits, because a plugin that does not start without them could not
// describe itself. The log shows its lines as lines of that plugin.
func (l *Launcher) Describe(ctx context.Context, p *catalog.Plugin) (tool.Description, error) {
	instance := fmt.Sprintf("describe-%d", l.asked.Add(1))
	in := l.current.Load()
	if p.Manifest.Remote() {
		return l.describeRemote(ctx, in, p, instance)
	}
	cfg := l.process(in, p, instance)
	cfg.Sandbox = l.sandbox(in.Places.Question(in.Config.Plugin(p.Info.Name).Sandbox, l.cfg.Granted && p.IsServer()))
	if !l.cfg.Brief {
		writeBytecode(&cfg, p)
	}
	server, err := l.mcpServer(&cfg, p, supervisor.Owner{Tenant: identity.DefaultTenant})
	if err != nil {
		return tool.Description{}, err
	}
	started, err := process.Launch(ctx, cfg)
	if err != nil {
		return tool.Description{}, err
	}
	defer started.Stop(context.WithoutCancel(ctx), 0)
	return server.conn(started).Describe(ctx, pluginconn.DescribeRequest{})
}

// Namespace returns whether a plugin gets a PID namespace. The namespace is part of the sandbox.
// Without a sandbox, a plugin gets one only where no control group finds all its processes. The
// first process of a namespace stays until the kernel has reaped the others. After kill -9 of
// toolhost, this can take seconds, while a control group is empty in milliseconds.
func Namespace(s config.Sandbox, groups *limits.Cgroups) process.NamespaceMode {
	if s.Mode == string(sandbox.ModeOff) && groups.FindsAll() {
		return process.NamespaceInstead // if the kernel cannot start processes in control groups
	}
	return process.NamespaceAuto
}

// Variables returns the names of the environment variables that the operator gives to a plugin.
func Variables(s config.PluginSettings) []string {
	return slices.Concat(s.PassEnv, slices.Collect(maps.Keys(s.Env)))
}

// process returns how to start a process of a plugin. Of toolhost's environment, the process gets
// only the variables that the operator passes on, whatever the plugin asks for. A value that the
// operator sets replaces a value that the operator passes on.
func (l *Launcher) process(in *Settings, p *catalog.Plugin, instance string) process.Config {
	name := p.Info.Name
	settings := in.Config.Plugin(name)
	env := slices.Clone(p.Env)
	// the requests of the plugin's manifest do not count here
	for _, variable := range settings.PassEnv {
		if value, ok := os.LookupEnv(variable); ok {
			env = append(env, variable+"="+value)
		}
	}
	// a fixed order, so that process.Configs can be compared
	for _, variable := range slices.Sorted(maps.Keys(settings.Env)) {
		env = append(env, variable+"="+settings.Env[variable])
	}
	return process.Config{
		Plugin: name, Instance: instance, Path: p.Path, Args: p.Args, Env: env, Dir: p.Dir,
		RunDir: l.cfg.RunDir, Reaper: l.cfg.Reaper, Logger: l.cfg.Logger, StartTimeout: in.Config.Launch.Timeout,
		LineBytes: int(in.Config.Logs.LineBytes), LinesPerSecond: in.Config.Logs.LinesPerSecond, Redact: l.cfg.Redact,
		Limits: Limits(settings.Limits, p), Cgroups: l.cfg.Cgroups, Names: l.cfg.Names, PIDNamespace: Namespace(settings.Sandbox, l.cfg.Cgroups),
		Sandbox: l.sandbox(l.guarded(in, settings.Sandbox)),
		Carried: l.carried,
		Conn:    pluginwire.ConnConfig{MaxResultBytes: int(in.Config.Calls.MaxResultBytes)},
	}
}

// carried records a piece of the results of a tenant; empty: the default tenant.
func (l *Launcher) carried(tenant string) { l.tenants.Carried(cmp.Or(tenant, identity.DefaultTenant)) }

// guarded returns what the processes of a plugin may access. They cannot change what the other
// plugins execute.
func (l *Launcher) guarded(in *Settings, s config.Sandbox) sandbox.Config {
	cfg := in.Places.Sandbox(s)
	if cfg.Mode == "" || cfg.Mode == sandbox.ModeOff {
		return cfg
	}
	cfg.Protected = append(cfg.Protected, l.programs(in.Places)...)
	return cfg
}

// sandbox adds the record of sandbox mechanisms that all processes share.
func (l *Launcher) sandbox(cfg sandbox.Config) sandbox.Config {
	cfg.Machine = &l.walls
	return cfg
}

// hosted makes a process.Process a supervisor.Process.
type hosted struct {
	*process.Process
	conn      pluginconn.Conn
	subreaped bool // toolhost runs below subreapers
	workspace string
}

// Workspace implements supervisor.Process.
func (h hosted) Workspace() string { return h.workspace }

// Conn implements supervisor.Process.
func (h hosted) Conn() pluginconn.Conn { return h.conn }

// Limits implements supervisor.Process.
func (h hosted) Limits() []tool.EffectiveLimit {
	held := h.Process.Limits()
	for i := range held {
		if h.subreaped && held[i].Name == "pid_namespace" && held[i].Mechanism == limits.None {
			held[i].Note = "what hides is found by its descent, when toolhost ends; " + held[i].Note
		}
	}
	return held
}

// Stop implements supervisor.Process.
func (h hosted) Stop(ctx context.Context) error { return h.Process.Stop(ctx, 0) }

// Memory implements supervisor.Process.
func (h hosted) Memory() uint64 { return h.Process.Memory() }

// CPU implements supervisor.Process.
func (h hosted) CPU() time.Duration { return h.Process.CPU() }

// RSS implements supervisor.Process.
func (h hosted) RSS() uint64 {
	size, err := h.Process.RSS()
	if err != nil {
		return 0 // the process has just ended
	}
	return size
}
