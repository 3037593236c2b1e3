// Package postgres is a runstore.Store in a PostgreSQL database.
//
// When Append returns, the batch is committed, and survives what the database survives. A batch is
// one statement, so it is written as a whole or not at all. If the connection breaks during an
// append, the store asks the database whether the append was committed, so an append is neither
// lost nor done twice. Several processes can use one database.
package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/store/postgres"
)

var (
	_ runstore.Store    = (*Store)(nil)
	_ runstore.Spending = (*Store)(nil)
	_ runstore.Claims   = (*Store)(nil)
)

// Store keeps journals in a database. The caller must call Close.
type Store struct {
	db       *postgres.DB
	claims   *claims
	close    sync.Once
	patience time.Duration
}

// patience is how long Append waits for a database that is gone. A restart of PostgreSQL takes
// less, and a run that waits here keeps its requests to models and tools.
const patience = 5 * time.Second

// Open opens the journals in a database, and creates or migrates the tables. cfg.Application is
// "agentd" if it is empty. Open starts goroutines, which Close stops.
func Open(ctx context.Context, cfg postgres.Config) (*Store, error) {
	if cfg.Application == "" {
		cfg.Application = "agentd"
	}
	db, err := postgres.Open(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	s := &Store{db: db, patience: patience}
	if err := db.Migrate(ctx, layout()); err != nil {
		db.Close()
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	if s.claims, err = openClaims(ctx, db, cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))); err != nil {
		db.Close()
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	return s, nil
}

// Name returns the address of the database without a password.
func (s *Store) Name() string { return s.db.Name() }

// Gone returns since when the database cannot be reached, or the zero time if it can.
func (s *Store) Gone() time.Time { return s.db.Gone() }

// Close gives up the claims and closes all connections. It may be called more than once. Its error
// is always nil.
func (s *Store) Close() error {
	s.close.Do(func() {
		s.claims.end()
		s.db.Close()
	})
	return nil
}

// failed returns an error of the database as the callers of a Store know it.
func (s *Store) failed(doing string, err error) error {
	if errors.Is(err, postgres.ErrUnavailable) || errors.Is(err, postgres.ErrTimeout) {
		return fmt.Errorf("%s in %s: %w: %w", doing, s.db.Name(), runstore.ErrUnavailable, err)
	}
	return fmt.Errorf("%s in %s: %w", doing, s.db.Name(), err)
}

// storable reports whether the database accepts a text. PostgreSQL's text has no byte 0 and only
// valid UTF-8, and no run has such an id.
func storable(text string) bool { return utf8.ValidString(text) && !strings.Contains(text, "\x00") }
