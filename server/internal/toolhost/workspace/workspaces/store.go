// Package workspaces owns the folders in which tools work if each tenant or session has its own: it
// creates them, measures them against a quota, and removes them.
//
// It does not know which process may access a folder; package sandbox confines processes.
package workspaces

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/store/filelock"
	"github.com/toolhost/toolhost/server/internal/store/atomicfile"
	"github.com/toolhost/toolhost/server/internal/store/rmtree"
)

// Config describes a Store. Folder and Logger are required.
type Config struct {
	// Folder is the absolute path of the folder that holds the workspaces. Open creates it. No plugin
	// may access it as a whole.
	Folder string
	Quota  int64         // the most bytes of one workspace; 0: unlimited
	Keep   time.Duration // how long a workspace stays that no process uses; 0: forever
	Logger *slog.Logger
	Now    func() time.Time // nil: time.Now
}

// Owner says whose workspace a folder is. Principal and Session are empty if the workspace belongs
// to the whole tenant.
type Owner struct {
	Tenant    string `json:"tenant"`
	Principal string `json:"principal,omitempty"`
	Session   string `json:"session,omitempty"`
}

// Store has the workspaces of one toolhost. All methods are safe for concurrent use.
//
// The folder of a workspace is named by the digest of its owner, because a caller chooses the name
// of a session, and an issuer of credentials that of a tenant. The folder has a record of the
// owner, and a folder `files`, which is the workspace. A process gets access to `files` alone, so
// no tool can change a record or reach the workspace of another owner by a path.
//
// A process claims its workspace before it starts, and releases it when it is gone. The store
// removes a workspace only if no process claims it.
type Store struct {
	cfg  Config
	lock *os.File
	done chan struct{}
	work sync.WaitGroup

	mu     sync.Mutex
	in     map[string]*usage // the workspaces that processes claim, by the name of the folder
	closed bool
}

// record is the content of the file beside a workspace.
type record struct {
	Owner
	Used time.Time `json:"used"` // when a process last began or ceased to use it
}

const (
	recordFile = "owner.json"
	filesDir   = "files"
	lockFile   = "lock"
)

// Open opens the folder of the workspaces. It fails if another toolhost uses the folder.
func Open(cfg Config) (*Store, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if err := os.MkdirAll(cfg.Folder, 0o700); err != nil {
		return nil, fmt.Errorf("creating the folder of the workspaces: %w", err)
	}
	lock, err := filelock.Take(filepath.Join(cfg.Folder, lockFile))
	if errors.Is(err, filelock.ErrHeld) {
		return nil, fmt.Errorf("another toolhost uses the workspaces in %s; give each toolhost its own folder", cfg.Folder)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the folder of the workspaces: %w", err)
	}
	s := &Store{cfg: cfg, lock: lock, done: make(chan struct{}), in: map[string]*usage{}}
	s.Sweep()
	if cfg.Keep > 0 {
		s.work.Go(s.sweepOften) // ends with done; Close waits
	}
	return s, nil
}

// Close ends the measuring and removing of workspaces, and waits for it.
func (s *Store) Close() error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.done)
	}
	s.mu.Unlock()
	s.work.Wait()
	return s.lock.Close()
}

// Name returns the name of an owner's folder, of 32 lower-case letters and digits. Each part is
// preceded by its length, so that two owners never have the same text.
func (o Owner) Name() string {
	h := sha256.New()
	for _, part := range []string{o.Tenant, o.Principal, o.Session} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(h.Sum(nil)[:20]))
}

// Claim returns the workspace of an owner for one process, and creates it with mode 0700 if there
// is none. The caller must release it when the process is gone.
func (s *Store) Claim(owner Owner) (*Claim, error) {
	name := owner.Name()
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.in[name]
	if u == nil {
		if err := s.prepare(name, owner); err != nil {
			return nil, fmt.Errorf("preparing the workspace: %w", err)
		}
		u = &usage{store: s, owner: owner, path: s.path(name), claims: map[*Claim]struct{}{}, idle: make(chan struct{})}
		s.in[name] = u
		if s.cfg.Quota > 0 {
			u.measured = s.measure(u)
			if !s.closed {
				s.work.Go(u.watch) // ends with the last claim, or with done; Close waits
			}
		}
	}
	c := &Claim{usage: u, name: name, over: make(chan struct{}), limited: u.measured > s.cfg.Quota}
	u.claims[c] = struct{}{}
	return c, nil
}

func (s *Store) path(name string) string { return filepath.Join(s.cfg.Folder, name, filesDir) }

// prepare creates a workspace that does not exist, and writes its record.
func (s *Store) prepare(name string, owner Owner) error {
	if err := os.MkdirAll(s.path(name), 0o700); err != nil {
		return err
	}
	return s.write(name, owner)
}

func (s *Store) write(name string, owner Owner) error {
	text, err := json.Marshal(record{owner, s.cfg.Now().UTC()})
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(s.cfg.Folder, name, recordFile), append(text, '\n'), 0o600)
}

// Sweep removes the workspaces that no process has used for as long as Config.Keep says.
func (s *Store) Sweep() {
	if s.cfg.Keep <= 0 {
		return
	}
	entries, err := os.ReadDir(s.cfg.Folder)
	if err != nil {
		s.cfg.Logger.Warn("old workspaces are not removed", "error", err)
		return
	}
	for _, e := range entries {
		if err := s.removeOld(e.Name()); err != nil {
			s.cfg.Logger.Warn("an old workspace is not removed", "folder", e.Name(), "error", err)
		}
	}
}

// removeOld removes a workspace if it is old. It holds the mutex meanwhile, so that no process
// begins to use the workspace. It leaves everything that is not a workspace.
func (s *Store) removeOld(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, err := os.ReadFile(filepath.Join(s.cfg.Folder, name, recordFile))
	if s.in[name] != nil || err != nil {
		return nil
	}
	var r record
	if err := json.Unmarshal(text, &r); err != nil || r.Name() != name {
		return nil
	}
	if age := s.cfg.Now().Sub(r.Used); age < s.cfg.Keep {
		return nil
	}
	s.cfg.Logger.Info("workspace removed", "tenant", r.Tenant, "principal", r.Principal, "session", r.Session, "used", r.Used)
	// The files first: without a record, a folder that could not be removed would stay for ever.
	if err := rmtree.Remove(s.path(name)); err != nil {
		return err
	}
	return rmtree.Remove(filepath.Join(s.cfg.Folder, name))
}

// sweepOften sweeps until the store closes.
func (s *Store) sweepOften() {
	ticker := time.NewTicker(min(max(s.cfg.Keep/10, time.Second), time.Hour))
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			s.Sweep()
		case <-s.done:
			return
		}
	}
}
