// Package tokenstore keeps the bearer tokens that a server issues: the principal, the scope, the
// expiry and the revocation of each. The secret of a token is shown once and not stored.
//
// It does not decide what a principal may do.
package tokenstore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/server/internal/access/authn"
)

// Store is the tokens of one server, in one file of its state folder, or those of several servers
// in a database. All methods are safe for concurrent use, also by several processes.
//
// The commands `token` change the file while a server reads it, and a revoked token must fail at
// its next use. So each lookup asks the kernel for the identity of the file and reads the file
// again if it is another one. A change never writes into an existing file: it puts a new file into
// its place. The store holds the file that it has read open, so the kernel cannot give its inode
// number to a new file. Therefore an equal identity means an equal content. If the file cannot be
// read, the store refuses all tokens.
type Store struct {
	prefix string
	folder string
	shared Shared // nil: the tokens are in the file
	now    func() time.Time

	// Before is called before tokens are created or revoked, with their records. After an error,
	// nothing is changed. nil: nothing is called. Set it before the first change.
	Before func(ctx context.Context, act Act, records []Record) error

	read    sync.Mutex // held while the file is read again
	current atomic.Pointer[snapshot]
}

// Shared is a database that has the tokens of several servers. Its methods are safe for concurrent
// use.
type Shared interface {
	// Name names the database, for messages.
	Name() string
	// Records returns all tokens, as they are in memory: another pointer after a change. It does not
	// block. It fails if the server has not reached the database for so long that it must accept none
	// of them.
	Records() (*[]Record, error)
	// Change calls f with all tokens, and stores what f returns. It excludes other changes meanwhile.
	// After an error of f, nothing has changed.
	Change(ctx context.Context, f func([]Record) ([]Record, error)) error
}

// snapshot is what one version of the file or of the database said. It is immutable.
type snapshot struct {
	file   *os.File    // nil: there was no file
	info   fs.FileInfo // of file
	of     *[]Record   // in a database
	tokens map[string]*entry
}

type entry struct {
	Record
	sum [sha256.Size]byte
}

// Act is a change of the tokens.
type Act string

// The changes.
const (
	Creates Act = "token create"
	Revokes Act = "token revoke"
)

func (s *Store) before(ctx context.Context, act Act, records []Record) error {
	if s.Before == nil {
		return nil
	}
	return s.Before(ctx, act, records)
}

// New returns the store of a program in its state folder. prefix is the name of the program, with
// which its tokens begin. New does no I/O. The caller must call Close.
func New(prefix, folder string) *Store {
	return &Store{prefix: prefix, folder: folder, now: time.Now}
}

// NewShared returns the store of a program whose tokens are in a database, which the store does not
// close. Servers that run follow Create and Revoke after some seconds.
func NewShared(prefix string, shared Shared) *Store {
	return &Store{prefix: prefix, shared: shared, now: time.Now}
}

// Close closes the file. Do not use the store afterwards.
func (s *Store) Close() error {
	s.read.Lock()
	defer s.read.Unlock()
	if c := s.current.Swap(nil); c != nil && c.file != nil {
		return c.file.Close()
	}
	return nil
}

// Path returns the path of the file.
func (s *Store) Path() string { return Path(s.prefix, s.folder) }

// Path returns the path of the file with the tokens of a program in its state folder.
func Path(prefix, folder string) string { return filepath.Join(folder, prefix+fileSuffix) }

// place returns where the tokens are, for messages.
func (s *Store) place() string {
	if s.shared != nil {
		return s.shared.Name()
	}
	return s.Path()
}

// Prefix returns the name of the program, with which tokens begin.
func (s *Store) Prefix() string { return s.prefix }

// Verify implements authn.Verifier. The errors contain the id of the token.
func (s *Store) Verify(_ context.Context, token string) (authn.Verified, error) {
	r, err := s.find(token)
	if err != nil {
		return authn.Verified{}, err
	}
	return authn.Verified{
		Principal: r.Principal(), Expires: r.Expires, ID: r.ID,
		Current: func(context.Context) error { _, err := s.find(token); return err },
	}, nil
}

