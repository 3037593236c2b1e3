package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/audit"
	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/internal/gomaxprocs"
	"github.com/toolhost/toolhost/internal/host"
	"github.com/toolhost/toolhost/internal/host/lifecycle"
	"github.com/toolhost/toolhost/internal/host/logbuffer"
	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/internal/plugin/prestart"
	"github.com/toolhost/toolhost/internal/plugin/process"
	"github.com/toolhost/toolhost/internal/plugin/subreaper"
	"github.com/toolhost/toolhost/internal/rpc/hostserver"
	"github.com/toolhost/toolhost/internal/trust"
	"github.com/toolhost/toolhost/tool"
)

const (
	// shutdownGrace is the time in which calls may end after toolhost received a signal to stop.
	shutdownGrace = 10 * time.Second
	// outcomeGrace is the time after that in which toolhost sends the outcomes of the calls that it
	// ended. It is longer than the default of yield_timeout, which a tool that does not yield uses
	// up.
	outcomeGrace = 8 * time.Second
	// settleGrace is the time that the start waits for the descriptions of new plugins. Slower
	// plugins join later.
	settleGrace = 3 * time.Second
	// copiesKept is the least time that the copy of a replaced plugin stays. Its instances run
	// until their calls have ended.
	copiesKept = 15 * time.Minute
)

// Run runs toolhost until ctx ends. It prints one line to stdout when the server is ready. The log
// goes to stderr.
func Run(ctx context.Context, options Options, stdout, stderr io.Writer) (err error) {
	collectLess(options.getenv)
	collectInTime(&options.Config, options.getenv)
	governor := gomaxprocs.Govern(options.getenv)
	defer governor.Close()
	store := openSecrets(options.Secrets, options.getenv)
	logger := newLogger(options, store.Redactor().Writer(stderr, options.Log.Format == "json"))
	warnOfSecrets(store, logger)
	for _, own := range []string{options.State, options.recordsDir()} {
		if err := errors.Join(trust.Secure(own), checkWorkspace(options.Workspace, own)); err != nil {
			return err
		}
	}
	if err := ledgerGuardOf(&options).check(); err != nil {
		return err
	}
	if err := sandboxDefaultsOf(options).check(&options.Config); err != nil {
		return err
	}
	listener, err := options.listen.Listen(ctx, "toolhost")
	if errors.Is(err, address.ErrInUse) {
		return fmt.Errorf("%w; stop that one, or choose another address with --listen", err)
	} else if err != nil {
		return err
	}
	defer listener.Close()
	if !listener.Address().IsUnix() {
		logger.Warn("every user and program of this machine can make calls: toolhost listens at a TCP port, and does not know its clients", "listen", listener.Address())
	}
	runtime, err := openRuntimeDir(ctx, options, logger)
	if err != nil {
		return err
	}
	defer runtime.close()

	logs := logbuffer.New(logbuffer.Config{
		LinesPerPlugin: options.Logs.LinesPerPlugin, LineBytes: int(options.Logs.LineBytes), LinesPerSecond: options.Logs.LinesPerSecond,
		MaxBytes: int(options.Logs.MaxBytes), Redact: store.Redactor().Record,
	})
	plugins := &launcher{
		runDir: runtime.runDir.Path(), guard: runtime.guard, groups: runtime.groups, names: runtime.names,
		logger: slog.New(logs.Handler(logger.Handler())), config: &options.Config, redact: store.Redactor().Line,
		subreaped: subreaper.Served(options.getenv), own: sandboxDefaultsOf(options), brief: options.Brief,
		governor: governor,
	}
	known, err := catalog.Open(catalog.Config{
		Folders: options.Folders, StateDir: options.State, Describe: plugins.describe, Logger: logger,
		Trust: options.pluginTrust(), TrustNew: options.NewPlugins == "allow",
		Locked: options.Locked, LockFile: options.LockFile,
		CheckLock: lockTrust(options.getenv, options.lockNamed, writableFolders(&options.Config)), Overrides: overrides(options.Tools),
		DescribeTimeout: options.Launch.Timeout,
		Retention:       cmp.Or(options.Retention, max(copiesKept, options.Calls.MaxTimeout+time.Minute)),
	})
	if err != nil {
		return err
	}
	defer known.Close()
	if err := LoadPlugins(ctx, known, options.Folders); err != nil {
		return err
	}
	// Files that plugins write from now on outlive this process, so configuration in their folders
	// needs trust from now on.
	if err := TrustStore(options.getenv).AddWritable(writableFolders(&options.Config)...); err != nil {
		logger.Warn("which folders plugins may write is not recorded; name no configuration file in them with --config", "error", err)
	}
	warnOfUnknownTools(known.Snapshot(), logger)
	records, err := openRecords(ctx, options, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, records.close()) }()
	cfg := hostConfig(options, known, plugins, logger, logs)
	cfg.Calls, cfg.Audit, cfg.Artifacts, cfg.Secrets = records.calls, records.decisions, records.artifacts, store
	cfg.History = records.history
	if cfg.Policy, err = options.Policy.Compile(); err != nil {
		return err
	}
	var stopSweeping func()
	plugins.pool, stopSweeping = openPrestartPool(options.Launch.Waiting, known, logger)
	defer stopSweeping()
	h := host.New(cfg)
	defer h.Close()
	// before the host stops processes, so that no further process is prestarted
	defer plugins.pool.Close()
	if options.Reload.Watch {
		known.Watch()
	}
	defer reloadOnHangup(h, records.decisions, logger)()
	var served hostserver.Host = governedHost{h, plugins.governor}
	if options.Observe != nil {
		served = options.Observe(served)
	}
	server := hostserver.NewServer(hostserver.Config{
		Host: served, Logger: logger, Refuse: refusePlugins(runtime, plugins.subreaped), Budget: newBudget(&options.Config),
	})
	return serveUntil(ctx, server, listener, h, func() {
		fmt.Fprintf(stdout, "toolhost is ready at %s: %s\n", listener.Address(), summary(known.Snapshot()))
	})
}

