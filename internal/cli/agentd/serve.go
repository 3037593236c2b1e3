package agentd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/agent"
	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/internal/rpc/agentserver"
)

// shutdownGrace is the time in which RPCs may end after agentd received a signal to stop. Watches
// end at once.
const shutdownGrace = 5 * time.Second

func newServeCommand(p cli.Process) *cobra.Command {
	s := &setup{process: p}
	var listen, level string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Offer runs over gRPC, and go on with those that were interrupted",
		Long: "Serve offers agent runs over gRPC until it is interrupted, and goes on with the runs in its journal that were\n" +
			"interrupted. It prints one line when it is ready; its log goes to standard error. What needs a person waits for\n" +
			"`agentd respond`, unless agentd.yaml says that no person is present.",
		Example: "  agentd serve --model anthropic:claude-sonnet-5-5",
		Args:    cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := s.load(); err != nil {
				return err
			}
			at := address.Default(program, p.Getenv)
			if listen = cmp.Or(listen, s.config.Listen); listen != "" {
				var err error
				if at, err = address.Parse(listen); err != nil {
					return cli.Usage("--listen: %w", err)
				}
				if err := at.CheckSecure(s.config.Insecure); err != nil {
					return cli.Usage("listen: %w", err)
				}
			}
			var least slog.Level
			if err := least.UnmarshalText([]byte(cmp.Or(level, s.config.Log.Level))); err != nil {
				return cli.Usage("--log-level: there is no level %q; use debug, info, warn or error", level)
			}
			return s.serve(cmd.Context(), at, s.logger(least))
		},
	}
	s.addFlags(cmd.Flags())
	cmd.Flags().StringVar(&listen, "listen", "", "`ADDRESS` to listen at: unix:///PATH or 127.0.0.1:PORT (default: this user's socket)")
	cmd.Flags().StringVar(&level, "log-level", "", "the least `LEVEL` that is logged: debug, info, warn or error (default info)")
	return cmd
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

// serve serves runs until ctx ends. It prints one line when the server is ready.
func (s *setup) serve(ctx context.Context, at address.Address, log *slog.Logger) (err error) {
	collectLess(s.process.Getenv)
	m, prices, err := s.openModel()
	if err != nil {
		return err
	}
	listener, err := at.Listen(ctx, program)
	if errors.Is(err, address.ErrInUse) {
		return fmt.Errorf("%w; stop that one, or choose another address with --listen", err)
	} else if err != nil {
		return err
	}
	defer listener.Close()
	if !listener.Address().IsUnix() {
		log.Warn("every user and program of this machine can start runs and decide for you: agentd listens at a TCP port, and does not know its clients", "listen", listener.Address())
	}
	store, err := s.openJournal(ctx)
	if err != nil {
		return err
	}
	defer func() { err = closeAll(err, store.Close) }()
	unlock, err := s.lockJournal()
	if err != nil {
		return err
	}
	defer unlock()
	host, err := s.connect(ctx, false, log)
	if err != nil {
		return err
	}
	defer func() { err = closeAll(err, host.Close) }()
	config := s.agentConfig(true)
	config.Search, config.LedgerID, config.ReadArtifact = host.Client, host.LedgerID, host.ReadArtifact
	config.Store, config.Model, config.Prices, config.Tools, config.Log = store, m, prices, remoteTools{host.Client}, log
	a, err := agent.New(config)
	if err != nil {
		return err
	}
	defer a.Close()
	resumed, err := a.Resume(ctx)
	if err != nil {
		return err
	}
	server := agentserver.NewServer(a, log)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }() // ends with Shutdown; waited for below
	fmt.Fprintf(s.process.Out(), "agentd is ready at %s: %s, tools from %s, %d interrupted runs go on\n",
		listener.Address(), m.Name(), host.Addr(), resumed)
	select {
	case <-ctx.Done():
	case err = <-served:
		served <- nil
	}
	a.Close() // before Shutdown, because it ends the watches that Shutdown waits for
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
	defer cancel()
	_ = server.Shutdown(grace) // clients of RPCs that were cut received an error
	return errors.Join(err, <-served)
}

// lockSuffix follows the name of the journal in the name of the file that a server locks.
const lockSuffix = ".lock"

// lockJournal prevents a second server from working on the same runs. The kernel releases the lock
// when the process ends. The file stays.
func (s *setup) lockJournal() (unlock func(), err error) {
	path, err := s.journalPath()
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path+lockSuffix, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking the journal: %w", err)
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = file.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("another agentd serves the journal %s; stop it, or choose another file with --journal", path)
		}
		return nil, fmt.Errorf("locking the journal %s: %w", path, err)
	}
	return func() { _ = file.Close() }, nil
}
