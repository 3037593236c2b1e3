package reaper

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/proc"
)

const (
	// maxRestarts bounds the restarts of a reaper process in a row. A reaper process that lived for
	// restartForgiven resets the count. On a machine where no reaper process can live, more
	// restarts would only use processor time.
	maxRestarts     = 5
	restartForgiven = time.Minute
	firstBackoff    = 50 * time.Millisecond
	startTimeout    = 10 * time.Second
)

// Config says how a reaper is started.
type Config struct {
	// Command is the program that calls Main, and its arguments: usually this executable and a
	// hidden command. It is started again if it dies, so that its path must stay valid. Required.
	Command []string
	// RunDir is the absolute path of a folder that belongs to this toolhost alone. The reaper
	// removes it with its content. It holds the token for Sweep. Empty means none.
	RunDir string
	// Cgroups are the folders of this toolhost's control groups. The reaper kills the processes in
	// them, and removes them.
	Cgroups []string
	// Logger gets later errors. Nil means that nothing is logged.
	Logger *slog.Logger
}

// Handle is toolhost's side of its reaper. All methods are safe for concurrent use.
type Handle struct {
	command  []string
	logger   *slog.Logger
	changed  chan struct{} // holds one token while there is a change to send
	stop     context.CancelFunc
	hopeless chan struct{} // closed when there will be no reaper process any more
	done     chan struct{}

	mu      sync.Mutex
	state   state
	version uint64        // counts changes of state
	told    uint64        // the version that the reaper process has
	news    chan struct{} // closed and replaced when told grows
	process *reaperProcess
}

// Start starts a reaper and returns after it has reported that it is ready. ctx bounds only that.
// Call Close at the end.
func Start(ctx context.Context, cfg Config) (*Handle, error) {
	if len(cfg.Command) == 0 {
		return nil, errors.New("starting the reaper: no command is given")
	}
	g := &Handle{
		command:  slices.Clone(cfg.Command),
		logger:   cfg.Logger,
		changed:  make(chan struct{}, 1),
		hopeless: make(chan struct{}),
		done:     make(chan struct{}),
		news:     make(chan struct{}),
		state:    state{Token: rand.Text(), Cgroups: slices.Clone(cfg.Cgroups)},
	}
	if g.logger == nil {
		g.logger = slog.New(slog.DiscardHandler)
	}
	if cfg.RunDir != "" {
		dir, err := look(cfg.RunDir)
		if err != nil {
			return nil, fmt.Errorf("starting the reaper: looking at the run folder: %w", err)
		}
		g.state.RunDir = dir
		if err := writeToken(cfg.RunDir, g.state.Token); err != nil {
			return nil, fmt.Errorf("starting the reaper: %w", err)
		}
	}
	h, err := g.start(ctx)
	if err != nil {
		return nil, fmt.Errorf("starting the reaper: %w", err)
	}
	watch, stop := context.WithCancel(context.WithoutCancel(ctx))
	g.stop = stop
	go g.run(watch, h) // Close ends it
	return g, nil
}

// Token returns the first part of this toolhost's markers. A process is marked if its variable
// proc.MarkName is the token, a slash and any text.
func (g *Handle) Token() string { return g.state.Token }

// PID returns the reaper's process id, or that of the last one.
func (g *Handle) PID() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.process.cmd.Process.Pid
}

// Add adds the process group that leader leads. It blocks until the reaper knows the group, ctx
// ends, or no reaper can be started. That takes as long as a write to a pipe, or a start of a
// process if the reaper just died.
func (g *Handle) Add(ctx context.Context, leader proc.ID) {
	g.update(func(s *state) { s.Groups = append(s.Groups, leader) })
	g.awaitTold(ctx)
}

// Remove says that the group is gone. It does not block.
func (g *Handle) Remove(leader proc.ID) {
	g.update(func(s *state) {
		s.Groups = slices.DeleteFunc(s.Groups, func(id proc.ID) bool { return id == leader })
	})
}

