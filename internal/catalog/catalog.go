// Package catalog knows which plugins and tools exist, at which digest.
//
// It scans folders for executables, keeps a copy of each under its digest so that what was checked is what runs, and
// asks each new digest once what it is; the answer is cached on disk. It starts no instances: asking is the business of
// the Describe function that it is given. It does not know calls.
package catalog

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/toolhost/toolhost/tool"
)

// DescribeFunc starts the executable at path for a moment and asks it what it is. It must end with ctx.
type DescribeFunc func(ctx context.Context, path string) (tool.Description, error)

// Config says where plugins are and how they are asked. Folders, StateDir and Describe are required.
type Config struct {
	Folders  []string // searched in this order; the first plugin or tool of a name wins
	StateDir string   // where copies and descriptions are kept; made if it does not exist

	Describe        DescribeFunc
	DescribeTimeout time.Duration // for one plugin; 0: 10 s
	Parallel        int           // plugins asked at the same time; 0: 4

	Logger *slog.Logger // nil: none
}

// Catalog is the current knowledge. All methods are safe for concurrent use.
type Catalog struct {
	cfg   Config
	store *store

	current atomic.Pointer[Snapshot]

	mu      sync.Mutex    // guards settled and orders Load against itself
	settled chan struct{} // closed once no plugin waits to be asked

	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// Open prepares the state folder and reads what is known from earlier. It scans nothing: call Load.
func Open(cfg Config) (*Catalog, error) {
	if cfg.DescribeTimeout == 0 {
		cfg.DescribeTimeout = 10 * time.Second
	}
	if cfg.Parallel == 0 {
		cfg.Parallel = 4
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	store, err := openStore(cfg.StateDir)
	if err != nil {
		return nil, err
	}
	c := &Catalog{cfg: cfg, store: store, settled: closedChan()}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.current.Store(newSnapshot(nil))
	return c, nil
}

// Close aborts questions to plugins that are under way and waits for them.
func (c *Catalog) Close() error {
	c.cancel()
	c.wg.Wait()
	return nil
}

// Snapshot returns what is known now. It never blocks.
func (c *Catalog) Snapshot() *Snapshot { return c.current.Load() }

// Settle waits until no plugin waits to be asked what it is, or until ctx ends.
func (c *Catalog) Settle(ctx context.Context) error {
	c.mu.Lock()
	settled := c.settled
	c.mu.Unlock()
	select {
	case <-settled:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Load scans the folders. Plugins that are known from earlier are in the Snapshot when it returns; new ones join it
// one by one as they answer (see Settle), so that a slow one delays nobody. A folder that cannot be read is an error; a
// bad plugin is not: it is in the Snapshot with the reason.
func (c *Catalog) Load(ctx context.Context) error {
	var files []candidate
	for _, folder := range c.cfg.Folders {
		found, err := scan(folder)
		if err != nil {
			return fmt.Errorf("scanning plugin folder %s: %w", folder, err)
		}
		files = append(files, found...)
	}
	plugins := make([]*Plugin, len(files))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(c.cfg.Parallel)
	for i, file := range files {
		group.Go(func() error {
			plugins[i] = c.identify(ctx, file)
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("reading plugins: %w", err)
	}
	if err := c.store.save(); err != nil {
		return err
	}
	c.ask(plugins)
	return nil
}

// identify finds the file's digest and, if it is known, its description.
func (c *Catalog) identify(ctx context.Context, file candidate) *Plugin {
	p := &Plugin{Source: file.path, Info: tool.Description{Name: filepath.Base(file.path)}}
	if file.problem != "" {
		p.Problem = file.problem
		return p
	}
	digest, path, err := c.store.add(ctx, file)
	if err != nil {
		p.Problem = err.Error()
		return p
	}
	p.Digest, p.Path = digest, path
	if d, ok := c.store.description(digest); ok {
		p.describe(d)
	} else {
		p.Problem = problemPending
	}
	return p
}

// ask publishes the plugins and asks those that are new, in the background.
func (c *Catalog) ask(plugins []*Plugin) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current.Store(newSnapshot(plugins))
	var pending []int
	for i, p := range plugins {
		if p.Problem == problemPending {
			pending = append(pending, i)
		}
	}
	if len(pending) == 0 {
		return
	}
	settled := make(chan struct{})
	c.settled = settled
	// Owned by c: ends with its context, Close waits.
	c.wg.Go(func() {
		defer close(settled)
		var group errgroup.Group
		group.SetLimit(c.cfg.Parallel)
		for _, i := range pending {
			group.Go(func() error {
				c.publish(plugins, i, c.askOne(plugins[i]))
				return nil
			})
		}
		_ = group.Wait()
	})
}

func (c *Catalog) askOne(old *Plugin) *Plugin {
	ctx, cancel := context.WithTimeout(c.ctx, c.cfg.DescribeTimeout)
	defer cancel()
	p := *old
	p.Problem = ""
	d, err := c.cfg.Describe(ctx, p.Path)
	if err != nil {
		p.Problem = err.Error()
		c.cfg.Logger.Warn("plugin left out", "file", p.Source, "reason", p.Problem)
		return &p
	}
	p.describe(d)
	if err := c.store.remember(p.Digest, d); err != nil {
		c.cfg.Logger.Warn("description not kept; the plugin will be asked again at the next start", "file", p.Source, "error", err)
	}
	return &p
}

// publish replaces one plugin of the load that plugins stands for, unless a later load has replaced them all.
func (c *Catalog) publish(plugins []*Plugin, i int, p *Plugin) {
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.current.Load()
	if i >= len(old.scanned) || old.scanned[i] != plugins[i] {
		return
	}
	next := append([]*Plugin(nil), old.scanned...)
	next[i] = p
	plugins[i] = p
	c.current.Store(newSnapshot(next))
}

func closedChan() chan struct{} {
	ch := make(chan struct{})
	close(ch)
	return ch
}
