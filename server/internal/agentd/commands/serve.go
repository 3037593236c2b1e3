package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/store/filelock"
	"github.com/toolhost/toolhost/server/internal/access/authconfig"
	"github.com/toolhost/toolhost/server/internal/access/clientlimit"
	"github.com/toolhost/toolhost/server/internal/access/credentials"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/access/jsonapi"
	"github.com/toolhost/toolhost/server/internal/access/listen"
	"github.com/toolhost/toolhost/server/internal/access/tokenstore"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/agentserver"
	"github.com/toolhost/toolhost/server/internal/agentd/console"
	"github.com/toolhost/toolhost/server/internal/agentd/notify"
	"github.com/toolhost/toolhost/server/internal/audit"
	memory "github.com/toolhost/toolhost/server/internal/fairness/budget"
	"github.com/toolhost/toolhost/server/internal/logging"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/server/internal/systemd"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// shutdownGrace is the time in which RPCs may end after agentd received a signal to stop. Watches
// end at once.
const shutdownGrace = 5 * time.Second

// drainTime bounds the time in which a server gives up its runs, if other ones share its database.
// Together with shutdownGrace it is less than the half minute that Kubernetes gives by default.
const drainTime = 15 * time.Second

// jsonMemory bounds the memory of requests as JSON that are read and decoded: one principal has
// half of it.
const jsonMemory = 256 << 20

// watchGrace is how long RPCs may go on after their connection over TCP has reached its largest
// age. Those that watch a run have no other end; their clients watch again on the new connection.
const watchGrace = time.Hour

func newServeCommand(p cli.Process) *cobra.Command {
	s := &setup{process: p, usesToolhost: true}
	var flag, level string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Offer runs over gRPC, and go on with those that were interrupted",
		Long: "Serve offers agent runs over gRPC until it is interrupted, and goes on with the runs in its journal that were\n" +
			"interrupted. It prints one line when it is ready; its log goes to standard error. What needs a person waits for\n" +
			"`agentd respond`, unless agentd.yaml says that no person is present.",
		Example: "  agentd serve --model anthropic:claude-sonnet-5-5",
		Args:    cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := s.load(cmd.Context()); err != nil {
				return err
			}
			listeners, err := s.listeners(flag)
			if err != nil {
				return err
			}
			log, err := s.openLog(level, loglevel.Settings{Least: s.config.Log.Level, By: s.config.Log.Levels})
			if err != nil {
				return err
			}
			return closeAll(s.serve(cmd.Context(), listeners, level, log), log.Close)
		},
	}
	s.addFlags(cmd.Flags())
	cmd.Flags().StringVar(&flag, "listen", "", "`ADDRESS` to listen at, instead of those of the file: unix:///PATH or 127.0.0.1:PORT (default: this user's socket)")
	cmd.Flags().StringVar(&level, "log-level", "", logging.LevelUsage)
	return cmd
}

// listeners returns the listeners of the configuration, or that of the flag --listen instead.
func (s *setup) listeners(flag string) ([]listen.Config, error) {
	at := address.Default(program, s.process.Getenv)
	given := cmp.Or(flag, s.config.Listen)
	if given != "" {
		var err error
		if at, err = address.ParseListener(given); err != nil {
			return nil, cli.Usage("--listen: %w", err)
		}
	}
	further := s.config.Listeners
	if flag != "" {
		further = nil
	}
	configs, err := authconfig.Configs(at, given != "", s.config.Insecure, further)
	if err != nil {
		return nil, cli.Usage("listen: %w", err)
	}
	web, err := s.config.HTTP.Configs()
	if err != nil {
		return nil, cli.Usage("http.listen: %w", err)
	}
	configs = append(configs, web...)
	nodes, err := s.config.Nodes.Configs()
	if err != nil {
		return nil, cli.Usage("nodes.listen: %w", err)
	}
	configs = append(configs, nodes...)
	if s.config.Console.Listen == "" {
		return configs, nil
	}
	pages, err := s.config.Console.Listener()
	if err != nil {
		return nil, cli.Usage("console.listen: %w", err)
	}
	return append(configs, pages), nil
}

// gcPercent is the value of GOGC for agentd. Most live memory holds conversations, which are
// bounded and live as long as their runs. With Go's default of 100, the garbage collector would
// take an eighth of the time of a turn to mark them.
const gcPercent = 200

