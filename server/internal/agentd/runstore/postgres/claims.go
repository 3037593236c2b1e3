package postgres

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/store/postgres"
)

// claims keeps one session of the store, which holds one advisory lock.
//
// The problem: a claim must end when its process ends in any way, and a process without its claim
// must not write. The idea: the row of a run names the claimer, which is the key of an advisory
// lock, and the claimer's session holds that lock. The server releases the lock when the session
// ends: at once if the process is killed, and within half a minute if its machine vanishes. Whoever
// can take the lock of a claimer therefore knows that the claimer is gone, and may replace it. The
// invariant: a row has at most one claimer, and each append checks the claimer in the statement
// that locks the row. So when a claim is taken, no append of the claimer before can follow. Without
// the check, two processes could append in turn, and each of them would stop at the other's record.
type claims struct {
	db     *postgres.DB
	key    int64 // of the lock; random, and not 0
	cancel context.CancelFunc
	ended  chan struct{} // closed when the goroutine has ended
	log    *slog.Logger
	// requests are those of Serve. The goroutine answers each once.
	requests chan chan error

	mu     sync.Mutex
	held   bool // the session holds the lock
	serves bool // and it holds serveKey, too
}

// serveKey is the advisory lock of the one server of a database. Its value is arbitrary.
const serveKey = 0x746c68_73657276

// errServed says that another server has serveKey.
var errServed = errors.New("another agentd serves the runs of the database")

const (
	// watchPause is the pause between two checks of the session.
	watchPause = time.Second
	// checkTime bounds a check.
	checkTime = 3 * time.Second
	// linger is how long the server may keep the lock of a machine that has vanished: the time of its
	// keepalives, which package postgres sets, and some more.
	linger = 40 * time.Second
)

// errNoSession says that claims cannot be taken, because the claims of this store are not kept.
var errNoSession = fmt.Errorf("the session that keeps the claims is gone: %w", postgres.ErrUnavailable)

// openClaims takes the lock and starts the goroutine that keeps it, which end stops.
func openClaims(ctx context.Context, db *postgres.DB, log *slog.Logger) (*claims, error) {
	var random [8]byte
	rand.Read(random[:])
	c := &claims{db: db, key: int64(binary.BigEndian.Uint64(random[:])>>1 | 1), ended: make(chan struct{}), log: log, requests: make(chan chan error)}
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
	// The server bounds the wait for a session of before, whose end it may not have noticed.
	if _, err := session.Exec(bounded, "SELECT pg_advisory_lock($1)", c.key); err != nil {
		disconnect(session)
		return nil, postgres.Error(err)
	}
	if c.isServer() {
		if err := lockServer(bounded, session); err != nil {
			disconnect(session)
			return nil, err
		}
	}
	c.set(true)
	return session, nil
}

func lockServer(ctx context.Context, session *pgx.Conn) error {
	_, err := session.Exec(ctx, "SELECT pg_advisory_lock($1)", int64(serveKey))
	if err = postgres.Error(err); errors.Is(err, postgres.ErrTimeout) {
		return errServed
	}
	return err
}

// Serve makes this store that of the one server of the database, until Close. It waits some seconds
// for the server before, and then fails. If the session of the store ends, and another server takes
// its place meanwhile, Claim fails with runstore.ErrUnavailable until that server has ended.
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

func (c *claims) isServer() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.serves
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

// keep checks the session, and replaces one that has ended, until end. The claims stay in the rows
// of the runs, so they hold again with the lock, unless another store has taken them.
func (c *claims) keep(ctx context.Context, session *pgx.Conn) {
	defer close(c.ended)
	tick := time.NewTicker(watchPause)
	defer tick.Stop()
	told := false
	for {
		select {
		case <-ctx.Done():
			if session != nil {
				c.unlock(session)
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
			c.log.Error("another agentd has taken the runs of the database; this one works on none until that one has ended", "database", c.db.Name())
		}
		told = errors.Is(err, errServed)
	}
}

// lives reports whether a session still exists, and closes one that does not.
func (c *claims) lives(ctx context.Context, session *pgx.Conn) bool {
	bounded, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	if session.Ping(bounded) == nil || ctx.Err() != nil {
		return true
	}
	c.set(false)
	disconnect(session)
	return false
}

// unlock gives the locks back, so that the claims end with Close. The end of the session would
// release it, too, but the server notices that only some time after Close.
func (c *claims) unlock(session *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), checkTime)
	defer cancel()
	_, _ = session.Exec(ctx, "SELECT pg_advisory_unlock_all()")
}

