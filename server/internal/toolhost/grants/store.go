// Package grants keeps the tokens and the standing approvals of toolhosts that share a database.
//
// The problem: what is revoked at one toolhost must not be used at another one, also if that one
// cannot reach the database. The idea: each toolhost has all of them in memory, and asks the
// database every second whether they have changed. The invariant: a toolhost uses what is in memory
// only within 10 seconds after it sent the last question that was answered. So no toolhost uses a
// token or an approval 10 seconds after its revocation was committed.
//
// The package owns the tables, and which change of a row wins. It does not know what a token or an
// approval permits.
package grants

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/server/internal/access/tokenstore"
	"github.com/toolhost/toolhost/server/internal/store/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/standing"
)

const (
	// Within is how long after a revocation a toolhost may still use what was revoked.
	Within = 10 * time.Second
	// every is the pause between two questions. Some of them may be slow or fail within Within.
	every = time.Second
	// askTime bounds a question, so that one that hangs does not take all of Within.
	askTime = 4 * time.Second
	// allEvery is how often everything is read, also if nothing has changed. It removes from memory
	// what others have removed.
	allEvery = time.Hour
)

// Config configures a Store. Database.URL is required.
type Config struct {
	Database postgres.Config
	Log      *slog.Logger     // nil: nothing is logged
	Now      func() time.Time // nil: time.Now. Its times have a monotonic clock.
}

// Store is the tokens and approvals in a database. Use Open to make one, and Close to end it. All
// methods are safe for concurrent use.
type Store struct {
	db  *postgres.DB
	now func() time.Time
	log *slog.Logger

	// reading is held by whoever reads the database. It guards what follows. A session that is new
	// reads everything: another one may have been with a server that had commits which a failover
	// lost.
	reading   chan struct{}
	session   *pgx.Conn // nil: there is none
	began     time.Time // the session
	tokens    int64     // the change of toolhost_grants that is in memory; -1: none
	approvals int64
	follow    func(rows []standing.Row, all bool) error // nil: nobody uses the approvals
	failing   bool                                      // as the log says

	asked   atomic.Pointer[time.Time] // when the last question was sent that was answered
	records atomic.Pointer[[]tokenstore.Record]

	cancel  context.CancelFunc
	stopped chan struct{} // closed when the goroutine has ended
}

// Open connects to a database, creates or migrates the tables, and reads them. It starts
// goroutines, which Close stops.
func Open(ctx context.Context, cfg Config) (_ *Store, err error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Database.PoolSize = 2 // for changes, which are rare and exclude each other
	s := &Store{now: cfg.Now, log: cfg.Log, reading: make(chan struct{}, 1), stopped: make(chan struct{})}
	if s.db, err = postgres.Open(ctx, cfg.Database); err == nil {
		if err = s.db.Migrate(ctx, layout()); err == nil {
			err = s.Refresh(ctx)
		}
		if err != nil {
			s.disconnect()
			s.db.Close()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("opening the tokens and standing approvals in PostgreSQL: %w", err)
	}
	ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go s.loop(ctx) // ends with Close, which waits for it
	return s, nil
}

// Close ends the connections. It may be called more than once. Its error is always nil.
func (s *Store) Close() error {
	s.cancel()
	<-s.stopped
	s.db.Close()
	s.reading <- struct{}{}
	s.disconnect()
	<-s.reading
	return nil
}

// loop reads what has changed, until Close.
func (s *Store) loop(ctx context.Context) {
	defer close(s.stopped)
	timer := time.NewTimer(every)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			_ = s.Refresh(ctx) // it has logged the error
			timer.Reset(every)
		}
	}
}

// Fresh reports whether what is in memory may be used. It looks at two clocks: the monotonic clock
// of a machine does not count the time when the machine was suspended, and the wall clock can be
// set back.
func (s *Store) Fresh() bool {
	asked, now := *s.asked.Load(), s.now()
	return now.Sub(asked) < Within && now.Round(0).Sub(asked.Round(0)) < Within
}

// Refresh reads what has changed. The memory has it when Refresh returns.
func (s *Store) Refresh(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	select {
	case s.reading <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("waiting for the database: %w", ctx.Err())
	}
	defer func() { <-s.reading }()
	asked := s.now()
	err := postgres.Error(s.read(ctx, asked))
	if err != nil {
		s.disconnect()
	} else {
		s.asked.Store(&asked)
	}
	switch {
	case err != nil && !s.failing && context.Cause(ctx) != context.Canceled:
		s.log.Warn("the tokens and standing approvals cannot be read from the database; they are not accepted while that lasts for more than 10 seconds", "error", err)
		s.failing = true
	case err == nil && s.failing:
		s.log.Info("the tokens and standing approvals can be read from the database again")
		s.failing = false
	}
	return err
}

func (s *Store) read(ctx context.Context, now time.Time) error {
	if now.Sub(s.began) >= allEvery {
		s.disconnect()
	}
	if s.session == nil {
		session, err := s.db.Session(ctx)
		if err != nil {
			return err
		}
		s.session, s.began, s.tokens, s.approvals = session, now, -1, -1
	}
	// What is committed after this question has a later number, and is read again the next time.
	var tokens, approvals int64
	if err := s.session.QueryRow(ctx, "SELECT tokens, approvals FROM toolhost_grants").Scan(&tokens, &approvals); err != nil {
		return err
	}
	if tokens != s.tokens {
		records, _, err := readTokens(ctx, s.session, s.log)
		if err != nil {
			return err
		}
		s.records.Store(&records)
		s.tokens = tokens
	}
	if s.follow == nil || approvals == s.approvals {
		return nil
	}
	rows, err := readApprovals(ctx, s.session, s.approvals)
	if err == nil {
		err = s.follow(rows, s.approvals < 0)
	}
	if err == nil {
		s.approvals = approvals
	}
	return err
}

// disconnect ends the session, so that the next one reads everything.
func (s *Store) disconnect() {
	if s.session == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = s.session.Close(ctx) // the server ends the session in any case
	select {
	case <-s.session.PgConn().CleanupDone():
	case <-ctx.Done():
	}
	s.session = nil
}

// change calls f in a transaction that excludes all other changes of the tokens or the approvals. f
// gets the number of the change.
func (s *Store) change(ctx context.Context, of string, f func(ctx context.Context, tx pgx.Tx, number int64) error) error {
	err := s.db.InTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		var number int64
		if err := tx.QueryRow(ctx, "UPDATE toolhost_grants SET "+of+" = "+of+" + 1 RETURNING "+of).Scan(&number); err != nil {
			return err
		}
		return f(ctx, tx, number)
	})
	if err != nil {
		return fmt.Errorf("changing the %s in %s: %w", of, s.db.Name(), err)
	}
	return nil
}
