package serve

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

	"github.com/toolhost/toolhost/internal/config"
	"github.com/toolhost/toolhost/internal/host"
	"github.com/toolhost/toolhost/internal/host/pluginconn"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/internal/pace"
	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/internal/plugin/limits"
	"github.com/toolhost/toolhost/internal/plugin/namewatch"
	"github.com/toolhost/toolhost/internal/plugin/process"
	"github.com/toolhost/toolhost/internal/plugin/reaper"
	"github.com/toolhost/toolhost/internal/plugin/sandbox"
	"github.com/toolhost/toolhost/internal/plugin/subreaper"
	"github.com/toolhost/toolhost/internal/rpc/pluginwire"
	"github.com/toolhost/toolhost/internal/rpc/workspaceproxy"
	"github.com/toolhost/toolhost/internal/secrets"
	"github.com/toolhost/toolhost/internal/workspaces"
	"github.com/toolhost/toolhost/tool"
)

// launcher starts plugin processes: for the host, and for the catalog when it needs the description
// of a new executable.
type launcher struct {
	runDir    string
	guard     *reaper.Handle
	groups    *limits.Cgroups
	names     *namewatch.Watcher // nil means that no one watches names
	logger    *slog.Logger
	current   atomic.Pointer[launchSettings]
	redact    func(line string, headless, cut bool) string // redacts the output of processes
	subreaped bool                                         // toolhost runs below subreapers
	walls     sandbox.Machine                              // the sandbox mechanisms that processes got
	known     atomic.Pointer[catalog.Catalog]              // nil until plugins are called, and not only described
	host      atomic.Pointer[host.Host]                    // nil until it is made
	running   running                                      // the processes that are called
	// of tenants, or of sessions if perSession is set; nil: all calls share one; set before the
	// first launch
	workspaces *workspaces.Store
	perSession bool
	// the sockets of workspaces that are not folders of this machine; nil: they are; set before the
	// first launch
	proxy    *workspaceproxy.Proxy
	separate bool // tenants or sessions have their own
	// the state ends with this process, so a bytecode cache has no reader
	brief       bool
	tellMissing sync.Once
	asked       atomic.Uint64 // descriptions so far; each process needs an instance name

	// authorize returns a transport that adds the credentials of the owner of an instance to requests
	// to the server of a plugin; nil: no plugin has such credentials. Set before the first launch.
	authorize func(p *catalog.Plugin, owner host.Owner, next http.RoundTripper) http.RoundTripper

	tenants pace.Tenants // whose calls arrive, and whose results are large
}

// launchSettings are the part of the configuration with which a launcher starts processes.
type launchSettings struct {
	config  *config.Config
	sandbox sandboxDefaults
	secrets *secrets.Store // for the processes of MCP servers, which get them in their environment
}

// newLauncher returns a launcher. logger gets the log of the processes.
func newLauncher(options Options, runtime *runtimeDir, logger *slog.Logger, store *secrets.Store) *launcher {
	l := &launcher{
		runDir: runtime.runDir.Path(), guard: runtime.guard, groups: runtime.groups, names: runtime.names,
		logger: logger, redact: store.Redactor().Line,
		subreaped: subreaper.Served(options.getenv), brief: options.Brief,
	}
	l.current.Store(&launchSettings{&options.Config, sandboxDefaultsOf(options), store})
	return l
}

// configure makes the launcher start processes with another configuration. The function that it
// returns reports whether the processes of a plugin now start in another way.
func (l *launcher) configure(options *Options, store *secrets.Store) (replaced func(p *catalog.Plugin) bool) {
	before := l.current.Load()
	now := &launchSettings{&options.Config, sandboxDefaultsOf(*options), store}
	l.current.Store(now)
	return func(p *catalog.Plugin) bool {
		// A session with an MCP server says at its start what the server may ask.
		if p.Manifest != nil && p.Manifest.MCP != nil && !slices.Equal(before.config.Plugin(p.Info.Name).Ask, now.config.Plugin(p.Info.Name).Ask) {
			return true
		}
		if p.Manifest.Remote() {
			return !reflect.DeepEqual(before.config.Plugin(p.Info.Name).HTTP, now.config.Plugin(p.Info.Name).HTTP)
		}
		return !l.process(before, p, p.Info.Name, "").StartsLike(l.process(now, p, p.Info.Name, ""))
	}
}