// find returns the record of a token that is valid now.
func (s *Store) find(token string) (*Record, error) {
	id, err := parse(s.prefix, token)
	if err != nil {
		return nil, err
	}
	snapshot, err := s.load()
	if err != nil {
		missing := "this server cannot read its tokens"
		if s.shared != nil {
			missing = "this server cannot read the database with its tokens"
		}
		return nil, &authn.UncheckedError{Missing: missing, Err: err}
	}
	sum, stored := digest(token), [sha256.Size]byte{}
	e := snapshot.tokens[id]
	if e != nil {
		stored = e.sum
	}
	equal := subtle.ConstantTimeCompare(sum[:], stored[:]) == 1
	if e == nil {
		return nil, fmt.Errorf("the token %s is unknown: another server may have issued it", id)
	}
	if !equal {
		return nil, fmt.Errorf("the secret of the token %s is wrong", id)
	}
	switch e.State(s.now()) {
	case "revoked":
		return nil, fmt.Errorf("the token %s was revoked at %s", id, e.Revoked.Format(time.RFC3339))
	case "expired":
		return nil, fmt.Errorf("the token %s expired at %s", id, e.Expires.Format(time.RFC3339))
	}
	return &e.Record, nil
}

// load returns the tokens as they are now.
func (s *Store) load() (*snapshot, error) {
	if s.shared != nil {
		return s.loadShared()
	}
	c := s.current.Load()
	info, err := os.Lstat(s.Path())
	if c.same(info, err) {
		return c, nil
	}
	s.read.Lock()
	defer s.read.Unlock()
	// Another goroutine may have read the file meanwhile.
	c = s.current.Load()
	if info, err = os.Lstat(s.Path()); c.same(info, err) {
		return c, nil
	}
	next, err := newSnapshot(s.Path())
	if err != nil {
		return nil, err
	}
	s.current.Store(next)
	if c != nil && c.file != nil {
		_ = c.file.Close() // only read
	}
	return next, nil
}

func (s *Store) loadShared() (*snapshot, error) {
	records, err := s.shared.Records()
	if err != nil {
		return nil, err
	}
	if c := s.current.Load(); c != nil && c.of == records {
		return c, nil
	}
	c := &snapshot{of: records, tokens: make(map[string]*entry, len(*records))}
	if err := c.add(*records); err != nil {
		return nil, fmt.Errorf("%s %w", s.shared.Name(), err)
	}
	s.current.Store(c)
	return c, nil
}

// same reports whether the snapshot has the content of the file that Lstat found.
func (c *snapshot) same(info fs.FileInfo, err error) bool {
	switch {
	case c == nil:
		return false
	case c.file == nil:
		return errors.Is(err, fs.ErrNotExist)
	}
	return err == nil && os.SameFile(c.info, info) && c.info.Size() == info.Size() && c.info.ModTime().Equal(info.ModTime()) &&
		c.info.Mode() == info.Mode()
}

func newSnapshot(path string) (*snapshot, error) {
	file, content, err := open(path)
	if err != nil {
		return nil, err
	}
	c := &snapshot{file: file, tokens: make(map[string]*entry, len(content.Tokens))}
	if file != nil {
		if c.info, err = file.Stat(); err != nil {
			_ = file.Close()
			return nil, err
		}
	}
	if err := c.add(content.Tokens); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("%s %w", path, err)
	}
	return c, nil
}

func (c *snapshot) add(records []Record) (err error) {
	for _, record := range records {
		e := &entry{Record: record}
		if e.sum, err = record.hash(); err == nil {
			err = record.check()
		}
		if err != nil || c.tokens[record.ID] != nil {
			return fmt.Errorf("is damaged at the token %q: %w", record.ID, cmp.Or(err, errors.New("it has two records")))
		}
		c.tokens[record.ID] = e
	}
	return nil
}

