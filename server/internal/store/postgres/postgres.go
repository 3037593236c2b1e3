// Package postgres opens PostgreSQL databases that hold the state of this repository's programs.
//
// It owns what all of them need: the checks of a URL, a pool of connections whose statements are
// bounded, log lines when the database is gone and when it is back, migrations of tables, and the
// meaning of errors. It does not know the content of the tables.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Config configures a DB. Only URL is required.
type Config struct {
	// URL is the address of the database, as Check accepts it. It may contain a password, so it must
	// not come from a command line.
	URL string
	// Application names the program in the server's list of sessions. Empty means "toolhost".
	Application string
	// PoolSize is the largest number of connections. Further statements wait for one. 0 means 8.
	PoolSize int
	// StatementTimeout bounds a statement at the server, and together with a few seconds for the
	// network the whole of Do or InTx. 0 means 10 seconds.
	StatementTimeout time.Duration
	// LockTimeout bounds the wait of a statement for a lock. 0 means 5 seconds.
	LockTimeout time.Duration
	// ConnectTimeout bounds an attempt to connect. 0 means 5 seconds.
	ConnectTimeout time.Duration
	// Log gets a line when the database is gone and one when it is back. Nil means none.
	Log *slog.Logger
}

const (
	// networkTime is what a statement may take beyond its time at the server. It ends the wait for a
	// server that has vanished without closing its connections.
	networkTime = 3 * time.Second
	// idleInTransaction is how long the server keeps the locks of a client that is stopped (SIGSTOP)
	// in the middle of a transaction.
	idleInTransaction = 10 * time.Second
	// closingTime bounds the end of a connection.
	closingTime = 2 * time.Second
)

func (c Config) withDefaults() Config {
	if c.Application == "" {
		c.Application = "toolhost"
	}
	if c.PoolSize <= 0 {
		c.PoolSize = 8
	}
	for _, d := range []struct {
		of    *time.Duration
		usual time.Duration
	}{{&c.StatementTimeout, 10 * time.Second}, {&c.LockTimeout, 5 * time.Second}, {&c.ConnectTimeout, 5 * time.Second}} {
		if *d.of <= 0 {
			*d.of = d.usual
		}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// DB is a database. It connects again by itself when connections break. It is safe for concurrent
// use. The caller must call Close.
type DB struct {
	name  string
	bound time.Duration // of Do and InTx
	pool  *pgxpool.Pool
	alive *monitor
	// closed makes errors clear; the pool knows it, too.
	closed atomic.Bool
}

// Open connects to a database. It fails if the database cannot be reached, if it is older than
// PostgreSQL 13, or if it accepts no writes. It starts goroutines, which Close stops.
func Open(ctx context.Context, cfg Config) (*DB, error) {
	cfg = cfg.withDefaults()
	settings, err := parse(cfg.URL)
	if err != nil {
		return nil, err
	}
	cfg.apply(settings)
	name := nameOf(settings.ConnConfig)
	pool, err := pgxpool.NewWithConfig(ctx, settings)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", name, err)
	}
	db := &DB{name: name, bound: cfg.StatementTimeout + networkTime, pool: pool}
	db.alive = newMonitor(name, cfg.Log, db.ping)
	if err := db.checkVersion(ctx); err != nil {
		db.Close()
		return nil, fmt.Errorf("opening %s: %w", name, err)
	}
	return db, nil
}

// apply sets what every connection has. A URL cannot change it, because the programs rely on it.
func (c Config) apply(s *pgxpool.Config) {
	s.MaxConns = int32(min(c.PoolSize, 1<<16))
	s.MinConns, s.MinIdleConns = 0, 0
	s.PingTimeout = networkTime
	s.ConnConfig.ConnectTimeout = c.ConnectTimeout
	s.ConnConfig.OnNotice = noteUnconfirmed
	if s.ConnConfig.ValidateConnect == nil {
		// After a failover, a list of hosts has servers that only read.
		s.ConnConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	for name, value := range map[string]string{
		"application_name":                    c.Application,
		"statement_timeout":                   milliseconds(c.StatementTimeout),
		"lock_timeout":                        milliseconds(c.LockTimeout),
		"jit":                                 "off", // no statement is so large that compiling it pays
		"idle_in_transaction_session_timeout": milliseconds(idleInTransaction),
		"default_transaction_isolation":       "read committed",
		"client_encoding":                     "UTF8",
		// The server notices within half a minute that a client's machine is gone, and releases what
		// its sessions have locked.
		"tcp_keepalives_idle":     "10",
		"tcp_keepalives_interval": "5",
		"tcp_keepalives_count":    "3",
	} {
		s.ConnConfig.RuntimeParams[name] = value
	}
	s.AfterConnect = makeDurable
}

// makeDurable makes a commit that returned survive a crash of the server, also if the server's
// configuration trades that for speed.
func makeDurable(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'")
	return err
}

// Name returns the address of the database without a password, for messages.
func (db *DB) Name() string { return db.name }

// Gone returns since when the database cannot be reached, or the zero time if it can. It follows
// the truth by a few seconds.
func (db *DB) Gone() time.Time { return db.alive.gone() }

// Close closes all connections and waits until they are closed and the goroutines have ended. It
// may be called more than once. Do and InTx then fail.
func (db *DB) Close() {
	db.closed.Store(true)
	db.alive.close()
	db.pool.Close()
}

// Do calls f with a connection of the pool, which belongs to f until f returns. The context that f
// gets ends when the statements had enough time. Do returns its errors, also those of f, as Error
// does. If all connections are in use for too long, it fails with ErrTimeout. If ctx ends first,
// the error wraps the one of ctx, and says nothing about the database.
func (db *DB) Do(ctx context.Context, f func(ctx context.Context, conn *pgx.Conn) error) error {
	return db.within(ctx, db.bound, f)
}

func (db *DB) within(ctx context.Context, bound time.Duration, f func(ctx context.Context, conn *pgx.Conn) error) error {
	bounded, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	conn, err := db.pool.Acquire(bounded)
	if err != nil {
		if db.closed.Load() {
			return fmt.Errorf("%w: %w", ErrClosed, err)
		}
		if errors.Is(err, context.DeadlineExceeded) && bounded.Err() != nil && ctx.Err() == nil {
			err = fmt.Errorf("%w: %w", ErrTimeout, errBusy)
		}
		return db.done(ctx, err)
	}
	defer conn.Release()
	err = f(bounded, conn.Conn())
	return db.done(ctx, confirmed(conn.Conn().PgConn(), err))
}

// InTx calls f in a transaction, and commits if f returns nil. If f fails, nothing is written. If
// the commit fails, MayHaveRun says whether something may have been written.
func (db *DB) InTx(ctx context.Context, f func(ctx context.Context, tx pgx.Tx) error) error {
	return db.Do(ctx, func(ctx context.Context, conn *pgx.Conn) error { return inTx(ctx, conn, f) })
}

func inTx(ctx context.Context, conn *pgx.Conn, f func(ctx context.Context, tx pgx.Tx) error) error {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	if err := f(ctx, tx); err != nil {
		rollback(ctx, conn, tx)
		return err
	}
	return tx.Commit(ctx)
}

// rollback ends a transaction. If that fails, it closes the connection, which has the same effect.
func rollback(ctx context.Context, conn *pgx.Conn, tx pgx.Tx) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closingTime)
	defer cancel()
	if tx.Rollback(ctx) != nil {
		_ = conn.Close(ctx)
	}
}