// collectLess sets gcPercent, unless the variable GOGC is set.
func collectLess(getenv func(string) string) {
	if getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}

// serve serves runs until ctx ends. It prints one line when the server is ready. level is the flag
// --log-level.
func (s *setup) serve(ctx context.Context, configs []listen.Config, level string, logs *logging.Log) (err error) {
	collectLess(s.process.Getenv)
	log := logs.Logger(loglevel.Server)
	if s.opened, err = s.models().openModel(); err != nil {
		return err
	}
	listeners, err := listen.Open(ctx, program, configs, s.config.Network.Limits(), log)
	if err != nil {
		return err
	}
	defer listeners.Close()
	reached, err := s.config.Nodes.Reached(ctx, listeners)
	if err != nil {
		return err
	}
	store, err := s.place().openServed(ctx, reached, logs.Logger(loglevel.Storage))
	if err != nil {
		return err
	}
	defer func() { err = closeAll(err, store.Close) }()
	messages, err := s.notifySettings()
	if err != nil {
		return err
	}
	host, err := s.connect(ctx, false, logs.Logger(loglevel.Tools))
	if err != nil {
		return err
	}
	defer func() { err = closeAll(err, host.Close) }()
	config, err := s.agentConfig(true)
	if err != nil {
		return err
	}
	warnAboutModels(log, &config)
	config.ListChangedTools, config.ToolsKnown = host.tools.ListChangedTools, host.Client.WaitForTools
	config.Search, config.LedgerID, config.ReadArtifact = host.Client, host.Client.LedgerID, host.Client.ReadArtifact
	config.ApproveStanding = standingsOf(host.Client)
	config.ReviewCall = host.Client.ReviewCall
	config.Workspace, config.Statistics = host.workspace, host.Client.Admin().Stats
	config.Store, config.Tools, config.Log = store, host.tools, logs.Logger(loglevel.Runs)
	notifier := notify.New(store, messages, config.Log)
	config.Notifier = notifier
	nodes := s.openNodes(&config, log)
	defer nodes.Close()
	var closeEngine func()
	if config.Engine, closeEngine, err = s.openEngine(store, config.Log); err != nil {
		return err
	}
	defer closeEngine()
	exported, err := s.openTelemetry(ctx, &config, !listeners.OnTCP(), logs)
	if err != nil {
		return err
	}
	defer exported.Close()
	a, err := agent.New(config)
	if err != nil {
		return err
	}
	defer a.Close()
	notifier.Start(a)
	defer notifier.Close()
	resumed, err := a.Resume(ctx)
	if err != nil {
		return err
	}
	access := &gate.Access{}
	access.Set(gate.PolicyFor(s.config.Auth.Grants(), listeners.Admits()))
	callers, err := credentials.New(tokenstore.New(program, s.stateFolder()), &s.config.Auth, log)
	if err != nil {
		return err
	}
	defer callers.Close()
	gate.WarnAboutOwner(ctx, callers, access.Policy(), log)
	decisions, err := s.openAudit()
	if err != nil {
		return err
	}
	defer func() { err = closeAll(err, decisions.Close) }()
	service := systemd.Service{Log: log}
	reloads := &reloader{decisions: decisions, access: access, callers: callers, agent: a, notifier: notifier, exported: exported, log: log, levels: logs, again: s.again, level: level, inForce: s, sameUser: !listeners.OnTCP(), admits: listeners.Admits(), service: service}
	defer reloads.onHangup()()
	defer startCleanup(ctx, a, decisions, logs.Logger(loglevel.Runs))()
	began := time.Now()
	defer func() { logStopped(log, began, err) }()
	ready := func() {
		exported.Ready(true)
		service.Ready(s.opened.status())
		s.logStarted(log, listeners, s.opened.name, host.Client.Addr(), resumed)
		fmt.Fprintf(cli.NewPrinter(cli.UntilDone(ctx, s.process.Stdout)), "agentd is ready at %s: %s, tools from %s, %d interrupted runs go on\n",
			listeners.Describe(), s.opened.name, host.Client.Addr(), resumed)
	}
	defer context.AfterFunc(ctx, func() { exported.Ready(false) })()
	sessions := console.NewSessions(callers)
	admitting := gate.New(gate.Config{
		Rights: agentserver.Rights(), Policy: access.Policy, Audit: decisions, Logger: log,
		Authenticator: &clientlimit.Authenticator{Inner: sessions, Failures: listeners.Failures(), Logger: log},
	})
	listeners.OnFailedHandshake(admitting.HandshakeFailed)
	origin, err := s.consoleURL(listeners)
	if err != nil {
		return err
	}
	served := agentserver.Config{
		Agent: a, Held: host.Client, Approvals: host.Client, Configuration: reloads, Logger: log, Options: exported.ServerOptions(), Gate: admitting,
		Network: clientlimit.Options(s.config.Network.Limits(), watchGrace, log),
	}
	if origin != nil {
		served.Pages = &agentserver.Pages{URL: origin.String(), NewCode: sessions.NewCode}
	}
	server := agentserver.NewServer(served)
	fronts, err := s.openPages(origin, sessions, server, log)
	if err != nil {
		return errors.Join(err, server.Shutdown(ctx))
	}
	defer func() { err = closeAll(err, fronts.close) }()
	if s.config.Nodes.On() {
		fronts.nodes = s.newNodeServer(a, nodeOf(store), access, decisions, exported, log)
	}
	if s.config.HTTP.Listen != "" {
		fronts.json = jsonapi.New(jsonapi.Config{
			Methods: agentserver.HTTPMethods(), Serve: server.Serve, Gate: admitting, MaxBytes: agentserver.MaxRequestBytes,
			Memory: memory.New(jsonMemory, 0), Limits: s.config.Network.Limits(), Logger: log,
		})
	}
	defer followDatabase(ctx, store, func(available bool) {
		exported.Ready(available)
		server.SetHealthy(available)
	})()
	return serveRuns(ctx, a, server, &fronts, listeners, service, ready)
}

