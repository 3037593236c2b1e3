// Package catalog knows which plugins and tools exist, and at which digest.
//
// It scans folders for plugins and keeps a copy of each under its digest, so that exactly the
// checked bytes run. It asks each new digest once for its description, and caches the answer on
// disk. A changed file does not come into service by itself: it is a candidate, and Activate puts
// it into service. The package starts no instances: its Config has a function Describe that asks a
// plugin, and server/internal/toolhost/host warms candidates up. It does not know calls.
package catalog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/manifest"
)

// Catalog is the current knowledge of plugins, and decides what is in service. Each of its parts
// owns one kind of state: sources the folders, asker the questions to plugins, sweeper the removal
// of copies, trust the operator's trust, index the records on disk, and tasks the goroutines.
//
// All methods are safe for concurrent use. mu guards the slots and everything that decisions about
// the slots depend on. No method reads or writes the content of a file while it holds mu. A method
// that holds mu may take the locks of the parts, but code that holds the lock of a part must not
// take mu. The callers of methods whose names end in Locked hold mu.
type Catalog struct {
	cfg     Config
	lock    *StateLock
	index   *index
	tasks   *tasks
	sources *sources
	asker   *asker
	sweeper *sweeper
	trust   *trustBounds

	current atomic.Pointer[Snapshot] // replaced with mu held

	mu    sync.Mutex
	slots []*slot // in the order of the scan
	// the operator's settings for tools, and the number of the configuration that they belong to
	overrides  Overrides
	generation uint64
	base       *Snapshot     // decides which plugin has a contested name
	pins       manifest.Lock // the digests that may run; nil: all
	changed    chan struct{} // closed once there is a newer snapshot
	loaded     bool          // the folders were read
	settled    time.Time     // when all slots were decided about last
	unsettled  bool          // answers arrived since, and settleSoonLocked will decide
}

// Open prepares the state folder and reads the records of earlier processes. It scans nothing: call
// Load. It fails if another catalog has the state folder open.
func Open(cfg Config) (*Catalog, error) {
	cfg = cfg.withDefaults()
	if cfg.Locked && cfg.LockFile == "" {
		return nil, errors.New("no lock file is named")
	}
	if err := os.MkdirAll(cfg.StateDir, 0o700); err != nil {
		return nil, fmt.Errorf("making the state folder: %w", err)
	}
	lock, err := LockState(cfg.StateDir)
	if err != nil {
		return nil, err
	}
	store, err := openStore(cfg.StateDir)
	if err != nil {
		lock.Release()
		return nil, err
	}
	index, err := openIndex(cfg.StateDir, cfg.Logger)
	if err != nil {
		lock.Release()
		return nil, err
	}
	c := &Catalog{
		cfg: cfg, lock: lock, index: index,
		trust: &trustBounds{store: cfg.Trust, trustNew: cfg.TrustNew, folders: cfg.Folders, log: cfg.Logger},
		tasks: newTasks(), changed: make(chan struct{}), overrides: cfg.Overrides,
	}
	c.sources = newSources(cfg, store, index, c.tasks)
	c.asker = newAsker(cfg, store, c.tasks)
	c.sweeper = newSweeper(cfg, c.sources, c.asker)
	c.base = newSnapshot(nil, nil, nil, nil, nil, 0)
	c.current.Store(c.base)
	return c, nil
}

// Close stops watching, aborts loads and questions to plugins, waits for them and releases the
// state folder. A closed catalog can only be read.
func (c *Catalog) Close() error {
	if c.tasks.close() {
		c.sources.close()
		c.lock.Release()
	}
	return nil
}

// Next returns the current Snapshot as soon as it differs from seen. It may skip intermediate ones:
// compare with Diff. The error is ctx's.
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

// Settle waits until every plugin has been asked for its description, or until ctx ends.
func (c *Catalog) Settle(ctx context.Context) error { return c.asker.wait(ctx) }

// Configure replaces the operator's settings for tools. The new snapshot and all later ones have
// the number generation, until Configure is called again.
func (c *Catalog) Configure(overrides Overrides, generation uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.overrides, c.generation = overrides, generation
	c.publishLocked()
}

// publishLocked makes the content of the slots the current snapshot.
func (c *Catalog) publishLocked() {
	c.current.Store(newSnapshot(c.base, c.slots, c.pins, c.overrides, c.trust.inForce(), c.generation))
	close(c.changed)
	c.changed = make(chan struct{})
}

// recordTrust brings the trust records up to date with the plugins in service. It reads and writes
// files, so the caller does not hold c.mu.
//
// It does nothing while a plugin is being asked what it is: a name that two new plugins claim
// belongs to the first in the order of the scan, whichever answers first.
func (c *Catalog) recordTrust() {
	c.mu.Lock()
	snapshot, records := c.current.Load(), c.trust.records
	asking := slices.ContainsFunc(c.slots, (*slot).awaits)
	c.mu.Unlock()
	if asking {
		return
	}
	updated := c.trust.complete(snapshot, records)
	if updated == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trust.records = updated
	c.settleSlotsLocked()
}
