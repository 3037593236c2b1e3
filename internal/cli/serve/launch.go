package serve

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/toolhost/toolhost/internal/config"
	"github.com/toolhost/toolhost/internal/gomaxprocs"
	"github.com/toolhost/toolhost/internal/host"
	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/internal/plugin/limits"
	"github.com/toolhost/toolhost/internal/plugin/namewatch"
	"github.com/toolhost/toolhost/internal/plugin/prestart"
	"github.com/toolhost/toolhost/internal/plugin/process"
	"github.com/toolhost/toolhost/internal/plugin/reaper"
	"github.com/toolhost/toolhost/internal/plugin/sandbox"
	"github.com/toolhost/toolhost/internal/rpc/pluginwire"
	"github.com/toolhost/toolhost/tool"
)

// launcher starts plugin processes for the host, and for the catalogue when it asks a new executable what it is.
type launcher struct {
	runDir      string
	guard       *reaper.Handle
	groups      *limits.Cgroups
	names       *namewatch.Watcher // nil: names are not watched
	logger      *slog.Logger
	config      *config.Config
	redact      func(line string, cut bool) string // what the processes print
	subreaped   bool                               // toolhost runs below subreapers
	own         sandboxDefaults
	walls       sandbox.Machine // what processes have had
	pool        *prestart.Pool  // by which launch launches; set before that is used
	brief       bool            // what is launched is of no use to a later process: the state goes with this one
	tellMissing sync.Once
	asked       atomic.Uint64 // plugins that were asked what they are: each process needs an instance of its own

	governor *gomaxprocs.Governor // of toolhost
}

// launch implements host.LaunchFunc.
func (l *launcher) launch(ctx context.Context, p *catalog.Plugin, instance string) (host.Process, error) {
	cfg := l.process(p, p.Info.Name, instance)
	readBytecode(&cfg, p)
	defer l.governor.Hold()() // a thread keeps its processor while it waits for the new process
	cfg.Report = func(state tool.InstanceState) { host.ReportLaunch(ctx, state) }
	started, err := l.pool.Launch(ctx, cfg)
	if err != nil {
		return nil, err
	}
	l.tellMissing.Do(func() {
		if missing := l.walls.Missing(); len(missing) > 0 {
			l.logger.Warn("this machine does not support all sandbox mechanisms; `toolhost ps --wide` shows the reasons", "missing", missing)
		}
	})
	return hosted{started, l.subreaped}, nil
}

// describe implements catalog.DescribeFunc: the process lives for the question alone. It has the settings of the plugin
// that the file most likely is (see catalog.DescribeFunc), its environment and limits above all: one that does not start
// without them could never say its name. Its logs are that plugin's, too.
func (l *launcher) describe(ctx context.Context, p *catalog.Plugin) (tool.Description, error) {
	instance := fmt.Sprintf("describe-%d", l.asked.Add(1))
	cfg := l.process(p, p.Info.Name, instance)
	cfg.Sandbox = l.sandbox(l.own.question(l.config.Plugin(p.Info.Name).Sandbox))
	if !l.brief {
		writeBytecode(&cfg, p)
	}
	defer l.governor.Hold()()
	started, err := process.Launch(ctx, cfg)
	if err != nil {
		return tool.Description{}, err
	}
	defer started.Stop(context.WithoutCancel(ctx), 0)
	return started.Conn().Describe(ctx, pluginwire.DescribeRequest{})
}

// namespace returns whether a plugin gets a PID namespace. It is one of its walls; without walls, only where no control group
// finds all that it starts. The first process of a namespace stays until the system has reaped its others, which after kill
// -9 of toolhost can take seconds; a control group is empty in milliseconds.
func (l *launcher) namespace(s config.Sandbox) process.NamespaceMode {
	if s.Mode == string(sandbox.ModeOff) && l.groups.FindsAll() {
		return process.NamespaceInstead // should the kernel not start processes in groups
	}
	return process.NamespaceAuto
}

// variables returns the names of the variables that the operator gives to a plugin.
func Variables(s config.PluginSettings) []string {
	return slices.Concat(s.PassEnv, slices.Collect(maps.Keys(s.Env)))
}

// process returns how a plugin is run. Of toolhost's environment it gets what the operator passes on, whatever it asks for.
// What the operator sets counts most, and then what the operator passes on.
func (l *launcher) process(p *catalog.Plugin, name, instance string) process.Config {
	settings := l.config.Plugin(name)
	env := slices.Clone(p.Env)
	for _, variable := range settings.PassEnv { // what the plugin asks for in its manifest is not asked here
		if value, ok := os.LookupEnv(variable); ok {
			env = append(env, variable+"="+value)
		}
	}
	for _, variable := range slices.Sorted(maps.Keys(settings.Env)) { // always the same, so that Configs can be compared
		env = append(env, variable+"="+settings.Env[variable])
	}
	return process.Config{
		Plugin: name, Instance: instance, Path: p.Path, Args: p.Args, Env: env, Dir: p.Dir,
		RunDir: l.runDir, Reaper: l.guard, Logger: l.logger, StartTimeout: l.config.Launch.Timeout,
		LineBytes: int(l.config.Logs.LineBytes), LinesPerSecond: l.config.Logs.LinesPerSecond, Redact: l.redact,
		Limits: instanceLimits(settings.Limits, p), Cgroups: l.groups, Names: l.names, PIDNamespace: l.namespace(settings.Sandbox),
		Sandbox: l.sandbox(l.own.sandbox(settings.Sandbox)),
		Conn:    pluginwire.ConnConfig{MaxResultBytes: int(l.config.Calls.MaxResultBytes)},
	}
}

// sandbox has processes remembered together.
func (l *launcher) sandbox(cfg sandbox.Config) sandbox.Config {
	cfg.Machine = &l.walls
	return cfg
}

// hosted is a process as the host wants it.
type hosted struct {
	*process.Process
	subreaped bool // toolhost runs below subreapers
}

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

// RSS implements host.Process.
func (h hosted) RSS() uint64 {
	size, err := h.Process.RSS()
	if err != nil {
		return 0 // it has just ended
	}
	return size
}
