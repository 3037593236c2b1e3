// Package callstore stores on disk which calls must not be executed twice: which principal began
// which call id with which arguments, and how the call ended. It is the durable part of the ledger;
// see docs/adr/0010-ledger-on-disk.md.
//
// The package owns one SQLite file, and decides what is removed from it. A call for which Begin has
// returned survives kill -9 and, as far as the file system and the disk keep their promises, a
// power failure. A call for which End has returned survives kill -9. The package does not decide
// which calls are worth storing, how a repeated id is answered, or when a call is executed.
//
// It stores outcomes in the protobuf form in which callers get them (internal/wire/toolpb), so that
// a stored outcome equals the first one to the byte.
package callstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/toolhost/toolhost/server/internal/store/sqlitefile"
)

// Errors of a Store. Errors that name the call wrap them.
var (
	// ErrTaken says that a call with this id exists: it is in progress, has ended, or has an
	// unknown end.
	ErrTaken = errors.New("the call id is taken")
	// ErrSuperseding says that a call that the call repeats has succeeded meanwhile, or is under way.
	ErrSuperseding = errors.New("a call that it repeats has an outcome, or is under way")
	// ErrNotBegun says that no such call is in progress: it never began, was forgotten, or has
	// ended.
	ErrNotBegun = errors.New("no such call is under way")
	// ErrNotUnknown says that a call has no unknown outcome that its tool could settle.
	ErrNotUnknown = errors.New("no such call has an unknown outcome that can be settled")
	// ErrClosed is the error of a store after Close.
	ErrClosed = errors.New("the ledger on disk is closed")
	// ErrUnavailable says that the store cannot be reached now. The same request may succeed soon.
	ErrUnavailable = errors.New("no answer")
	// ErrDamaged says that the file is damaged. A person has to decide what to do.
	ErrDamaged = errors.New("the file is damaged")
	// ErrMoved says that another ledger has the calls of the file, see Departure.
	ErrMoved = errors.New("its calls were moved")
)

// FullError says that the store has too many ids: it cannot guarantee for a new call that it is
// executed only once.
type FullError struct {
	// Owner is the tenant or the principal whose quota is full, such as "the tenant red". Empty: the
	// store is full.
	Owner string
	IDs   int       // how many ids the store has, of the owner if there is one
	Room  time.Time // when the store forgets the oldest id, whosever it is
}

// Error returns a message with the time when there is room.
func (e *FullError) Error() string {
	if e.Owner != "" {
		return fmt.Sprintf("the ledger on disk holds %d calls of %s, which is its quota call_ids, and forgets the oldest call at %s",
			e.IDs, e.Owner, e.Room.UTC().Format(time.RFC3339))
	}
	return fmt.Sprintf("the ledger on disk is full until %s (ids in it: %d)", e.Room.UTC().Format(time.RFC3339), e.IDs)
}

// Config sets the file and the bounds of a store. Only Path is required.
type Config struct {
	Path string // of the file; Open creates it and its folder
	Bounds

	// Begun receives the number of the newest call once the file contains that call. The caller
	// stores the number in another place, and compares it with Newest at the next start: a file
	// with fewer calls is an older copy, or has lost its log. The goroutine of the store calls
	// Begun and waits for it. Nil: none.
	Begun func(newest int64)

	Logger *slog.Logger     // nil: nothing is logged
	Now    func() time.Time // the clock; nil: time.Now
}

func (c Config) withDefaults() (Config, error) {
	if c.Path == "" {
		return c, errors.New("no path is given")
	}
	var err error
	if c.Bounds, err = c.Bounds.WithDefaults(); err != nil {
		return c, err
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c, nil
}

// Store stores calls in a file. Use Open to make one, and Close to end it. All methods are safe for
// concurrent use.
type Store struct {
	cfg    Config
	id     string
	newest int64 // the number of the newest call when Open read the file
	noted  bool  // see Note
	// restored is nil unless the file was restored from a backup
	restored *Restoration
	lock     *os.File // nil: not locked
	db       *sql.DB  // used by the writer only, with one connection
	reader   *reader
	index    *index

	queue   queue
	begins  chan struct{} // one token for each Begin that waits for the writer
	closing chan struct{} // closed by Close
	stopped chan struct{} // the writer closes it after its last operation
	close   sync.Once
	err     error // the error of Close
}

// Open opens the file. It creates the file (mode 0600) and its folder (mode 0700) if they do not
// exist. Calls that had begun and not ended become StateUnknown. Open reads all ids, which takes
// seconds for a million ids, and starts one goroutine, which Close ends.
//
// It fails if another process has the file open or a newer program wrote it. If the file cannot be
// read, the error wraps ErrDamaged: a store that has lost its calls would let them be executed
// again, so that Open never replaces a file.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("opening the ledger on disk: %w", err)
	}
	s, err := open(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("opening the ledger on disk %s: %w", cfg.Path, explain(cfg.Path, err))
	}
	return s, nil
}