// Session connects outside of the pool. The connection belongs to the caller, which must close it.
// What the server ties to a session, such as an advisory lock, ends with the connection. The caller
// bounds its statements with a context, and calls Confirmed to learn whether a standby has not
// confirmed one of their commits.
func (db *DB) Session(ctx context.Context) (*pgx.Conn, error) {
	if db.closed.Load() {
		return nil, ErrClosed
	}
	bounded, cancel := context.WithTimeout(ctx, db.bound)
	defer cancel()
	conn, err := pgx.ConnectConfig(bounded, db.pool.Config().ConnConfig)
	if err == nil {
		if err = makeDurable(bounded, conn); err != nil {
			_ = conn.Close(bounded) // the error says enough
			conn = nil
		}
	}
	return conn, db.done(ctx, err)
}

// done tells the monitor how an action ended, and returns its error for the caller, whose context
// says nothing about the database.
func (db *DB) done(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	err = Error(err)
	db.alive.saw(err)
	return err
}

// ping reaches the database, for the monitor.
func (db *DB) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, networkTime)
	defer cancel()
	err := Error(db.pool.Ping(ctx))
	if errors.Is(err, context.DeadlineExceeded) && db.pool.Stat().IdleConns() == 0 && db.pool.Stat().AcquiredConns() == db.pool.Stat().MaxConns() {
		return errBusy
	}
	return err
}

// oldest is the first version of PostgreSQL that works. The tests run with version 15.
const oldest = 130000

func (db *DB) checkVersion(ctx context.Context) error {
	var version int
	err := db.Do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, "SELECT current_setting('server_version_num')::int").Scan(&version)
	})
	if err == nil && version < oldest {
		err = fmt.Errorf("the server is PostgreSQL %d, and this program needs version 13 or newer", version/10000)
	}
	return err
}
