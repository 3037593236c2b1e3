// Package postgres is a callstore.Calls in a PostgreSQL database, which many toolhosts share.
//
// When BeginWithin returns, the call is committed, and survives what the database survives. Of all
// Begins of a key, at all toolhosts, one succeeds. The database decides that, by the unique hash of
// the key, and nothing else does: no lease, no clock and no lock.
//
// The package owns the tables, also that of the starts per minute that toolhosts have taken, and
// one row for each start of a toolhost, a node. A call that has begun and not ended is unknown as
// soon as its node is proven to be gone, and not before. See
// docs/adr/0050-one-ledger-for-many-toolhosts.md.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/server/internal/store/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/tool"
)

// ErrGone says that this node was declared gone. Other nodes regard its calls that have not ended
// as unknown, so it must begin no more.
var ErrGone = errors.New("this toolhost was declared gone, such as by `toolhost nodes gone`; start it again")

// ErrLost says that the database does not have a call that a node has begun, so it has lost
// commits, such as in a failover; or that it does not have the ledger any more.
var ErrLost = errors.New("the database has lost calls, such as in a failover to a standby that did not have them, or is the server from before a failover; calls whose ids are repeated could be executed again")

// Config configures a Store. Database.URL and Node are required.
type Config struct {
	Database postgres.Config
	callstore.Bounds
	Node Node

	// Begun receives the number of the newest call once the database contains that call. The caller
	// stores the number in the state folder, beside the id of the ledger. The goroutine of the store
	// calls Begun and waits for it. Nil: none.
	Begun func(newest int64)
	// Ledger and Newest are what the state folder has noted of earlier nodes: the id of the ledger,
	// and what Begun got. If the database has the ledger and not the call, it has lost commits. Then
	// Open gives the ledger another id, and Lost says so. Ledger is empty if nothing is to be
	// compared.
	Ledger string
	Newest int64
	// NotedBy is the id that the state folder had when it noted Newest. If it has that id now, only
	// its own rows can have the call. Empty: it is not known, and a newer call of another node lets
	// the call count as not lost.
	NotedBy string
	// Earlier is what Store.Earlier was when the state folder noted Ledger, and what it has noted
	// before. Open gives a ledger with one of these ids another one, unless its database has what a
	// Former demands. Nil: none is known.
	Earlier []Former
	// Settle compares the state folder with the ledger, before this process is a node. It may use ID,
	// Is, Earlier, Newest, Has, Lost and Name. Open fails with its error. Nil: nothing is compared.
	Settle func(*Store) error

	// Took receives the kind of each group of statements and how long it took, also if it failed. It
	// must not block. Nil: none.
	Took func(kind string, took time.Duration)

	// Patience is how long an operation waits for a database that is gone. 0 means 5 seconds: a
	// restart of PostgreSQL takes less.
	Patience time.Duration
	Now      func() time.Time // the clock, for tests; nil: that of the database
}

// Store stores calls in a database. Use Open to make one, and Close to end it. All methods are safe
// for concurrent use.
type Store struct {
	cfg    Config
	log    *slog.Logger
	db     *postgres.DB
	id     string
	node   int64
	newest int64 // when Open read the database
	pruned int64 // likewise, if the database had no rows of the state folder any more
	lost   bool  // see Config.Newest

	clock   atomic.Pointer[reading]
	memory  atomic.Pointer[memory]
	ids     atomic.Int64
	shares  atomic.Int64              // the questions of TakeStarts
	homes   atomic.Int64              // the questions of Home
	beaten  atomic.Pointer[time.Time] // when this node last wrote that it lives
	summary atomic.Pointer[string]    // for the other nodes; nil: Describe was not called
	audited atomic.Pointer[func() string]
	census  atomic.Pointer[Census] // nil: not known
	gone    chan struct{}          // closed once this node may begin no more
	why     atomic.Pointer[error]

	queue   queue
	stopped chan struct{} // closed when the writer has ended
	close   sync.Once
}

// reading is the clock of the database when this process asked for it. What has passed since is
// measured without the wall clock of the machine, which an operator may set.
type reading struct{ there, asked time.Time }

// memory is what the ledger remembers, and how long it remembers ids, as all nodes together have
// it.
type memory struct {
	ids       []string // of the ledger, and of those whose calls it has
	lost      []Former // those that it had before calls were lost
	keep      time.Duration
	forgotten time.Time // calls that have begun by then may be forgotten
}

