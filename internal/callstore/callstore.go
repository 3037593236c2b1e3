// Package callstore remembers on disk which calls must not be executed twice: who began which call id with which
// arguments, and how it ended. It is the durable half of the ledger; see docs/adr/0010-ledger-on-disk.md.
//
// It owns one SQLite file, what is in it and what is thrown out of it. What Begin has returned for survives kill -9
// and, as far as the file system and the disk keep their word, a power failure; what End has returned for survives
// kill -9. It does not decide which calls are worth remembering, what a repeated id is answered, or when a call is
// executed.
//
// Outcomes are kept in the protobuf form that callers get them in (internal/rpc/toolpb), so that one that is read back
// is, to the byte, what the first caller was told.
package callstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/sqlitefile"
)

// Errors of a Store. They are wrapped by errors that name the call.
var (
	// ErrTaken says that the id is taken, by a call that is under way, has ended, or ended nobody knows how.
	ErrTaken = errors.New("the call id is taken")
	// ErrNotBegun says that no such call is under way: it never began, was forgotten, or has ended.
	ErrNotBegun = errors.New("no such call is under way")
	// ErrClosed is what a store answers after Close.
	ErrClosed = errors.New("the ledger on disk is closed")
	// ErrDamaged says that the file is not what it should be. A person has to decide.
	ErrDamaged = errors.New("the file is damaged")
)

// FullError says that there are too many ids, so that no new call can be promised to be executed only once.
type FullError struct {
	IDs  int       // how many there are
	Room time.Time // when the oldest is forgotten
}

// Error says so, with the time when there is room.
func (e *FullError) Error() string {
	return fmt.Sprintf("the ledger on disk holds %d calls and has room for another at %s", e.IDs, e.Room.UTC().Format(time.RFC3339))
}

// Config says where a store is and how much it keeps. All but Path may be left out.
type Config struct {
	Path string // of the file; it and its folder are made if they are not there

	MaxIDs      int           // how many calls it remembers at most; 0: 1,000,000
	MaxBytes    int64         // how many bytes all results together may have; 0: 256 MiB
	MaxResult   int           // the largest result that it keeps, in bytes; 0: 16 MiB; never more than an eighth of MaxBytes
	KeepIDs     time.Duration // how long after its begin a call is remembered; longer than any call lasts; 0: seven days
	KeepResults time.Duration // how long after its end a call's result is kept; 0: one day

	// Begun receives the number of the newest call after the file holds it. The caller keeps the number elsewhere and compares
	// it with Newest at the next start: a file that holds fewer calls is an older one, or has lost its log. The store's
	// goroutine calls it, and waits for it. Nil: none.
	Begun func(newest int64)

	Logger *slog.Logger     // nil: nothing is logged
	Now    func() time.Time // the clock; nil: time.Now
}

func (c Config) withDefaults() (Config, error) {
	if c.Path == "" {
		return c, errors.New("no path is given")
	}
	if c.MaxIDs < 0 || c.MaxBytes < 0 || c.MaxResult < 0 || c.KeepIDs < 0 || c.KeepResults < 0 {
		return c, errors.New("a bound is negative")
	}
	orDefault(&c.MaxIDs, 1_000_000)
	orDefault(&c.MaxBytes, 256<<20)
	orDefault(&c.MaxResult, 16<<20)
	orDefault(&c.KeepIDs, 7*24*time.Hour)
	orDefault(&c.KeepResults, 24*time.Hour)
	c.MaxResult = int(min(int64(c.MaxResult), c.MaxBytes/resultShare))
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c, nil
}

func orDefault[T int | int64 | time.Duration](value *T, otherwise T) {
	if *value == 0 {
		*value = otherwise
	}
}

// Store remembers calls in a file. Open makes one; Close must be called. All methods may be used from any goroutine.
type Store struct {
	cfg    Config
	id     string
	newest int64 // the number of the newest call when the file was opened
	lock   *fileLock
	db     *sql.DB // of the writer, with one connection
	reader *reader
	index  *index

	queue   queue
	begins  chan struct{} // one for each Begin that waits for the writer
	closing chan struct{} // closed by Close
	stopped chan struct{} // closed by the writer when it has answered its last operation
	close   sync.Once
	err     error // of closing
}

// Open opens the file, and makes it (mode 0600) and its folder (mode 0700) if they are not there. Calls that had begun
// and not ended are StateUnknown from then on. It reads all ids, which takes seconds for a million, and starts
// one goroutine, which Close ends.
//
// It fails if another process has the file, if a newer program wrote it, and, wrapping ErrDamaged, if it cannot be
// read: a store that has forgotten its calls would let them be executed again, so it never starts anew by itself.
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
	if s.id, err = readID(ctx, s.db); err != nil {
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
	go w.loop() // owned by the store: Close ends it and waits
	return s, nil
}

// ID returns what tells this ledger from any other: 32 hexadecimal digits, chosen at random when the file was made. It
// never changes. A copy of the file has the same id.
func (s *Store) ID() string { return s.id }

// Newest returns the number of the newest call that the file held when it was opened. Numbers grow and are never given twice.
func (s *Store) Newest() int64 { return s.newest }

// Forgets reports whether the store may have known a call that was first sent at a time, and have forgotten it since: the
// call is as old as calls are remembered. It allows for a clock that was corrected by a hundredth of that.
func (s *Store) Forgets(sent time.Time) bool {
	return s.cfg.Now().Sub(sent) > s.cfg.KeepIDs-s.cfg.KeepIDs/100
}

// Close carries out what waits, refuses everything else, and closes the file. It may be called more than once.
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
		s.lock.release()
	}
	return errors.Join(errs...)
}
