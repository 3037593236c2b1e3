// Package sqlitefile opens SQLite files of this repository's programs and migrates their layout.
//
// It owns what all these files have in common: how commits are synced, how long a statement waits
// for a lock, and how a file states its program and its version. It does not know the content of
// the files. It does not create files, and it does not lock them beyond SQLite's locks.
package sqlitefile

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // registers the driver "sqlite"
)

// BusyTimeout is how long a statement waits for a lock of another process, such as a database
// shell. Commits take milliseconds, so a process that holds the lock longer is stuck.
const BusyTimeout = 10 * time.Second

// Connect returns a database handle with at most the given number of connections. Each commit is
// synced to the disk. lock is the kind of transaction: "immediate" for writing, "deferred" for
// reading. A pragma has the form "journal_mode(WAL)". Connect does no I/O.
func Connect(path string, connections int, lock string, pragmas ...string) (*sql.DB, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	query := url.Values{"_txlock": {lock}, "_pragma": append([]string{
		fmt.Sprintf("busy_timeout(%d)", BusyTimeout.Milliseconds()),
		"synchronous(FULL)",
	}, pragmas...)}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: absolute, RawQuery: query.Encode()}).String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// Layout describes the schema of a file and its history.
//
// The problem: a file may come from elsewhere, such as from a backup. A trigger in it would run
// with each statement that the program executes: it could delete calls from a ledger, or write a
// call that never happened. A view or a generated column in place of a table or column could return
// values that no program wrote. The idea: SQLite stores the text of each CREATE statement, and the
// layout says which statements created the file. So the program executes the steps of the file's
// version in memory, and compares the two schemas. The invariant: before the first statement that
// reads or writes rows, the file has exactly the tables, indexes and triggers of its version, and
// no views.
type Layout struct {
	// ApplicationID identifies the program in the header of the file, so that Migrate refuses a
	// database of another program.
	ApplicationID uint32
	// Steps contains the SQL of each migration. Step i (from 0) migrates version i to version i+1.
	// A released step never changes, not even in its spaces and comments.
	Steps []string
}

// Migrate migrates the file to the newest version in one transaction. An empty file has version 0.
// Migrate refuses the file of another program or of a newer version. If the schema is not that of
// the file's version, the error wraps ErrForeignSchema.
//
// db must begin transactions with "immediate". If two processes open a new file at the same time,
// the second one then waits for the lock and finds the migration done.
func (l Layout) Migrate(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	version, err := l.identify(ctx, tx)
	if err != nil || version == len(l.Steps) {
		return err
	}
	for _, step := range l.Steps[version:] {
		if _, err := tx.ExecContext(ctx, step); err != nil {
			return fmt.Errorf("laying out the file: %w", err)
		}
	}
	stamp := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", l.ApplicationID, len(l.Steps))
	if _, err := tx.ExecContext(ctx, stamp); err != nil {
		return err
	}
	return tx.Commit()
}