var _ callstore.Calls = (*Store)(nil)

// Open opens the ledger in a database, and creates or migrates its tables. It enters this process
// as a node, and records that the nodes of Node.Ended are gone. It fails if another toolhost has
// the folder open. Open starts goroutines, which Close stops.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	s, err := open(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("opening the ledger in PostgreSQL: %w", err)
	}
	return s, nil
}

func open(ctx context.Context, cfg Config) (_ *Store, err error) {
	if cfg.Bounds, err = cfg.Bounds.WithDefaults(); err != nil {
		return nil, err
	}
	if cfg.Patience <= 0 {
		cfg.Patience = patience
	}
	if cfg.Node.Folder == "" {
		return nil, errors.New("no state folder is given")
	}
	s := &Store{cfg: cfg, log: cfg.Database.Log, gone: make(chan struct{}), queue: newQueue(), stopped: make(chan struct{})}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.db, err = postgres.Open(ctx, cfg.Database); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.db.Close()
		}
	}()
	if err := s.db.Migrate(ctx, layout()); err != nil {
		return nil, err
	}
	w := &writer{store: s, begun: map[callstore.Hash]begun{}, known: map[int64]int64{}}
	if err := w.enter(ctx); err != nil {
		w.disconnect()
		return nil, err
	}
	go w.loop() // ends with Close, which waits for it
	return s, nil
}

// ID implements callstore.Identity.
func (s *Store) ID() string { return s.id }

// NodeID returns the id of this node, which other nodes know as Peer.ID.
func (s *Store) NodeID() string { return idOf(s.node) }

// Is implements callstore.Identity. It learns of another id up to a minute late, but begins no call
// under an id that the ledger has lost.
func (s *Store) Is(id string) bool { return id == s.id || slices.Contains(s.memory.Load().ids, id) }

// Earlier returns the ids that the ledger, or what the state folder belonged to, had before ID. If
// the ledger does not have the id Config.Ledger, the result has that id with Config.Newest, unless
// Config.Newest is 0 or Config.NotedBy is empty.
func (s *Store) Earlier() []Former {
	m := s.memory.Load()
	var earlier []Former
	add := func(f Former) {
		if !slices.Contains(earlier, f) {
			earlier = append(earlier, f)
		}
	}
	for _, f := range slices.Concat(s.cfg.Earlier, m.lost) {
		add(f)
	}
	for _, id := range m.ids {
		if id != s.id {
			add(Former{ID: id, Next: s.id})
		}
	}
	return earlier
}

// Shared implements callstore.Identity.
func (s *Store) Shared() bool { return true }

// Unreachable returns since when the database cannot be reached, or the zero time if it can.
func (s *Store) Unreachable() time.Time { return s.db.Gone() }

// Name returns the address of the database without a password.
func (s *Store) Name() string { return s.db.Name() }

// Restored implements callstore.Identity. A database knows of no restoration.
func (s *Store) Restored() *callstore.Restoration { return nil }

// Newest returns the number of the newest call that nodes of the state folder had begun before
// Open, as far as the database still knows.
func (s *Store) Newest() int64 { return s.newest }

// Has reports whether the database had the call with a number, which a node of the state folder has
// begun, when Open read it. A call counts that it has forgotten together with the nodes of the
// folder, after months.
func (s *Store) Has(newest int64) bool { return newest <= max(s.newest, s.pruned) }

// Lost reports whether Open found that the database has lost calls of the state folder, so that it
// gave the ledger another id.
func (s *Store) Lost() bool { return s.lost }

// Gone is closed when this node must begin no more: it was declared gone, or the database has lost
// commits. The caller then ends this process.
func (s *Store) Gone() <-chan struct{} { return s.gone }

// Why returns why Gone is closed, ErrGone or ErrLost; nil: it is not.
func (s *Store) Why() error {
	if why := s.why.Load(); why != nil {
		return *why
	}
	return nil
}

// IDs implements callstore.Reader. It counts what other nodes have begun up to a minute late.
func (s *Store) IDs() (ids, most int) { return int(s.ids.Load()), s.cfg.MaxIDs }

