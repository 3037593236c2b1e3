package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Layout describes the tables of one component and their history.
//
// The problem: several programs use a database at the same time, and an upgrade replaces them one
// after the other. The idea: a step only expands the tables: it adds tables, indexes, and columns
// with defaults, so that a program without the step continues. A step that does not is marked, and
// then excludes older programs. The database records the newest step, and the oldest program that
// may use the tables. The invariant: a program reads and writes only tables that have all of its
// steps, and no step after them that breaks it.
type Layout struct {
	// Name identifies the component in the database, such as "runs".
	Name string
	// Steps are the migrations. Step i (from 0) migrates version i to version i+1. A released step
	// never changes.
	Steps []Step
}

// Step is one migration.
type Step struct {
	SQL string // may have several statements
	// Breaks means that a program without the step cannot use the tables afterwards.
	Breaks bool
}

// migrationTime bounds a migration. An index on a large table takes minutes.
const migrationTime = 10 * time.Minute

// migrationKey is the advisory lock of all migrations in a database. Its value is arbitrary.
const migrationKey = 0x746c68_6c61_796f

// ErrNewer says that a newer program has migrated the tables, and that this one cannot use them.
var ErrNewer = errors.New("a newer version of the program has changed its tables in the database; use that version")

// Migrate brings the tables to this program's version in one transaction. Tables that a newer
// program has expanded stay as they are. If two programs migrate at the same time, the second one
// waits and finds the migration done. It fails with ErrNewer if the tables are too new.
func (db *DB) Migrate(ctx context.Context, l Layout) error {
	if version, err := db.versionOf(ctx, l); err != nil || version >= len(l.Steps) {
		return err
	}
	err := db.within(ctx, migrationTime+networkTime, func(ctx context.Context, conn *pgx.Conn) error {
		return inTx(ctx, conn, func(ctx context.Context, tx pgx.Tx) error { return l.migrate(ctx, tx) })
	})
	if err != nil {
		return fmt.Errorf("migrating the tables of %s in %s: %w", l.Name, db.name, err)
	}
	return nil
}

// versionOf returns the version of the tables, or 0 if there are none.
func (db *DB) versionOf(ctx context.Context, l Layout) (version int, err error) {
	err = db.Do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		var exists bool
		if err := conn.QueryRow(ctx, "SELECT to_regclass('toolhost_layouts') IS NOT NULL").Scan(&exists); err != nil || !exists {
			return err
		}
		version, err = l.stored(ctx, conn)
		return err
	})
	return version, err
}

type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// stored returns the recorded version, 0 if there is none, or ErrNewer.
func (l Layout) stored(ctx context.Context, q querier) (version int, err error) {
	var oldest int
	err = q.QueryRow(ctx, "SELECT version, oldest FROM toolhost_layouts WHERE name = $1", l.Name).Scan(&version, &oldest)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	if err == nil && oldest > len(l.Steps) {
		err = fmt.Errorf("the tables of %s have version %d, and this program knows %d: %w", l.Name, version, len(l.Steps), ErrNewer)
	}
	return version, err
}

func (l Layout) migrate(ctx context.Context, tx pgx.Tx) error {
	limits := fmt.Sprintf("SET LOCAL statement_timeout = %s; SET LOCAL lock_timeout = %s", milliseconds(migrationTime), milliseconds(time.Minute))
	if _, err := tx.Exec(ctx, limits); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(migrationKey)); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `CREATE TABLE IF NOT EXISTS toolhost_layouts (
	name    text PRIMARY KEY,                   -- of the component
	version int NOT NULL,                       -- of the tables: how many steps were executed
	oldest  int NOT NULL,                       -- the version of the oldest program that can use them
	updated timestamptz NOT NULL DEFAULT now()
)`); err != nil {
		return err
	}
	version, err := l.stored(ctx, tx)
	if err != nil || version >= len(l.Steps) {
		return err
	}
	oldest := 1
	for i, step := range l.Steps {
		if step.Breaks {
			oldest = i + 1
		}
		if i < version {
			continue
		}
		if _, err := tx.Exec(ctx, step.SQL); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	_, err = tx.Exec(ctx, `INSERT INTO toolhost_layouts (name, version, oldest) VALUES ($1, $2, $3)
ON CONFLICT (name) DO UPDATE SET version = excluded.version, oldest = excluded.oldest, updated = now()`, l.Name, len(l.Steps), oldest)
	return err
}
