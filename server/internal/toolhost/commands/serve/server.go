package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/toolhost/toolhost/internal/wire/hostpb"
	"github.com/toolhost/toolhost/server/internal/access/clientlimit"
	"github.com/toolhost/toolhost/server/internal/access/credentials"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/access/jsonapi"
	"github.com/toolhost/toolhost/server/internal/access/listen"
	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/fairness/budget"
	"github.com/toolhost/toolhost/server/internal/fairness/pace"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/server/internal/secrets"
	"github.com/toolhost/toolhost/server/internal/systemd"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/config"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
	"github.com/toolhost/toolhost/server/internal/toolhost/launch"
	"github.com/toolhost/toolhost/server/internal/toolhost/mcp/mcphttp"
	"github.com/toolhost/toolhost/server/internal/toolhost/subreaper"
	"github.com/toolhost/toolhost/server/internal/trust"
)

const (
	// shutdownGrace is the time in which calls may end after toolhost received a signal to stop.
	shutdownGrace = 10 * time.Second
	// replyGrace is the time that a call takes beyond its timeout, until its caller has the outcome.
	replyGrace = time.Minute
	// outcomeGrace is the time after shutdownGrace in which toolhost sends the outcomes of the
	// calls that it ended. It is longer than the default of yield_timeout, because a tool that does
	// not yield takes that long.
	outcomeGrace = 8 * time.Second
)

// Run runs toolhost until ctx ends. It prints one line to stdout when the server is ready. The log
// goes to stderr.
func Run(ctx context.Context, options Options, stdout, stderr io.Writer) (err error) {
	collectLess(options.getenv)
	collectInTime(&options.Config, options.getenv)
	redactor := &secrets.Redactor{}
	store := openSecrets(options.Secrets, options.getenv, redactor)
	log := openLog(&options, redactor, stderr)
	defer log.Close()
	logger := log.Logger(loglevel.Server)
	warnOfSecrets(store, logger)
	if err := checkFolders(&options); err != nil {
		return err
	}
	listeners, err := listen.Open(ctx, "toolhost", options.listeners, networkLimits(&options.Config), logger)
	if err != nil {
		return err
	}
	defer listeners.Close()
	if options.nodes, err = options.Nodes.Reached(ctx, listeners); err != nil {
		return err
	}
	exported, err := openExports(ctx, options, log, redactor)
	if err != nil {
		return err
	}
	defer exported.Close()
	began := time.Now()
	defer func() { logStopped(logger, began, err) }()
	closeRecords := func() error { return nil }
	defer func() { err = errors.Join(err, closeRecords()) }() // after the last process of a plugin
	runtime, err := openRuntimeDir(ctx, listeners.Sockets(), log.Logger(loglevel.Lifecycle))
	if err != nil {
		return err
	}
	defer runtime.close()
	logs := newLogBuffer(options.Logs, store)
	owned, err := openWorkspaces(&options, logger)
	if err != nil {
		return err
	}
	if owned != nil {
		defer func() { err = errors.Join(err, owned.Close()) }()
	}
	proxy, err := openProxy(options.Workspace, runtime.runDir.Path(), logger)
	if err != nil {
		return err
	}
	if proxy != nil {
		defer func() { err = errors.Join(err, proxy.Close()) }()
	}
	launching := runtime.launching(slog.New(logs.Handler(log.Logger(loglevel.Plugins).Handler())))
	launching.Redact, launching.Subreaped, launching.Brief = store.Redactor().Line, subreaper.Served(options.getenv), options.Brief
	launching.Granted = true // the catalog asks no plugin that is not trusted
	launching.Workspaces, launching.PerSession = owned, options.Workspace.Mode == config.SessionWorkspace
	launching.Proxy, launching.Separate = proxy, options.Workspace.Mode != config.SharedWorkspace
	memory := newBudget(&options.Config)
	launching.Memory = memory
	plugins := launch.New(launching, launch.Settings{Config: &options.Config, Places: placesOf(options), Secrets: store})
	book, closeLogins := openLogins(options.State, plugins, redactor, log.Logger(loglevel.Calls))
	defer closeLogins()
	known, err := openCatalog(ctx, options, plugins, log.Logger(loglevel.Lifecycle))
	if err != nil {
		return err
	}
	defer known.Close()
	plugins.Know(known)
	records, err := openRecords(ctx, options, runtime, exported, log.Logger(loglevel.Storage))
	if err != nil {
		return err
	}
	closeRecords = records.close
	ctx, stay := whileNotGone(ctx, records.calls)
	defer func() { err = errors.Join(err, stay()) }()
	cfg := hostConfig(options, known, plugins, log.Logger(loglevel.Calls), logs)
	cfg.Calls, cfg.Audit, cfg.Artifacts, cfg.History = records.calls, records.decisions, records.artifacts, records.history
	cfg.Approvals = records.approvals
	if shared, ok := records.calls.(*postgres.Store); ok {
		cfg.Starts = shared
		if options.Workspace.OfOne() {
			cfg.Homes = shared
		}
		if cfg.Place, err = folderPlace(&options); err != nil {
			return err
		}
	}
	if cfg.Settings, err = hostSettings(&options, store, known); err != nil {
		return err
	}
	exported.observe(&cfg.Settings)
	access := &gate.Access{}
	access.Set(gate.PolicyFor(options.Auth.Grants(), listeners.Admits()))
	callers, err := credentials.New(records.tokens(options.State), &options.Auth, log.Logger(loglevel.Calls))
	if err != nil {
		return err
	}
	defer callers.Close()
	gate.WarnAboutOwner(ctx, callers, access.Policy(), logger)
	summaries, untell := newSummaries(records.calls, known, &options.Config)
	defer untell()
	reloads := &reloader{
		known: known, plugins: plugins, redactor: redactor, exported: exported, logger: logger, decisions: records.decisions, inForce: options,
		followers: []follower{followLevels(log), exported.follow, followAccess(access, callers, listeners.Admits(), logger), summaries.follow},
	}
	if options.again != nil && (options.file == "" || isRegular(options.file)) { // a pipe can be read only once
		cfg.Configuration = reloads
	}
	h := host.New(cfg)
	defer h.Close()
	defer plugins.Follow(known, h.Renew)()
	reloads.host = h
	book.known, book.host = known, h
	if options.Reload.Watch {
		known.Watch()
	}
	service := systemd.Service{Log: logger}
	told := toldHost{h, service, known}
	defer reloadOnHangup(told, records.decisions, logger)()
	refuse := refusePlugins(runtime, launching.Subreaped)
	about := &conditions{records.calls, records.decisions, log, exported, cfg.Configuration}
	return serveHost(ctx, options, servedHost{told, known, plugins.Tenants(), exported, listeners, logger, refuse, access, callers, book, records.decisions, about, memory, records.calls}, stdout)
}

