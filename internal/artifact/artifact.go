// Package artifact keeps on disk what is too large to be shown: results of tools, by handle, for callers and tools that
// ask for the rest.
//
// It owns one folder with a file for each artifact, and what is thrown out of it. Each artifact belongs to a principal
// and a session, and nobody else is told that it exists. The package does not decide what becomes an artifact, or what a
// result shows of it; see internal/host.
//
// A file holds the artifact and, in its first line, all that is known of it. So one rename makes both, there is no index
// that could disagree with the files, and a store that is opened reads no more than the first line of each. What Put has
// returned for survives the end of the process, however it ends; after a power failure an artifact may be gone, and is
// never there in part.
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

// Config says where a store is and how much it keeps. All but Dir may be left out. Whichever bound is reached first
// counts; the oldest artifacts go.
type Config struct {
	Dir      string        // the store's own folder, made if it is not there
	MaxBytes int64         // of all artifacts together; 0: 1 GiB
	MaxCount int           // how many artifacts; 0: 10,000
	MaxAge   time.Duration // how long an artifact is kept; 0: seven days
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

// Owner is whose an artifact is: sessions are their principal's.
type Owner struct {
	Principal string `json:"principal"`
	Session   string `json:"session"` // empty: the principal's default session
}

// Store keeps artifacts. All methods are safe for concurrent use. Its errors are *tool.Error.
type Store struct {
	cfg  Config
	root *os.Root
	lock *os.File

	mu      sync.Mutex
	entries map[string]*list.Element // of *entry, by handle
	ages    *list.List               // of *entry, the oldest first
	bytes   int64                    // of all entries and of what is being written
	writing int                      // artifacts that are being written
	closed  bool

	stop   chan struct{}
	expiry sync.WaitGroup // the goroutine that removes what is too old
}

// Open opens the store in its folder, which no other store may have open, and removes what is damaged, too old or
// too much. Close it in the end.
func Open(cfg Config) (*Store, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("opening the artifacts: %w", err)
	}
	s := &Store{cfg: cfg, entries: map[string]*list.Element{}, ages: list.New(), stop: make(chan struct{})}
	if err := s.open(); err != nil {
		return nil, fmt.Errorf("opening the artifacts in %s: %w", cfg.Dir, err)
	}
	s.expiry.Go(s.expire) // ends with Close, which waits
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

// Close ends the store and waits for its goroutine. Reads and writes under way fail or end. It may be called more than
// once.
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