func newLogger(options Options, stderr io.Writer) *slog.Logger {
	handler := &slog.HandlerOptions{Level: options.logLevel}
	if options.Log.Format == "json" {
		return slog.New(slog.NewJSONHandler(cli.NewJSONWriter(stderr), handler))
	}
	return slog.New(slog.NewTextHandler(stderr, handler))
}

// hostConfig returns the settings of the configuration for the host.
func hostConfig(options Options, known *catalog.Catalog, plugins *launcher, logger *slog.Logger, logs *logbuffer.Buffer) host.Config {
	return host.Config{
		Catalog:   known,
		Launch:    plugins.launch,
		Workspace: options.Workspace,
		Logger:    logger,
		Logs:      logs,
		Filters:   hostFilters(options.Filters),
		Lifecycle: func(plugin string) lifecycle.Config { return options.Plugin(plugin).Lifecycle() },
		Disabled:  func(plugin string) bool { return options.Plugin(plugin).Disabled },
		Sandbox:   func(plugin string) tool.Sandbox { return Granted(options.Plugin(plugin).Sandbox) },
		Variables: func(plugin string) []string { return Variables(options.Plugin(plugin)) },

		Configuration: options.staleConfiguration(),
		MaxConcurrent: concurrency(known),

		DefaultTimeout:   options.Calls.DefaultTimeout,
		MaxTimeout:       options.Calls.MaxTimeout,
		YieldTimeout:     options.Calls.YieldTimeout,
		MaxArgumentBytes: int(options.Calls.MaxArgumentBytes),
		ArgumentsTimeout: options.Calls.ArgumentsTimeout,
		RefuseMisspelled: options.Calls.MisspelledArguments == "refuse",
		LaunchTimeout:    options.Launch.Timeout,
		MaxLaunches:      options.Launch.Parallel,
		MaxLedgerEntries: options.Ledger.MaxEntries,
		MaxLedgerBytes:   int(options.Ledger.MemoryBytes),
		MaxEvents:        options.Events.Kept,
		MaxExits:         options.Logs.ExitsKept,
		MaxShown:         int(options.Results.ShownBytes),
		KeepBadOutput:    options.Calls.OutputSchemas == "warn",
	}
}

// openPrestartPool returns a pool of at most waiting processes of plugins in service. A goroutine
// removes processes of replaced plugins. stop ends the goroutine and the pool, and waits for them.
func openPrestartPool(waiting int, known *catalog.Catalog, logger *slog.Logger) (_ *prestart.Pool, stop func()) {
	room := prestart.New(prestart.Config{Most: waiting, Logger: logger, Wanted: func(cfg process.Config) bool {
		p := known.Snapshot().Plugin(cfg.Plugin)
		return p != nil && p.Path == cfg.Path && p.Dir == cfg.Dir
	}})
	ctx, cancel := context.WithCancel(context.Background())
	var sweeping sync.WaitGroup
	sweeping.Go(func() { // ends with ctx
		var seen *catalog.Snapshot
		for {
			next, err := known.Next(ctx, seen)
			if err != nil {
				return
			}
			room.Sweep()
			seen = next
		}
	})
	return room, func() {
		cancel()
		sweeping.Wait()
		room.Close()
	}
}