// SetSockets sets the files that toolhost listens on, which must exist. A file that takes the name
// of one later, such as the next toolhost's socket, is not removed. It blocks like Add.
func (g *Handle) SetSockets(ctx context.Context, paths ...string) error {
	var sockets []*file
	for _, path := range paths {
		socket, err := look(path)
		if err != nil {
			return fmt.Errorf("guarding the socket %s: %w", path, err)
		}
		sockets = append(sockets, socket)
	}
	g.update(func(s *state) { s.Sockets = sockets })
	g.awaitTold(ctx)
	return nil
}

// Close lets the reaper clean up as after a crash, and waits for it. Call Close last.
func (g *Handle) Close() {
	g.stop()
	<-g.done
}

func (g *Handle) update(change func(*state)) {
	g.mu.Lock()
	change(&g.state)
	g.version++
	g.mu.Unlock()
	select {
	case g.changed <- struct{}{}:
	default:
	}
}

// awaitTold blocks until the reaper process has received the current state, or until it cannot
// receive it any more.
func (g *Handle) awaitTold(ctx context.Context) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for version := g.version; g.told < version; {
		news := g.news
		g.mu.Unlock()
		over := false
		select {
		case <-news:
		case <-ctx.Done():
			over = true
		case <-g.hopeless:
			over = true
		}
		g.mu.Lock()
		if over {
			return
		}
	}
}

// tell sends the complete state to the reaper process h. Only one goroutine at a time may call it.
func (g *Handle) tell(h *reaperProcess) error {
	g.mu.Lock()
	s, version := g.state, g.version
	s.Groups = slices.Clone(s.Groups)
	g.mu.Unlock()
	if err := h.tell(s); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.told = version
	close(g.news)
	g.news = make(chan struct{})
	return nil
}

func (g *Handle) start(ctx context.Context) (*reaperProcess, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	h, err := startReaperProcess(ctx, g.command, g.logger)
	if err != nil {
		return nil, err
	}
	if err := g.tell(h); err != nil {
		h.kill()
		return nil, err
	}
	g.mu.Lock()
	g.process = h
	g.mu.Unlock()
	return h, nil
}

// run owns the reaper process and its replacements.
func (g *Handle) run(ctx context.Context, h *reaperProcess) {
	defer close(g.done)
	for failures := 0; h != nil; {
		began := time.Now()
		g.serve(ctx, h)
		if ctx.Err() != nil {
			_ = g.tell(h)
			if h.finish() {
				close(g.hopeless)
				return
			}
			break
		}
		h.kill()
		g.logger.Warn("the reaper died; starting another", "pid", h.cmd.Process.Pid)
		if time.Since(began) > restartForgiven {
			failures = 0
		}
		h, failures = g.restart(ctx, failures)
	}
	// There is no reaper process that could clean up.
	close(g.hopeless)
	<-ctx.Done()
	g.mu.Lock()
	s := g.state
	g.mu.Unlock()
	if err := s.clean(); err != nil {
		g.logger.Warn("removing what plugins left behind", "error", err)
	}
}

// serve sends changes to the reaper process. It returns when the reaper process is gone or hangs,
// or the handle is closed.
func (g *Handle) serve(ctx context.Context, h *reaperProcess) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.exited:
			return
		case <-g.changed:
			if g.tell(h) != nil {
				return
			}
		}
	}
}

// restart returns a new reaper process, or nil if the handle is closed or too many restarts failed.
// failures counts failed starts.
func (g *Handle) restart(ctx context.Context, failures int) (*reaperProcess, int) {
	for backoff := firstBackoff << failures; failures < maxRestarts; backoff *= 2 {
		failures++
		pause := time.NewTimer(backoff)
		select {
		case <-ctx.Done():
			pause.Stop()
			return nil, failures
		case <-pause.C:
		}
		h, err := g.start(ctx)
		if err == nil {
			return h, failures
		}
		g.logger.Error("starting the reaper again", "error", err)
	}
	g.logger.Error("the reaper cannot be kept alive: after a crash of toolhost, processes of plugins may be left behind")
	return nil, failures
}
