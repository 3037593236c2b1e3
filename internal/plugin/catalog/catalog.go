// Package catalog knows which plugins and tools exist, at which digest.
//
// It scans folders for plugins, keeps a copy of each under its digest so that what was checked is what runs, and asks
// each new digest once what it is; the answer is cached on disk. What is in service changes only when somebody says so:
// a changed file is a candidate, and takes the place of what it replaces by Activate. It starts no instances: asking is
// the business of the Describe function that it is given, warming a candidate that of internal/host. It does not know
// calls.
package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/internal/plugin/manifest"
	"github.com/toolhost/toolhost/internal/trust"
	"github.com/toolhost/toolhost/tool"
)

// DescribeFunc starts the plugin for a moment and asks it what it is. How to run it is in Path, Args, Env and Dir.
// Info.Name is the name that it will most likely give itself, so that it can be run as it will be then: that of its
// manifest, of its digest in the lock file, of what is or was in its place, else of its file. All else of p is not known
// yet. It must end with ctx.
type DescribeFunc func(ctx context.Context, p *Plugin) (tool.Description, error)

// Config says where plugins are and how they are asked. Folders, StateDir and Describe are required.
type Config struct {
	Folders  []string // searched in this order; the first plugin or tool of a name wins
	StateDir string   // where copies and decisions are kept; made if it does not exist, and this catalogue's alone

	Describe        DescribeFunc
	DescribeTimeout time.Duration // for one plugin; 0: 10 s
	Parallel        int           // plugins read, or asked, at the same time; 0: 4

	Overrides Overrides // what the operator says about tools

	Trust    *trust.Store // what the operator trusts of plugins; nil: all that is found
	TrustNew bool         // plugins that arrive later, and changes of what plugins declare, are trusted, too

	Locked   bool   // only what LockFile pins is run, not even to ask it what it is
	LockFile string // a toolhost.lock; read at each Load if Locked
	// CheckLock decides whether the content of LockFile may be used; Load fails with its error. nil: any content may be.
	CheckLock func(path string, data []byte) error

	WatchInterval time.Duration // between two looks of Watch; 0: 1 s
	// Retention is how long a copy that is out of use is kept for instances that still run it; 0: 15 min, below 0: not.
	Retention time.Duration

	MaxFolderBytes int64 // of a folder plugin that is copied; above, it is run in place; 0: 200 MiB
	MaxFolderFiles int   // of a folder plugin that is copied; above, it is run in place; 0: 20,000

	Logger *slog.Logger // nil: none
}

func (c Config) withDefaults() Config {
	c.DescribeTimeout = cmp.Or(c.DescribeTimeout, 10*time.Second)
	c.Parallel = cmp.Or(c.Parallel, 4)
	c.WatchInterval = cmp.Or(c.WatchInterval, time.Second)
	c.Retention = cmp.Or(c.Retention, 15*time.Minute)
	c.MaxFolderBytes = cmp.Or(c.MaxFolderBytes, 200<<20)
	c.MaxFolderFiles = cmp.Or(c.MaxFolderFiles, 20_000)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// Catalog is the current knowledge. All methods are safe for concurrent use.
type Catalog struct {
	cfg   Config
	lock  *stateLock
	store *store
	index *index

	loading chan struct{} // holds one token; who has it reads the folders. Not a mutex: waiting for it can be cancelled
	asks    chan struct{} // one token for each question to a plugin that is under way

	current atomic.Pointer[Snapshot] // replaced with mu held

	mu       sync.Mutex
	slots    []*slot              // in the order of the scan
	base     *Snapshot            // who has which name, where two want it
	pins     manifest.Lock        // what may run; nil: anything
	records  *trust.Plugins       // what is trusted; nil without Config.Trust
	asking   map[string]struct{}  // digests that are being asked what they are
	settled  chan struct{}        // closed once asking is empty
	served   map[string]bool      // digests of which there may be instances
	retired  map[string]time.Time // those that nothing needs any more, and since when
	sweeping bool                 // the store is swept once the first of them has been kept for long enough
	changed  chan struct{}        // closed once there is a newer snapshot
	loaded   bool                 // the folders were read
	retrying bool                 // those that did not answer an earlier toolhost are being asked, or were
	closed   bool

	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// Open prepares the state folder and reads what is known from earlier. It scans nothing: call Load. A state folder that
// another catalogue has open is an error.
func Open(cfg Config) (*Catalog, error) {
	cfg = cfg.withDefaults()
	if cfg.Locked && cfg.LockFile == "" {
		return nil, errors.New("no lock file is named")
	}
	if err := os.MkdirAll(cfg.StateDir, 0o700); err != nil {
		return nil, fmt.Errorf("making the state folder: %w", err)
	}
	lock, err := lockState(cfg.StateDir)
	if err != nil {
		return nil, err
	}
	store, err := openStore(cfg.StateDir)
	if err != nil {
		lock.release()
		return nil, err
	}
	index, err := openIndex(cfg.StateDir, cfg.Logger)
	if err != nil {
		lock.release()
		return nil, err
	}
	c := &Catalog{
		cfg: cfg, lock: lock, store: store, index: index,
		loading: make(chan struct{}, 1), asks: make(chan struct{}, cfg.Parallel),
		served: map[string]bool{}, retired: map[string]time.Time{},
		asking: map[string]struct{}{}, settled: closedChan(), changed: make(chan struct{}),
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.base = newSnapshot(nil, nil, nil, nil, nil)
	c.current.Store(c.base)
	return c, nil
}

// Close stops watching, aborts loads and questions to plugins that are under way, waits for them and gives the state
// folder up. A closed catalogue can be read, and nothing else.
func (c *Catalog) Close() error {
	c.mu.Lock()
	closed := c.closed
	c.closed = true
	c.mu.Unlock()
	c.cancel()
	c.wg.Wait()
	if !closed {
		c.loading <- struct{}{} // for good: nobody reads the folders any more
		c.lock.release()
	}
	return nil
}

// spawn runs f in a goroutine that Close waits for; f must end with c.ctx. It runs nothing once the catalogue is closed.
// The caller holds c.mu.
func (c *Catalog) spawn(f func()) {
	if !c.closed {
		c.wg.Go(f)
	}
}

// Snapshot returns what is known now. It never blocks.
func (c *Catalog) Snapshot() *Snapshot { return c.current.Load() }

// Next returns the current Snapshot as soon as it is another than seen. Intermediate ones may be passed over: compare
// with Diff. The error is ctx's.
func (c *Catalog) Next(ctx context.Context, seen *Snapshot) (*Snapshot, error) {
	for {
		c.mu.Lock()
		now, changed := c.current.Load(), c.changed
		c.mu.Unlock()
		if now != seen {
			return now, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

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

// publishLocked makes what the slots hold the current snapshot.
func (c *Catalog) publishLocked() {
	c.current.Store(newSnapshot(c.base, c.slots, c.pins, c.cfg.Overrides, c.bounds()))
	close(c.changed)
	c.changed = make(chan struct{})
}

// bounds returns the records that bound what plugins declare; nil if nothing does.
func (c *Catalog) bounds() *trust.Plugins {
	if c.cfg.TrustNew {
		return nil
	}
	return c.records
}

func closedChan() chan struct{} {
	ch := make(chan struct{})
	close(ch)
	return ch
}
