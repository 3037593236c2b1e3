// Package sqlitefile opens SQLite files that one program of this repository lays out, and brings their layout up to date.
//
// It owns what all such files have in common: how they are synced, how long a statement waits for a lock, whose file it
// is and in which version. It does not know what is in them, makes no files, and locks none for itself.
package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // registers itself as "sqlite"
)

// BusyTimeout is how long a statement waits for a lock of another process or of a person with a database shell. Commits
// take milliseconds; whoever holds the lock for longer is stuck.
const BusyTimeout = 10 * time.Second

// Connect returns at most so many connections to a file, of which each commit is synced. lock is how a transaction
// begins: "immediate" to write, "deferred" to read. Pragmas are such as "journal_mode(WAL)". It does no I/O.
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

// Layout is what a file holds.
type Layout struct {
	// ApplicationID is in the file's header, so that no other program's file is taken for one of these.
	ApplicationID uint32
	// Steps turn, for each version from 1, the layout before it into it. They are never changed once they are released.
	Steps []string
}

// Migrate brings the file to the newest version, in one transaction; an empty file, too. It refuses the file of another
// program or of a newer version. db must begin transactions with "immediate": of two processes that open a new file at
// once the second then waits, and finds the work done.
func (l Layout) Migrate(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var application, tables int64
	var version int
	for query, into := range map[string]any{
		"PRAGMA application_id":              &application,
		"PRAGMA user_version":                &version,
		"SELECT count(*) FROM sqlite_schema": &tables,
	} {
		if err := tx.QueryRowContext(ctx, query).Scan(into); err != nil {
			return err
		}
	}
	switch {
	case application != int64(l.ApplicationID) && tables > 0:
		return errors.New("the file is a database of another program; choose another file")
	case version > len(l.Steps):
		return fmt.Errorf("the file has layout %d and this program knows only up to %d; use a newer program", version, len(l.Steps))
	case version == len(l.Steps):
		return nil
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
