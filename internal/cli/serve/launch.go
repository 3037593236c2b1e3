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

// launcher starts plugin processes: for the host, and for the catalog when it needs the description
// of a new executable.
type launcher struct {
	runDir    string
	guard     *reaper.Handle
	groups    *limits.Cgroups
	names     *namewatch.Watcher // nil means that no one watches names
	logger    *slog.Logger
	config    *config.Config
	redact    func(line string, cut bool) string // redacts the output of processes
	subreaped bool                               // toolhost runs below subreapers
	own       sandboxDefaults
	walls     sandbox.Machine // the sandbox mechanisms that processes got
	pool      *prestart.Pool  // starts the processes; set before the first launch
	// the state ends with this process, so a bytecode cache has no reader
	brief       bool
	tellMissing sync.Once
	asked       atomic.Uint64 // descriptions so far; each process needs an instance name

	governor *gomaxprocs.Governor // the governor of this process
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

// describe implements catalog.DescribeFunc. The process lives until it has described itself. It has
// the settings of the plugin that the file most likely is (see catalog.DescribeFunc), with
// environment and limits, because a plugin that does not start without them could not describe
// itself. Its log lines are lines of that plugin.
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
func (l *launcher) process(p *catalog.Plugin, name, instance string) process.Config {
	settings := l.config.Plugin(name)
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
		RunDir: l.runDir, Reaper: l.guard, Logger: l.logger, StartTimeout: l.config.Launch.Timeout,
		LineBytes: int(l.config.Logs.LineBytes), LinesPerSecond: l.config.Logs.LinesPerSecond, Redact: l.redact,
		Limits: instanceLimits(settings.Limits, p), Cgroups: l.groups, Names: l.names, PIDNamespace: l.namespace(settings.Sandbox),
		Sandbox: l.sandbox(l.own.sandbox(settings.Sandbox)),
		Conn:    pluginwire.ConnConfig{MaxResultBytes: int(l.config.Calls.MaxResultBytes)},
	}
}

// sandbox adds the record of sandbox mechanisms that all processes share.
func (l *launcher) sandbox(cfg sandbox.Config) sandbox.Config {
	cfg.Machine = &l.walls
	return cfg
}

// hosted makes a process.Process a host.Process.
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
		return 0 // the process has just ended
	}
	return size
}