// followAccess returns the follower that applies changed bindings, rules and issuers.
func followAccess(access *gate.Access, callers *credentials.Credentials, admits string, logger *slog.Logger) follower {
	return func(_, next *Options) (apply, cancel func(), err error) {
		policy := gate.PolicyFor(next.Auth.Grants(), admits)
		identify, cancel, err := callers.Prepare(&next.Auth)
		return func() {
			identify()
			access.Set(policy)
			gate.WarnAboutOwner(context.Background(), callers, policy, logger)
		}, cancel, err
	}
}

// servedHost is a host with what its server needs.
type servedHost struct {
	host      toldHost
	known     *catalog.Catalog
	tenants   *pace.Tenants
	exported  exports
	listeners *listen.Set
	logger    *slog.Logger
	refuse    func(pid int) error
	access    *gate.Access
	callers   *credentials.Credentials
	logins    *logins

	decisions *audit.Log
	about     *conditions
	memory    *budget.Budget
	ledger    ledgerOfCalls
}

// serveHost serves a host until ctx ends, and says so on stdout when it is ready.
func serveHost(ctx context.Context, options Options, s servedHost, stdout io.Writer) error {
	var served hostserver.Host = pacedHost{s.host, s.tenants}
	if options.Observe != nil {
		served = options.Observe(served)
	}
	if err := s.exported.measure(s.host.Host, s.ledger, s.known.Snapshot(), s.memory, options.State); err != nil {
		return err
	}
	authenticator := &clientlimit.Authenticator{Inner: s.callers, Failures: s.listeners.Failures(), Logger: s.logger}
	admission := gate.Config{Policy: s.access.Policy, Audit: s.decisions, Logger: s.logger, Authenticator: authenticator}
	admission.Rights = hostserver.Rights()
	admitting := gate.New(admission)
	s.listeners.OnFailedHandshake(admitting.HandshakeFailed)
	server := servers{s: s}
	others, closeOthers := openPeers(&options, s.ledger, s.host.Host, s.exported, s.logger)
	defer closeOthers()
	server.grpc = hostserver.NewServer(hostserver.Config{
		Host: served, Logger: s.logger, Refuse: s.refuse, Budget: s.memory, Options: s.exported.ServerOptions(),
		Audit: s.decisions, Gate: admitting, Logins: s.logins, Approvals: s.host, Decisions: s.host, HolderOf: holderOf(s.ledger), Conditions: s.about.list, Known: s.known.Settle,
		Network: clientlimit.Options(options.Network.Limits(), options.Calls.MaxTimeout+replyGrace, s.logger), Peers: others,
	})
	if options.Nodes.On() {
		admission.Rights, admission.Authenticator = hostserver.PassedRights(), believing(s.ledger, s.logger)
		server.nodes = newNodes(&options, served, s, gate.New(admission))
		admission.Authenticator = authenticator
	}
	if options.HTTP.Listen != "" {
		server.json = jsonapi.New(jsonapi.Config{
			Methods: hostserver.HTTPMethods(), Serve: server.grpc.Serve, Gate: admitting, MaxBytes: hostpb.MaxMessageBytes, Memory: s.memory,
			Limits: options.Network.Limits(), Logger: s.logger,
		})
	}
	if slices.ContainsFunc(s.listeners.Listeners, func(l *listen.Listener) bool { return l.Web() && !l.JSON() }) {
		admission.Rights = mcphttp.Rights()
		server.mcp = newMCP(&options, served, s, gate.New(admission), s.memory)
	}
	defer context.AfterFunc(ctx, func() { s.exported.Ready(false) })()
	return server.serve(ctx, func() {
		s.exported.Ready(true)
		s.host.ready()
		logStarted(&options, s)
		fmt.Fprintf(cli.UntilDone(ctx, stdout), "toolhost is ready at %s: %s\n", s.listeners.Describe(), summary(s.known.Snapshot()))
	})
}

