package prestart

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/plugin/process"
)

// lasts is for how long a process waits: long enough for a person who thinks, and not for ever, because it holds mounts of what
// its plugin was granted.
const lasts = 30 * time.Minute

// Config says how many processes wait, and for what. All fields are required, but for Most.
type Config struct {
	// Most is how many processes wait at the same time; the one that has waited longest makes pool. 0: none waits.
	Most int
	// Wanted reports whether a plugin is still run with this process's Config. It must not block, and is called from any
	// goroutine.
	Wanted func(cfg process.Config) bool
	Logger *slog.Logger
}

// Pool launches plugins and keeps processes that wait. Its methods may be called from any goroutine. Close it.
type Pool struct {
	cfg  Config
	done chan struct{}
	work sync.WaitGroup // goroutines that end with a process, with who waits, or with done

	mu      sync.Mutex
	closed  bool
	live    map[string]int // processes of a plugin that run or are being launched
	waiting []*prestarted  // the one that has waited longest first
}

// prestarted process is a process that waits, at most one of each plugin.
type prestarted struct {
	cfg     process.Config
	ready   chan struct{}    // closed when the process waits, or cannot
	process *process.Waiting // once it is ready; nil: it cannot
	leaves  *time.Timer
}

// close ends who waits and returns when that is gone.
func (g *prestarted) close() {
	if <-g.ready; g.process != nil {
		g.process.Close()
	}
}

// New returns a pool in which nobody waits.
func New(cfg Config) *Pool {
	return &Pool{cfg: cfg, done: make(chan struct{}), live: map[string]int{}}
}

// Launch is process.Launch, by the process that waits for that if there is one. It may be called after Close.
func (r *Pool) Launch(ctx context.Context, cfg process.Config) (*process.Process, error) {
	r.mu.Lock()
	r.live[cfg.Plugin]++
	found := r.takeLocked(func(g *prestarted) bool { return g.cfg.Plugin == cfg.Plugin })
	r.mu.Unlock()
	launch := process.Launch
	for _, g := range found {
		select {
		case <-g.ready: // soon: what is still done for it would have to be done now
			if g.process != nil && g.process.Fits(cfg) {
				launch = g.process.Launch
				continue
			}
		case <-ctx.Done():
		}
		if !r.spawn(g.close) {
			g.close()
		}
	}
	p, err := launch(ctx, cfg)
	if err != nil {
		r.ended(cfg, false)
		return nil, err
	}
	r.spawn(func() {
		select {
		case <-p.Done():
			r.ended(cfg, true)
		case <-r.done:
		}
	})
	return p, nil
}

// Sweep ends those who wait for what is not wanted any more. It returns before they are gone.
func (r *Pool) Sweep() { r.dismiss(func(g *prestarted) bool { return !r.cfg.Wanted(g.cfg) }) }

// Close ends all who wait, and returns when they are gone. From then on nobody waits. It may be called more than once.
func (r *Pool) Close() {
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		close(r.done)
	}
	r.mu.Unlock()
	r.dismiss(func(*prestarted) bool { return true })
	r.work.Wait()
}

// spawn runs f in a goroutine that Close waits for; f must end with r.done, or by itself. It does not, and returns false, once
// the pool is closed.
func (r *Pool) spawn(f func()) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.work.Go(f)
	}
	return !r.closed
}

// ended notes that a process of a plugin is no more, or that there was none. After the last one that ran, another one waits.
func (r *Pool) ended(cfg process.Config, ran bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.live[cfg.Plugin]--; r.live[cfg.Plugin] > 0 {
		return
	}
	delete(r.live, cfg.Plugin)
	if !ran || r.closed || r.cfg.Most == 0 || !r.cfg.Wanted(cfg) {
		return
	}
	cfg.Report = nil // it was the last launch's, as the instance was
	cfg.Instance = cfg.Plugin + "-waiting"
	g := &prestarted{cfg: cfg, ready: make(chan struct{})}
	g.leaves = time.AfterFunc(lasts, func() { r.dismiss(func(other *prestarted) bool { return other == g }) })
	r.waiting = append(r.waiting, g)
	r.work.Go(func() { r.prepare(g) })
	if first := r.waiting[0]; len(r.waiting) > r.cfg.Most {
		r.dismissLocked(func(other *prestarted) bool { return other == first })
	}
}

// prepare has a prestarted process's process wait.
func (r *Pool) prepare(g *prestarted) {
	defer close(g.ready)
	waiting, err := process.Wait(g.cfg)
	if err == nil {
		g.process = waiting
		return
	}
	r.dismiss(func(other *prestarted) bool { return other == g })
	if !errors.Is(err, process.ErrNotSandboxed) {
		r.cfg.Logger.Warn("no process waits for the next call of a plugin", "error", err)
	}
}

// dismiss ends those who wait and are unwanted. It returns before they are gone. unwanted is called with the lock held.
func (r *Pool) dismiss(unwanted func(g *prestarted) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dismissLocked(unwanted)
}

func (r *Pool) dismissLocked(unwanted func(g *prestarted) bool) {
	for _, g := range r.takeLocked(unwanted) {
		r.work.Go(g.close)
	}
}

// takeLocked returns the prestarted processes that are chosen, who are the pool's no more.
func (r *Pool) takeLocked(chosen func(g *prestarted) bool) (taken []*prestarted) {
	r.waiting = slices.DeleteFunc(r.waiting, func(g *prestarted) bool {
		if !chosen(g) {
			return false
		}
		g.leaves.Stop()
		taken = append(taken, g)
		return true
	})
	return taken
}