// Create stores a new token and returns it. The caller sets Name, Tenant, Groups, Roles, Tools,
// Note and CreatedBy of the record; zero Expires means DefaultLifetime from now. Create sets the
// other fields. The returned token is the only copy of the secret. A server that runs accepts the
// token as soon as Create has returned.
func (s *Store) Create(ctx context.Context, r Record) (token string, _ Record, err error) {
	r.Created, r.Revoked = s.now().UTC().Truncate(time.Second), time.Time{}
	if r.Expires.IsZero() {
		r.Expires = r.Created.Add(DefaultLifetime)
	}
	r.Expires = r.Expires.UTC().Truncate(time.Second)
	if err := r.check(); err != nil {
		return "", Record{}, err
	}
	err = s.change(ctx, func(c *content) error {
		for token == "" || slices.ContainsFunc(c.Tokens, func(other Record) bool { return other.ID == r.ID }) {
			token, r.ID = newToken(s.prefix)
		}
		sum := digest(token)
		r.Hash = hex.EncodeToString(sum[:])
		c.Tokens = append(remaining(c.Tokens, r.Created), r)
		if len(c.Tokens) > maxRecords {
			return fmt.Errorf("there are %d valid tokens, and no more can be created; revoke some", maxRecords)
		}
		return s.before(ctx, Creates, []Record{r})
	})
	if err != nil {
		return "", Record{}, fmt.Errorf("storing the token in %s: %w", s.place(), err)
	}
	return token, r, nil
}

// remaining returns the records without those that have been invalid for a long time. If there are
// too many records, it removes all that are not valid.
func remaining(records []Record, now time.Time) []Record {
	horizon := now.Add(-keepInvalid)
	if len(records) >= maxRecords {
		horizon = now
	}
	return slices.DeleteFunc(records, func(r Record) bool {
		return !r.Expires.After(horizon) || !r.Revoked.IsZero() && !r.Revoked.After(horizon)
	})
}

// List returns the records of all tokens, the newest first, without their hashes.
func (s *Store) List() ([]Record, error) {
	all, err := s.all()
	if err != nil {
		return nil, fmt.Errorf("reading the tokens: %w", err)
	}
	for i := range all {
		all[i].Hash = ""
	}
	slices.SortStableFunc(all, func(a, b Record) int { return b.Created.Compare(a.Created) })
	return all, nil
}

func (s *Store) all() ([]Record, error) {
	if s.shared != nil {
		records, err := s.shared.Records()
		if err != nil {
			return nil, err
		}
		return slices.Clone(*records), nil
	}
	file, c, err := open(s.Path())
	if file != nil {
		_ = file.Close()
	}
	if err != nil {
		return nil, err
	}
	return c.Tokens, nil
}

// ErrUnknown is the error of Revoke for an id that no token has. Use errors.Is.
var ErrUnknown = errors.New("there is no such token")

// Revoke revokes the tokens with the ids, all of them or none. A token that is revoked already
// stays so. A server that runs refuses the tokens as soon as Revoke has returned.
func (s *Store) Revoke(ctx context.Context, ids ...string) ([]Record, error) {
	var revoked []Record
	now := s.now().UTC().Truncate(time.Second)
	err := s.change(ctx, func(c *content) error {
		for _, id := range ids {
			i := slices.IndexFunc(c.Tokens, func(r Record) bool { return r.ID == id })
			if i < 0 {
				return fmt.Errorf("%w: %s", ErrUnknown, id)
			}
			if c.Tokens[i].Revoked.IsZero() {
				c.Tokens[i].Revoked = now
			}
			revoked = append(revoked, c.Tokens[i])
		}
		return s.before(ctx, Revokes, revoked)
	})
	if err != nil {
		return nil, fmt.Errorf("revoking in %s: %w", s.place(), err)
	}
	return revoked, nil
}