// Forgets implements callstore.Identity.
func (s *Store) Forgets(sent time.Time) bool {
	bounds, memory := s.cfg.Bounds, s.memory.Load()
	bounds.KeepIDs = memory.keep
	return bounds.Forgets(s.Now(), sent) || !sent.After(memory.forgotten)
}

// Now implements callstore.Identity. It returns the time of the database, so that toolhosts whose
// clocks differ agree.
func (s *Store) Now() time.Time {
	if s.cfg.Now != nil {
		return s.cfg.Now()
	}
	r := s.clock.Load()
	return r.there.Add(time.Since(r.asked))
}

// Close refuses further operations, executes those that wait, and waits for the writer. It records
// that this node is gone, unless Node.Left fails or the database cannot be reached. The caller ends
// all plugins before. It may be called more than once. Its error is always nil.
func (s *Store) Close() error {
	s.close.Do(func() {
		s.queue.close()
		<-s.stopped
		s.db.Close()
	})
	return nil
}

// BeginWithin implements callstore.Writer.
func (s *Store) BeginWithin(ctx context.Context, e callstore.Entry, q callstore.Quota) error {
	for _, text := range []string{e.Principal, e.Session, e.ID, e.Tool, e.Plugin, e.EffectKey} {
		if !callstore.ValidText(text) {
			return fmt.Errorf("beginning call %q: a principal, session, id, tool or plugin must be valid UTF-8 without NUL", e.ID)
		}
	}
	o := newOp(verbBegin, e.Key)
	o.entry, o.quota = e, q
	for _, key := range e.Superseded() {
		o.closes = append(o.closes, key.Hash())
	}
	o.entry.Begun = s.Now()
	if !e.Begun.IsZero() && s.cfg.Now == nil {
		o.entry.Begun = o.entry.Begun.Add(-time.Since(e.Begun))
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return s.do(ctx, o)
}

// End implements callstore.Writer.
func (s *Store) End(ctx context.Context, key callstore.Key, out tool.Outcome) (err error) {
	o := newOp(verbEnd, key)
	if o.ending, err = callstore.EncodeOutcome(&out, s.cfg.MaxResult); err != nil {
		return fmt.Errorf("ending call %s: %w", key.ID, err)
	}
	o.ended = s.Now()
	return s.do(ctx, o)
}

// Forget implements callstore.Writer.
func (s *Store) Forget(ctx context.Context, key callstore.Key) error {
	return s.do(ctx, newOp(verbForget, key))
}

// Settle implements callstore.Writer.
func (s *Store) Settle(ctx context.Context, key callstore.Key, number int64, said tool.Settlement, out tool.Outcome) (err error) {
	o := newOp(verbSettle, key)
	o.number, o.said, o.ended = number, said, s.Now()
	o.said.Reason = callstore.ToValidText(said.Reason)
	if said.Verdict == tool.VerdictHappened {
		if o.ending, err = callstore.EncodeOutcome(&out, s.cfg.MaxResult); err != nil {
			return fmt.Errorf("settling call %s: %w", key.ID, err)
		}
	}
	return s.do(ctx, o)
}

// do passes the operation to the writer and waits until it is written.
func (s *Store) do(ctx context.Context, o *op) error {
	if !s.queue.push(o) {
		return s.failed(o, callstore.ErrClosed)
	}
	select {
	case err := <-o.done: // the writer answers every operation that it got
		return err
	case <-ctx.Done():
		if o.over.CompareAndSwap(false, true) {
			return context.Cause(ctx)
		}
		return <-o.done
	}
}

func (s *Store) failed(o *op, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s call %s in %s: %w", o.verb, o.key.ID, s.db.Name(), meaning(err))
}

// meaning returns the error with what it means to users of the store.
func meaning(err error) error {
	if errors.Is(err, postgres.ErrUnavailable) || errors.Is(err, postgres.ErrTimeout) {
		return fmt.Errorf("%w: %w", callstore.ErrUnavailable, err)
	}
	return err
}

// read calls f with a connection for reading.
func (s *Store) read(ctx context.Context, doing string, f func(ctx context.Context, conn *pgx.Conn) error) error {
	err := s.db.Do(ctx, f)
	if errors.Is(err, postgres.ErrClosed) {
		err = callstore.ErrClosed
	}
	if err != nil {
		return fmt.Errorf("%s in %s: %w", doing, s.db.Name(), meaning(err))
	}
	return nil
}
