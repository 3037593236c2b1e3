package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	workspaces "github.com/toolhost/toolhost/sdk/workspace"
	"github.com/toolhost/toolhost/server/internal/toolhost/limits"
	"github.com/toolhost/toolhost/server/internal/toolhost/process"
	"github.com/toolhost/toolhost/server/internal/toolhost/sandbox"
	"github.com/toolhost/toolhost/tool"
)

// maxWorkers bounds the workspaces that are in use at the same time.
const maxWorkers = 64

// pool has the workers of a server, one for each workspace in use. It keeps idle ones until another
// workspace needs the room.
type pool struct {
	f       *flags
	most    int // workers
	logger  *slog.Logger
	life    context.Context // of the workers
	end     context.CancelFunc
	running sync.WaitGroup

	mu      sync.Mutex
	workers map[string]*worker
	uses    uint64 // so far
}

// worker is a process, or one that is being launched.
type worker struct {
	launched chan struct{} // closed when err or session is set
	err      error
	session  *session
	process  *process.Process

	// The mutex of the pool guards these.
	users int
	used  uint64 // the number of the last use
}

func newPool(f *flags, logger *slog.Logger) *pool {
	p := &pool{f: f, most: maxWorkers, logger: logger, workers: map[string]*worker{}}
	p.life, p.end = context.WithCancel(context.Background())
	return p
}

// close ends all workers and waits for them.
func (p *pool) close() {
	p.end()
	p.running.Wait()
}

// open returns the workspace with a name. It launches a worker if there is none.
func (p *pool) open(ctx context.Context, name string) (workspaces.Workspace, func(), error) {
	if (name != "") != p.f.separate {
		message := "this server has one workspace; toolhost names one because of workspace.mode: use mode: shared, or start the server with --separate"
		if p.f.separate {
			message = "this server has a workspace for each tenant or session, and toolhost names none; use mode: tenant or mode: session in toolhost.yaml"
		}
		return nil, nil, &workspaces.Error{Message: message, Err: errors.Join(workspaces.ErrUnavailable, fs.ErrInvalid)}
	}
	w, err := p.take(name)
	if err != nil {
		return nil, nil, err
	}
	select {
	case <-w.launched:
	case <-ctx.Done():
		p.leave(w)
		return nil, nil, ctx.Err()
	}
	if w.err != nil {
		p.leave(w)
		return nil, nil, w.err
	}
	return w.session.workspace, func() { p.leave(w) }, nil
}

// take returns the worker of a workspace with one more user.
func (p *pool) take(name string) (*worker, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.workers[name]
	if w == nil {
		if p.life.Err() != nil || len(p.workers) >= p.most && !p.evict() {
			return nil, &workspaces.Error{
				Message: fmt.Sprintf("%d workspaces are in use at the same time, which is the most; try again later", p.most), Err: workspaces.ErrUnavailable,
			}
		}
		w = &worker{launched: make(chan struct{})}
		p.workers[name] = w
		p.running.Go(func() { p.own(name, w) }) // ends with the process; close waits
	}
	p.uses++
	w.users, w.used = w.users+1, p.uses
	return w, nil
}

func (p *pool) leave(w *worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w.users--
}

// evict stops the worker without users that was not used for the longest time, and reports whether
// there was one. The caller holds the lock.
func (p *pool) evict() bool {
	var oldest *worker
	var name string
	for n, w := range p.workers {
		if w.users == 0 && w.session != nil && (oldest == nil || w.used < oldest.used) {
			oldest, name = w, n
		}
	}
	if oldest == nil {
		return false
	}
	delete(p.workers, name)
	_ = oldest.session.Close() // the process ends with its standard input
	return true
}

// own launches a worker and waits for its end.
func (p *pool) own(name string, w *worker) {
	opened, started, err := p.launch(name)
	p.mu.Lock()
	w.session, w.process = opened, started
	if err != nil {
		p.logger.Error("a workspace cannot be opened", "workspace", name, "error", err)
		w.err = &workspaces.Error{Message: "the server of the workspace cannot open it; the operator has to look at its log", Err: errors.Join(workspaces.ErrUnavailable, err)}
	}
	p.mu.Unlock()
	close(w.launched)
	if err == nil {
		select {
		case <-started.Done():
		case <-p.life.Done():
			if err := started.Stop(context.Background(), 0); err != nil {
				p.logger.Error("a worker does not end", "workspace", name, "error", err)
			}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.workers[name] == w {
		delete(p.workers, name)
	}
}

// launch starts the process of a worker.
func (p *pool) launch(name string) (*session, *process.Process, error) {
	dir := p.f.root
	if name != "" {
		dir = filepath.Join(dir, name)
		if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, nil, fmt.Errorf("making the folder of the workspace: %w", err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return nil, nil, fmt.Errorf("looking for this program: %w", err)
	}
	var opened *session
	started, err := process.Launch(p.life, process.Config{
		Plugin: "workspace", Instance: "workspace-" + name, Path: self, Args: []string{workerCommand, dir}, RunDir: p.f.runDir, Logger: p.logger,
		Limits: limits.Config{Processes: p.f.processes},
		Sandbox: sandbox.Config{
			Mode: sandbox.ModeAuto, Network: p.f.network, Workspace: dir, WorkspaceAccess: tool.AccessWrite, Hidden: p.f.secrets(),
		},
		Pipes: func(ctx context.Context, pipes process.Pipes) (process.Session, error) {
			s, err := openSession(ctx, pipes)
			if err != nil {
				return nil, err
			}
			opened = s
			return s, nil
		},
	})
	if err != nil {
		return nil, nil, err
	}
	return opened, started, nil
}

// secrets returns the files that commands must not see, also if they are in the workspace.
func (f *flags) secrets() []string {
	var files []string
	for _, file := range []string{f.key, f.tokenFile} {
		if file != "" {
			files = append(files, file)
		}
	}
	return files
}
