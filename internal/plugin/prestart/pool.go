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

// lasts is how long a prestarted process waits: long enough for a person who thinks, but not
// forever, because it holds mounts of what its plugin was granted.
const lasts = 30 * time.Minute

// Config describes a pool. All fields but Most are required.
type Config struct {
	// Most bounds the prestarted processes. A further one replaces the one that has waited longest.
	// Zero means that the pool prestarts none.
	Most int
	// Wanted reports whether a process with this Config may still be needed for its plugin. It must
	// not block. Any goroutine may call it.
	Wanted func(cfg process.Config) bool
	Logger *slog.Logger
}

// Pool launches plugins and keeps prestarted processes. All methods are safe for concurrent use.
// Close it.
type Pool struct {
	cfg  Config
	done chan struct{}
	work sync.WaitGroup // goroutines that end with a process, with a prestarted one, or with done

	mu      sync.Mutex
	closed  bool
	live    map[string]int // processes of a plugin that run or are being launched
	waiting []*prestarted  // the one that has waited longest first
}

// prestarted is a process that waits for the next launch of its plugin. There is at most one for
// each plugin.
type prestarted struct {
	cfg     process.Config
	ready   chan struct{}    // closed when the process waits, or cannot
	process *process.Waiting // set once ready is closed; nil: it cannot wait
	leaves  *time.Timer
}

// close ends the process and returns when it is gone.
func (g *prestarted) close() {
	if <-g.ready; g.process != nil {
		g.process.Close()
	}
}

// New returns a pool without prestarted processes.
func New(cfg Config) *Pool {
	return &Pool{cfg: cfg, done: make(chan struct{}), live: map[string]int{}}
}

// Launch is process.Launch. It uses the prestarted process if one fits. It may be called after
// Close.
func (r *Pool) Launch(ctx context.Context, cfg process.Config) (*process.Process, error) {
	r.mu.Lock()
	r.live[cfg.Plugin]++
	found := r.takeLocked(func(g *prestarted) bool { return g.cfg.Plugin == cfg.Plugin })
	r.mu.Unlock()
	launch := process.Launch
	for _, g := range found {
		select {
		case <-g.ready: // soon: its remaining preparation would have to be done now anyway
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

// Sweep ends the prestarted processes that are not wanted any more. It returns before they are
// gone.
func (r *Pool) Sweep() { r.dismiss(func(g *prestarted) bool { return !r.cfg.Wanted(g.cfg) }) }

// Clear ends all prestarted processes. It returns before they are gone. Later ones may wait again.
func (r *Pool) Clear() { r.dismiss(func(*prestarted) bool { return true }) }

// Close ends all prestarted processes, and returns when they are gone. The pool prestarts none
// after it. It may be called more than once.
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

// spawn runs f in a goroutine that Close waits for. f must return when r.done is closed, or by
// itself. If the pool is closed, spawn does nothing and returns false.
func (r *Pool) spawn(f func()) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.work.Go(f)
	}
	return !r.closed
}

// ended records that a process of a plugin has ended, or was not launched. ran says that it ran. If
// it was the last process of the plugin, the pool prestarts another one.
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
	cfg.Report = nil                                     // it belonged to the last launch, as the instance did
	cfg.Instance, cfg.Tenant = cfg.Plugin+"-waiting", "" // a process without a call has no tenant
	g := &prestarted{cfg: cfg, ready: make(chan struct{})}
	g.leaves = time.AfterFunc(lasts, func() { r.dismiss(func(other *prestarted) bool { return other == g }) })
	r.waiting = append(r.waiting, g)
	r.work.Go(func() { r.prepare(g) })
	if first := r.waiting[0]; len(r.waiting) > r.cfg.Most {
		r.dismissLocked(func(other *prestarted) bool { return other == first })
	}
}

// prepare prestarts the process of g.
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

// dismiss ends the prestarted processes for which unwanted returns true. It returns before they are
// gone. unwanted is called with the lock held.
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

// takeLocked removes the chosen processes from the pool and returns them.
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