// status is what systemd shows of a server.
func (m *openedModel) status() string { return "runs use " + m.name + " by default" }

// warnAboutModels logs the models that agents and callers can name and that cannot be used.
func warnAboutModels(log *slog.Logger, config *agent.Config) {
	for _, name := range slices.Sorted(maps.Keys(config.Models)) {
		if problem := config.Models[name].Problem; problem != nil {
			log.Warn("a model cannot be used; runs that name it are refused", "model", name, "error", problem)
		}
	}
}

// serveRuns serves the runs of an agent until ctx ends, and then closes the agent.
func serveRuns(ctx context.Context, a *agent.Agent, server *agentserver.Server, p *fronts, listeners *listen.Set, service systemd.Service, ready func()) error {
	served, wait := listeners.Serve(p.accept(server)) // ends with Shutdown
	ready()
	unwatch := service.Watch(server.Serve, nil)
	select {
	case <-ctx.Done():
		service.Stopping("runs are interrupted, and go on at the next start")
		server.SetHealthy(false) // before any run is given up
		bounded, stop := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
		a.Drain(bounded)
		stop()
	case <-served:
	}
	unwatch()
	a.Close() // before Shutdown, because it ends the watches that Shutdown waits for
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
	defer cancel()
	var stopping sync.WaitGroup
	stopping.Go(func() { p.shutdownNodes(grace) }) // another agentd that does not read takes the whole time
	p.shutdown(grace)
	_ = server.Shutdown(grace) // clients of RPCs that were cut received an error
	stopping.Wait()
	return wait()
}

// lockSuffix follows the name of the journal in the name of the file that a server locks.
const lockSuffix = ".lock"

// auditName is the name of the audit log in the state folder, which toolhost may share.
const auditName = "agentd-audit.jsonl"

// openAudit opens the audit log for appending.
func (s *setup) openAudit() (*audit.Log, error) {
	c := s.config.Audit
	file := cmp.Or(c.File, filepath.Join(s.stateFolder(), auditName))
	return audit.Open(audit.Config{File: file, All: true, MaxBytes: int64(c.MaxBytes), KeepFiles: c.KeepFiles})
}

// lockJournal prevents a second server from working on the same runs. The kernel releases the lock
// when the process ends. The file stays.
func (j journalPlace) lockJournal() (unlock func(), err error) {
	path, err := j.journalPath()
	if err != nil {
		return nil, err
	}
	file, err := filelock.Take(path + lockSuffix)
	if errors.Is(err, filelock.ErrHeld) {
		return nil, fmt.Errorf("another agentd serves the journal %s; stop it, or choose another file with --journal", path)
	}
	if err != nil {
		return nil, fmt.Errorf("locking the journal: %w", err)
	}
	return func() { _ = file.Close() }, nil
}
