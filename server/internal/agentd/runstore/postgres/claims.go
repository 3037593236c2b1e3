package postgres

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/internal/version"
	"github.com/toolhost/toolhost/server/internal/store/postgres"
)

// claims keeps one session of the store, which holds one advisory lock.
//
// The problem: a claim must end when its process ends in any way, a restart of the database must
// end none, and a process without its claim must not write. The idea: the row of a run names the
// claimer, which is the key of an advisory lock, and the claimer's session holds that lock and
// renews a row of agentd_nodes. The server releases the lock when the session ends, and ends a
// session that is silent. A store takes the claims of another store if the other one does not hold
// its lock and has not renewed its row for some seconds. The taker must have had a session
// throughout these seconds. The invariant: each claim has a higher epoch than those before, and
// each append compares the claimer and the epoch in the statement that locks the row. So no append
// under a claim can follow its end, even if a taker has judged the other store wrongly. See
// docs/adr/0051-many-agentds.md.
type claims struct {
	db     *postgres.DB
	key    int64                  // of the lock; random, and not 0
	name   string                 // of the machine
	at     atomic.Pointer[string] // see Reach
	cancel context.CancelFunc
	ended  chan struct{} // closed when the goroutine has ended
	log    *slog.Logger
	// requests are those of Serve. The goroutine answers each once.
	requests chan chan error

	mu     sync.Mutex
	held   bool              // the session holds the lock
	serves bool              // and it shares serveKey, too
	node   bool              // agentd_nodes has the row of this store
	engine string            // of agentd_nodes
	epochs map[string]uint64 // of the claims, by run
	// tidyUntil is when it is certain that no statement whose answer was lost is still executed.
	tidyUntil time.Time

	strays map[string]uint64 // that tidy has seen; only the goroutine uses it
}

// serveKey is the advisory lock that the servers of a database share. An older agentd, which takes
// over all runs after any restart of the database, holds it exclusively. Its value is arbitrary.
const serveKey = 0x746c68_73657276

// errServed says that an older agentd holds serveKey.
var errServed = errors.New("an older agentd serves the runs of the database, which shares them with no other one; stop it first")

const (
	// watchPause is the pause between two checks of the session.
	watchPause = time.Second
	// checkTime bounds a check.
	checkTime = 3 * time.Second
	// tidyTime is how long a statement whose answer was lost may still be executed, and some more.
	tidyTime = 30 * time.Second
)

// errNoSession says that claims cannot be taken, because the claims of this store are not kept.
var errNoSession = fmt.Errorf("the session that keeps the claims is gone: %w", postgres.ErrUnavailable)

// openClaims takes the lock and starts the goroutine that keeps it, which end stops.
func openClaims(ctx context.Context, db *postgres.DB, log *slog.Logger) (*claims, error) {
	var random [8]byte
	rand.Read(random[:])
	c := &claims{db: db, key: int64(binary.BigEndian.Uint64(random[:])>>1 | 1), name: machine(), ended: make(chan struct{}), log: log, requests: make(chan chan error), epochs: make(map[string]uint64)}
	session, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	keeping, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	go c.keep(keeping, session) // ends with end, which waits
	return c, nil
}

func (c *claims) end() {
	c.cancel()
	<-c.ended
}

// connect returns a session that holds the lock.
func (c *claims) connect(ctx context.Context) (*pgx.Conn, error) {
	session, err := c.db.Session(ctx)
	if err != nil {
		return nil, err
	}
	bounded, cancel := context.WithTimeout(ctx, 2*checkTime)
	defer cancel()
	serves, node := c.roles()
	_, err = session.Exec(bounded, settings)
	if err == nil && node { // before the lock, with which this store may judge the others
		_, err = session.Exec(bounded, enterNode, c.key, c.name, version.Number, c.address(), c.engineNow())
	}
	if err == nil {
		// The server may not have noticed the end of an earlier session, which still holds the lock.
		// lock_timeout bounds the wait for it.
		_, err = session.Exec(bounded, "SELECT pg_advisory_lock($1)", c.key)
	}
	if err == nil && serves {
		err = lockServer(bounded, session)
	}
	if err != nil {
		disconnect(session)
		return nil, postgres.Error(err)
	}
	c.doubt()
	c.set(true)
	return session, nil
}

func lockServer(ctx context.Context, session *pgx.Conn) error {
	_, err := session.Exec(ctx, "SELECT pg_advisory_lock_shared($1)", int64(serveKey))
	if err = postgres.Error(err); errors.Is(err, postgres.ErrTimeout) {
		return errServed
	}
	return err
}

// Serve makes this store one of a server of the database, until Close. It fails after some seconds
// if an agentd serves the database that shares it with no other one. If the session of the store
// ends, and such an agentd takes its place meanwhile, Claim fails with runstore.ErrUnavailable
// until that one has ended.
func (s *Store) Serve(ctx context.Context) error {
	served := make(chan error, 1)
	select {
	case s.claims.requests <- served:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := <-served; err != nil { // the goroutine of the claims answers in bounded time
		return s.failed("serving the runs", err)
	}
	return nil
}

// Reach sets the address at which the owners of other stores reach the one of this store. Use it
// before the first claim. An address that PostgreSQL does not accept is none.
func (s *Store) Reach(address string) {
	if storable(address) {
		s.claims.at.Store(&address)
	}
}

func (c *claims) address() string {
	if at := c.at.Load(); at != nil {
		return *at
	}
	return ""
}

func (c *claims) roles() (serves, node bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.serves, c.node
}

// serve carries out a request of Serve.
func (c *claims) serve(ctx context.Context, session *pgx.Conn) error {
	if session == nil {
		return errNoSession
	}
	ctx, cancel := context.WithTimeout(ctx, 2*checkTime)
	defer cancel()
	err := lockServer(ctx, session)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.serves = err == nil
	return err
}

func disconnect(session *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), checkTime)
	defer cancel()
	_ = session.Close(ctx) // the server ends the session in any case
	select {
	case <-session.PgConn().CleanupDone():
	case <-ctx.Done():
	}
}

func (c *claims) set(held bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = held
}

func (c *claims) ready() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held
}

// keep checks the session, and replaces one that has ended, until end. The rows of the runs keep
// the claims meanwhile. So the claims are valid again with the new lock, unless another store has
// taken them.
func (c *claims) keep(ctx context.Context, session *pgx.Conn) {
	defer close(c.ended)
	tick := time.NewTicker(watchPause)
	defer tick.Stop()
	told := false
	for {
		select {
		case <-ctx.Done():
			if session != nil {
				c.leave(session)
				disconnect(session)
			}
			return
		case served := <-c.requests:
			served <- c.serve(ctx, session)
			continue
		case <-tick.C:
		}
		if session != nil && c.lives(ctx, session) {
			continue
		}
		var err error
		session, err = c.connect(ctx)
		if errors.Is(err, errServed) && !told {
			c.log.Error("an older agentd has taken the runs of the database; this one works on none until that one has ended", "database", c.db.Name())
		}
		told = errors.Is(err, errServed)
	}
}

// lives reports whether a session still exists, and closes one that does not.
func (c *claims) lives(ctx context.Context, session *pgx.Conn) bool {
	// An end of ctx in the middle would break the session, and with it leave.
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTime)
	defer cancel()
	err := c.renew(bounded, session)
	if err == nil {
		err = c.tidy(bounded, session)
	}
	if err == nil || ctx.Err() != nil {
		return true
	}
	c.set(false)
	disconnect(session)
	return false
}