// reloadOnHangup reopens the audit log and reads the plugin folders again at each SIGHUP. stop ends
// the goroutine and waits for it.
func reloadOnHangup(h *host.Host, decisions *audit.Log, logger *slog.Logger) (stop func()) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	ctx, cancel := context.WithCancel(context.Background())
	var reloading sync.WaitGroup
	reloading.Go(func() { // ends with ctx
		for {
			select {
			case <-hangups:
			case <-ctx.Done():
				return
			}
			if err := decisions.Reopen(); err != nil {
				logger.Error("the audit log stays as it is", "error", err)
			}
			done, err := h.Reload(ctx)
			if err != nil {
				logger.Error("reload failed", "error", err)
				continue
			}
			logger.Info("reloaded", "added", done.Added, "removed", done.Removed, "upgraded", done.Upgraded, "failures", done.Failures)
			warnOfStale(done.Configuration, logger)
		}
	})
	return func() {
		signal.Stop(hangups)
		cancel()
		reloading.Wait()
	}
}

// serveUntil serves until ctx ends. Then it waits up to shutdownGrace for the calls in progress,
// and ends those that are left. The callers have outcomeGrace to receive the outcomes of those
// calls.
func serveUntil(ctx context.Context, server *hostserver.Server, listener *address.Listener, h *host.Host, ready func()) error {
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }() // ends with Shutdown; waited for below
	ready()
	var err error
	select {
	case <-ctx.Done():
	case err = <-served:
		served <- nil
	}
	// the owner of the host also closes it, and waits
	overdue := time.AfterFunc(shutdownGrace, func() { _ = h.Close() })
	defer overdue.Stop()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace+outcomeGrace)
	defer cancel()
	_ = server.Shutdown(grace) // only callers that do not read lose their outcomes
	return errors.Join(err, <-served)
}

// LoadPlugins loads the plugin folders. It does not wait longer than settleGrace for slow new
// plugins, because the other plugins could not be used meanwhile.
func LoadPlugins(ctx context.Context, known *catalog.Catalog, folders []string) error {
	if err := known.Load(ctx); err != nil {
		if failed, ok := errors.AsType[*fs.PathError](err); ok && slices.Contains(folders, failed.Path) {
			err = fmt.Errorf("%w; name a folder of plugin executables with --plugins", err)
		}
		return err
	}
	wait, cancel := context.WithTimeout(ctx, settleGrace)
	defer cancel()
	_ = known.Settle(wait) // slower plugins join later
	if err := known.Adopt(); err != nil {
		return fmt.Errorf("taking changed plugins into service: %w", err)
	}
	return ctx.Err()
}

// summary returns the numbers of tools and plugins, and the command that shows problems, if there
// are any.
func summary(found *catalog.Snapshot) string {
	tools, usable, asked, troubled := 0, 0, 0, 0
	for _, p := range found.Plugins() {
		tools += len(p.Tools)
		switch {
		case p.Pending():
			asked++
		case p.Problem != "":
			troubled++
		default:
			usable++
			if len(p.Warnings) > 0 {
				troubled++
			}
		}
	}
	s := fmt.Sprintf("%s of %s", cli.Count(tools, "tool"), cli.Count(usable, "plugin"))
	if asked > 0 {
		s += fmt.Sprintf("; %s not described yet", cli.Count(asked, "new plugin"))
	}
	if troubled > 0 {
		s += fmt.Sprintf("; %s with problems, see `toolhost plugins`", cli.Count(troubled, "plugin"))
	}
	return s
}

// gcPercent is the value of GOGC for toolhost. Most live memory holds outcomes of calls, which are
// bounded and live long. With Go's default of 100, the garbage collector would take a sixth of the
// time of small calls to mark them.
const gcPercent = 200

// collectLess sets gcPercent, unless the variable GOGC is set.
func collectLess(getenv func(string) string) {
	if getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}

func checkWorkspace(dir, state string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("the workspace cannot be used: %w; name an existing folder with --workspace", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("the workspace %s is no folder; name an existing folder with --workspace", dir)
	}
	if rel, err := filepath.Rel(state, dir); err == nil && filepath.IsLocal(rel) {
		return fmt.Errorf("the workspace %s is in toolhost's own folder %s, which is not for plugins; name another with --workspace or --state", dir, state)
	}
	return nil
}