// gone is the condition that the claimer of a row has no session. The shared lock that it takes
// ends with the statement.
const gone = "pg_try_advisory_xact_lock_shared(claimer)"

// Claim implements runstore.Claims. The run must exist.
func (s *Store) Claim(runID string) error {
	if !s.claims.ready() {
		return s.failed("claiming run "+runID, errNoSession)
	}
	const query = "UPDATE agentd_runs SET claimer = $2 WHERE id = $1 AND (claimer IS NULL OR claimer = $2 OR " + gone + ")"
	n, err := s.update(query, runID)
	if err != nil {
		return s.failed("claiming run "+runID, err)
	}
	if n > 0 {
		return nil
	}
	if _, err := s.Get(context.Background(), runID); err != nil {
		return fmt.Errorf("claiming run %s: %w", runID, err)
	}
	return runstore.AlreadyClaimed(runID)
}

// ClaimAll implements runstore.Claims. It does not wait for a row that another session has locked,
// such as that of a process that vanished during an append: that run is claimed elsewhere.
func (s *Store) ClaimAll(runIDs []string) (map[string]bool, error) {
	if !s.claims.ready() {
		return nil, s.failed("claiming runs", errNoSession)
	}
	const query = "WITH free AS (SELECT number FROM agentd_runs WHERE id = ANY($1) AND (claimer IS NULL OR claimer = $2 OR " + gone + ") FOR UPDATE SKIP LOCKED) " +
		"UPDATE agentd_runs AS runs SET claimer = $2 FROM free WHERE runs.number = free.number RETURNING id"
	claimed, err := s.those(query, runIDs)
	if err != nil {
		return nil, s.failed("claiming runs", err)
	}
	return claimed, nil
}

// Release implements runstore.Claims. If the database is gone, the claim ends with the store.
func (s *Store) Release(runID string) {
	_, _ = s.update("UPDATE agentd_runs SET claimer = NULL WHERE id = $1 AND claimer = $2", runID)
}

// Claimed implements runstore.Claims.
func (s *Store) Claimed(runIDs []string) (map[string]bool, error) {
	claimed, err := s.those("SELECT id FROM agentd_runs WHERE id = ANY($1) AND claimer IS NOT NULL AND (claimer = $2 OR NOT "+gone+")", runIDs)
	if err != nil {
		return nil, s.failed("looking for the processes of runs", err)
	}
	return claimed, nil
}

// those returns the ids that a query returns, which gets the runs and the key of this store.
func (s *Store) those(query string, runIDs []string) (map[string]bool, error) {
	runIDs = slices.DeleteFunc(slices.Clone(runIDs), func(id string) bool { return !storable(id) })
	those := make(map[string]bool, len(runIDs))
	if len(runIDs) == 0 {
		return those, nil
	}
	err := s.db.Do(context.Background(), func(ctx context.Context, conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, query, runIDs, s.claims.key)
		if err != nil {
			return err
		}
		var id string
		_, err = pgx.ForEachRow(rows, []any{&id}, func() error { those[id] = true; return nil })
		return err
	})
	return those, err
}

// Linger implements runstore.Lingering.
func (s *Store) Linger() time.Duration { return linger }

// update executes a statement with a run and the key of this store, and returns the number of rows.
func (s *Store) update(query, runID string) (n int64, err error) {
	if !storable(runID) {
		return 0, nil
	}
	err = s.db.Do(context.Background(), func(ctx context.Context, conn *pgx.Conn) error {
		tag, err := conn.Exec(ctx, query, runID, s.claims.key)
		n = tag.RowsAffected()
		return err
	})
	return n, err
}