// checkFolders returns an error if another user can change toolhost's folders, the workspace cannot
// be used, the ledger is lost, or plugins could reach toolhost's own files.
func checkFolders(options *Options) error {
	local := options.Workspace.Backend == config.LocalBackend
	if local && options.Workspace.Mode != config.SharedWorkspace {
		if err := checkWorkspaces(options); err != nil {
			return err
		}
	}
	for _, folder := range []string{options.State, options.recordsDir()} {
		err := trust.Secure(folder)
		if local {
			err = errors.Join(err, checkWorkspace(options.Workspace.Folder, folder))
		}
		if err != nil {
			return err
		}
	}
	if err := errors.Join(checkRestore(options.State), checkRestore(options.recordsDir())); err != nil {
		return err
	}
	if err := ledgerGuardOf(options).check(); err != nil {
		return err
	}
	return placesOf(*options).Check(&options.Config)
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

// reloadOnHangup reopens the audit log, applies the configuration file and reads the plugin folders
// again at each SIGHUP. stop ends the goroutine and waits for it.
func reloadOnHangup(h toldHost, decisions *audit.Log, logger *slog.Logger) (stop func()) {
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
				logger.Error("the audit log cannot be opened again; the open file stays in use", "error", err)
			}
			done, err := h.Reload(ctx)
			if err != nil {
				logger.Error("reload failed", "error", err)
				continue
			}
			logger.Info("reloaded", "added", done.Added, "removed", done.Removed, "upgraded", done.Upgraded, "failures", done.Failures)
		}
	})
	return func() {
		signal.Stop(hangups)
		cancel()
		reloading.Wait()
	}
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