func open(ctx context.Context, cfg Config) (_ *Store, err error) {
	s := &Store{
		cfg:     cfg,
		queue:   queue{wake: make(chan struct{}, 1)},
		begins:  make(chan struct{}, maxBegins),
		closing: make(chan struct{}),
		stopped: make(chan struct{}),
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.release())
		}
	}()
	if s.lock, err = prepare(cfg.Path); err != nil {
		return nil, err
	}
	if s.db, err = sqlitefile.Connect(cfg.Path, 1, "immediate", "journal_mode(WAL)", journalSizeLimit); err != nil {
		return nil, err
	}
	if err = layout().Migrate(ctx, s.db); err != nil {
		return nil, err
	}
	if s.id, s.noted, err = readID(ctx, s.db); err != nil {
		return nil, err
	}
	if err = checkHere(ctx, s.db); err != nil {
		return nil, err
	}
	if s.restored, err = readRestoration(ctx, s.db, cfg.KeepIDs); err != nil {
		return nil, err
	}
	if err = settle(ctx, s.db, cfg.Now()); err != nil {
		return nil, err
	}
	if s.index, err = loadIndex(ctx, s.db); err != nil {
		return nil, err
	}
	w, err := newWriter(ctx, s)
	if err != nil {
		return nil, err
	}
	s.newest = w.number
	if s.reader, err = newReader(ctx, cfg.Path); err != nil {
		return nil, errors.Join(err, w.release())
	}
	go w.loop() // ends with Close, which waits for it
	return s, nil
}

// ID returns what distinguishes this ledger from all others: 32 hexadecimal digits that were chosen
// at random when the file was created or restored from a backup. A copy of the file has the same id
// until Renew gives it another one.
func (s *Store) ID() string { return s.id }

// Is implements Identity.
func (s *Store) Is(id string) bool { return id == s.id }

// Shared implements Identity. A file has one toolhost.
func (s *Store) Shared() bool { return false }

// Newest returns the number of the newest call that the file had when Open read it. Numbers grow,
// and no two calls get the same number.
func (s *Store) Newest() int64 { return s.newest }

// IDs returns how many ids the store has, and how many it can have.
func (s *Store) IDs() (ids, most int) { return s.index.len(), s.cfg.MaxIDs }

// Noted reports whether Note was called for this file, in this process or an earlier one.
func (s *Store) Noted() bool { return s.noted }

// Note records in the file that the caller keeps the number of the newest call in another file. If
// that file is missing later, the caller can tell its loss from a ledger that never had such a
// file. Note may be called once, before the first operation.
func (s *Store) Note(ctx context.Context) error {
	if s.noted {
		return nil
	}
	if err := note(ctx, s.cfg.Path); err != nil {
		return fmt.Errorf("noting that the newest call is recorded: %w", explain(s.cfg.Path, err))
	}
	s.noted = true
	return nil
}

// Forgets implements Identity.
func (s *Store) Forgets(sent time.Time) bool { return s.cfg.Bounds.Forgets(s.cfg.Now(), sent) }

// Now returns the time of the store's clock.
func (s *Store) Now() time.Time { return s.cfg.Now() }

// Close executes the operations that wait, refuses others, and closes the file. It may be called
// more than once.
func (s *Store) Close() error {
	s.close.Do(func() {
		close(s.closing)
		s.queue.close()
		<-s.stopped
		s.err = s.release()
	})
	return s.err
}

func (s *Store) release() error {
	var errs []error
	if s.reader != nil {
		errs = append(errs, s.reader.close())
	}
	if s.db != nil {
		errs = append(errs, s.db.Close())
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Close())
	}
	return errors.Join(errs...)
}