// launch implements host.LaunchFunc.
func (l *launcher) launch(ctx context.Context, p *catalog.Plugin, instance string) (host.Process, error) {
	settings, owner := l.current.Load(), host.LaunchOwner(ctx)
	if p.Manifest.Remote() {
		session, err := l.openRemote(ctx, settings, p, instance, owner)
		if err != nil {
			return nil, err
		}
		return session, nil
	}
	var cfg process.Config
	var server *mcpServer
	started, err := l.recorded(ctx, settings.sandbox, p, instance, func() sandbox.Config {
		cfg = l.process(settings, p, p.Info.Name, instance)
		return cfg.Sandbox
	}, func() (started *process.Process, err error) {
		if owner.Tenant != identity.DefaultTenant {
			cfg.Tenant = owner.Tenant
		}
		if most := uint64(settings.config.Quotas.MemoryOf(owner.Tenant, owner.Principal)); most > 0 {
			cfg.Limits.MemoryBytes = less(cfg.Limits.MemoryBytes, most)
		}
		readBytecode(&cfg, p)
		cfg.Report = func(state tool.InstanceState) { host.ReportLaunch(ctx, state) }
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
			l.logger.Warn("this machine does not support all sandbox mechanisms; `toolhost ps --wide` shows the reasons", "missing", missing)
		}
	})
	return hosted{started, server.conn(started), l.subreaped, cfg.Sandbox.Workspace}, nil
}

// describe implements catalog.DescribeFunc. The process lives until it has described itself. It
// gets the settings of the plugin that the file most likely is (see catalog.DescribeFunc). These
// include environment and limits, because a plugin that does not start without them could not
// describe itself. The log shows its lines as lines of that plugin.
func (l *launcher) describe(ctx context.Context, p *catalog.Plugin) (tool.Description, error) {
	instance := fmt.Sprintf("describe-%d", l.asked.Add(1))
	in := l.current.Load()
	if p.Manifest.Remote() {
		return l.describeRemote(ctx, in, p, instance)
	}
	cfg := l.process(in, p, p.Info.Name, instance)
	cfg.Sandbox = l.sandbox(in.sandbox.question(in.config.Plugin(p.Info.Name).Sandbox))
	if !l.brief {
		writeBytecode(&cfg, p)
	}
	server, err := l.mcpServer(&cfg, p, host.Owner{Tenant: identity.DefaultTenant})
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

// namespace returns whether a plugin gets a PID namespace. The namespace is part of the sandbox.
// Without a sandbox, a plugin gets one only where no control group finds all its processes. The
// first process of a namespace stays until the kernel has reaped the others. After kill -9 of
// toolhost, this can take seconds, while a control group is empty in milliseconds.
func (l *launcher) namespace(s config.Sandbox) process.NamespaceMode {
	if s.Mode == string(sandbox.ModeOff) && l.groups.FindsAll() {
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
func (l *launcher) process(in *launchSettings, p *catalog.Plugin, name, instance string) process.Config {
	settings := in.config.Plugin(name)
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
		RunDir: l.runDir, Reaper: l.guard, Logger: l.logger, StartTimeout: in.config.Launch.Timeout,
		LineBytes: int(in.config.Logs.LineBytes), LinesPerSecond: in.config.Logs.LinesPerSecond, Redact: l.redact,
		Limits: instanceLimits(settings.Limits, p), Cgroups: l.groups, Names: l.names, PIDNamespace: l.namespace(settings.Sandbox),
		Sandbox: l.sandbox(l.guarded(in, settings.Sandbox)),
		Carried: l.carried,
		Conn:    pluginwire.ConnConfig{MaxResultBytes: int(in.config.Calls.MaxResultBytes)},
	}
}

// carried records a piece of the results of a tenant; empty: the default tenant.
func (l *launcher) carried(tenant string) { l.tenants.Carried(cmp.Or(tenant, identity.DefaultTenant)) }

// guarded returns what the processes of a plugin may access. They cannot change what the other plugins
// execute.
func (l *launcher) guarded(in *launchSettings, s config.Sandbox) sandbox.Config {
	cfg := in.sandbox.sandbox(s)
	cfg.Protected = append(cfg.Protected, l.programs(in.sandbox)...)
	return cfg
}

// sandbox adds the record of sandbox mechanisms that all processes share.
func (l *launcher) sandbox(cfg sandbox.Config) sandbox.Config {
	cfg.Machine = &l.walls
	return cfg
}

// hosted makes a process.Process a host.Process.
type hosted struct {
	*process.Process
	conn      pluginconn.Conn
	subreaped bool // toolhost runs below subreapers
	workspace string
}

// Workspace implements host.Process.
func (h hosted) Workspace() string { return h.workspace }

// Conn implements host.Process.
func (h hosted) Conn() pluginconn.Conn { return h.conn }

// Limits implements host.Process.
func (h hosted) Limits() []tool.EffectiveLimit {
	held := h.Process.Limits()
	for i := range held {
		if h.subreaped && held[i].Name == "pid_namespace" && held[i].Mechanism == limits.None {
			held[i].Note = "what hides is found by its descent, when toolhost ends; " + held[i].Note
		}
	}
	return held
}

// Stop implements host.Process.
func (h hosted) Stop(ctx context.Context) error { return h.Process.Stop(ctx, 0) }

// Memory implements host.Process.
func (h hosted) Memory() uint64 { return h.Process.Memory() }

// CPU implements host.Process.
func (h hosted) CPU() time.Duration { return h.Process.CPU() }

// RSS implements host.Process.
func (h hosted) RSS() uint64 {
	size, err := h.Process.RSS()
	if err != nil {
		return 0 // the process has just ended
	}
	return size
}
