// Package artifact stores, on disk, content that is too large for results. Callers and tools can
// read it by handle.
//
// The package owns one folder with a file for each artifact, and decides which artifacts it
// removes. Each artifact belongs to a principal and a session, and others cannot find out that it
// exists. server/internal/toolhost/host decides which content becomes an artifact, and what the
// result shows of it.
//
// A file contains everything about an artifact: its first line is a header, and the content
// follows. One rename makes both visible, no index can disagree with the files, and opening a store
// reads only the header of each file. An artifact whose handle Put has returned survives the end of
// the process. After a power failure an artifact may be gone, but no file contains only a part of
// one.
package artifact

import (
	"cmp"
	"container/list"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// Config sets the folder and the bounds of a store. Only Dir is required. The store removes the
// oldest artifacts when any bound is reached.
type Config struct {
	Dir      string        // the folder of the store; created if it does not exist
	MaxBytes int64         // 0: 1 GiB for all artifacts together
	MaxCount int           // 0: 10,000 artifacts
	MaxAge   time.Duration // the age at which an artifact is removed; 0: seven days
	Place    string        // names this store in the handles of new artifacts; lower-case letters and digits; empty: not
	Logger   *slog.Logger  // nil: nothing is logged
}

func (c Config) withDefaults() (Config, error) {
	if c.Dir == "" {
		return c, errors.New("no folder is given")
	}
	if c.MaxBytes < 0 || c.MaxCount < 0 || c.MaxAge < 0 {
		return c, errors.New("a bound is negative")
	}
	c.MaxBytes = cmp.Or(c.MaxBytes, 1<<30)
	c.MaxCount = cmp.Or(c.MaxCount, 10_000)
	c.MaxAge = cmp.Or(c.MaxAge, 7*24*time.Hour)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// Owner names the session that an artifact belongs to. Sessions belong to their principal.
type Owner struct {
	Principal string `json:"principal"`
	Session   string `json:"session"` // empty: the principal's default session
}

// Store is an open store. All methods are safe for concurrent use. Their errors are *tool.Error.
type Store struct {
	cfg  Config
	root *os.Root
	lock *os.File

	mu      sync.Mutex
	entries map[string]*list.Element // of *entry, by handle
	ages    *list.List               // of *entry, the oldest first
	bytes   int64                    // of all entries and of artifacts that are being written
	writing int                      // artifacts that are being written
	owners  owners
	quota   Quota // nil: there is none
	closed  bool

	stop   chan struct{}
	expiry sync.WaitGroup // the goroutine that removes old artifacts
}

// Open opens the store in a folder, which no other store may have open. It removes artifacts that
// are damaged, too old or too many. The caller must close the store.
func Open(cfg Config) (*Store, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("opening the artifacts: %w", err)
	}
	s := &Store{cfg: cfg, entries: map[string]*list.Element{}, ages: list.New(), owners: newOwners(), stop: make(chan struct{})}
	if err := s.open(); err != nil {
		return nil, fmt.Errorf("opening the artifacts in %s: %w", cfg.Dir, err)
	}
	s.expiry.Go(s.expire) // ends with Close, which waits for it
	return s, nil
}

func (s *Store) open() error {
	if err := os.MkdirAll(s.cfg.Dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(s.cfg.Dir)
	if err != nil {
		return err
	}
	s.root = root
	if s.lock, err = lockFolder(root); err == nil {
		err = s.load()
	}
	if err != nil {
		s.release()
	}
	return err
}

// Quota returns the most bytes of the artifacts of a principal's tenant, and of the principal; 0:
// no bound of its own. It must be safe for concurrent use, and must not call the store.
type Quota func(principal string) (ofTenant, ofPrincipal int64)

// Limit sets the quotas of tenants and principals. They apply to the next artifact of each.
func (s *Store) Limit(q Quota) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.quota = q
}

// Usage returns how many artifacts are stored, and how many bytes they take.
func (s *Store) Usage() (count int, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.entries), s.bytes
}

// Close closes the store and waits for its goroutine. Reads and writes in progress end or fail.
// Close may be called more than once.
func (s *Store) Close() error {
	s.mu.Lock()
	closed := s.closed
	s.closed = true
	s.mu.Unlock()
	if !closed {
		close(s.stop)
	}
	s.expiry.Wait()
	if !closed {
		s.release()
	}
	return nil
}

func (s *Store) release() {
	_ = s.root.Close()
	if s.lock != nil {
		_ = s.lock.Close()
	}
}
