package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"os"

	"github.com/toolhost/toolhost/server/internal/store/sqlitefile"
)

// ErrMoved says that the runs of a file were moved to a database, or were about to be.
var ErrMoved = errors.New("the runs of this journal were moved")

const (
	// leave makes a file unusable: every agentd takes it for one of a newer version, and this one says
	// where its runs are.
	leave = `CREATE TABLE moved (id TEXT NOT NULL, address TEXT NOT NULL) STRICT;
INSERT INTO moved VALUES (?, ?);
PRAGMA user_version = 1000000`
	readMoved = "SELECT id, address FROM moved"
)

// Departure is a journal in a file whose runs a database takes over.
//
// The problem: a file and a database cannot be changed in one transaction. If both were usable for
// a moment, a run could go on in each. The idea: the database has all runs, but not committed.
// Leave then makes the file unusable for good, and only afterwards the database commits. The
// invariant: of the file and the database, at most one has the runs for others. Between the two
// steps none has, and repeating the move ends that.
//
// Not safe for concurrent use. The caller must call Close, and see to it that no Store uses the
// file, unless it only reads.
type Departure struct {
	ID string // of the move for which Leave was called; empty: none
	At string // the address that Leave got

	path string
	db   *sql.DB
}

// Depart opens a file. Without readOnly, it first brings it to the newest layout.
func Depart(ctx context.Context, path string, readOnly bool) (*Departure, error) {
	d := &Departure{path: path}
	if err := d.open(ctx, readOnly); err != nil {
		return nil, fmt.Errorf("opening journal %s: %w", path, errors.Join(err, d.Close()))
	}
	return d, nil
}

func (d *Departure) open(ctx context.Context, readOnly bool) (err error) {
	if info, err := os.Stat(d.path); err != nil || info.Size() == 0 {
		return errors.Join(err, errors.New("there are no runs to move"))
	}
	lock, pragmas := "immediate", []string{"journal_mode(WAL)"}
	if readOnly {
		lock, pragmas = "deferred", []string{"query_only(1)"}
	}
	if d.db, err = sqlitefile.Connect(d.path, 1, lock, pragmas...); err != nil {
		return err
	}
	if d.ID, d.At = moved(ctx, d.db); d.ID != "" {
		return nil
	}
	if !readOnly {
		return layout().Migrate(ctx, d.db)
	}
	var version int
	err = d.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	if err == nil && version < len(layout().Steps) {
		err = errors.New("an earlier version of agentd has written it last; start this version once before")
	}
	if err = errors.Join(err, layout().CheckSchema(ctx, d.db)); err != nil {
		return err
	}
	// All that follows sees the file at one moment. The one connection has the transaction until
	// Close.
	_, err = d.db.ExecContext(ctx, "BEGIN")
	return err
}

// moved returns the move for which a file was left, or empty texts.
func moved(ctx context.Context, db *sql.DB) (id, address string) {
	if db.QueryRowContext(ctx, readMoved).Scan(&id, &address) != nil { // there is no such table
		return "", ""
	}
	return id, address
}

// explain replaces the error of a file that was left by one that says where its runs are.
func explain(ctx context.Context, db *sql.DB, err error) error {
	if err == nil {
		return nil
	}
	if id, address := moved(ctx, db); id != "" {
		return fmt.Errorf("%w to the database %s, or were about to be: `agentd migrate` finishes that", ErrMoved, address)
	}
	return err
}

// Leave makes the file unusable for every Store, and notes the id of the move and where the runs
// go. It is on the disk when Leave returns. Leave does nothing if the file was left before.
func (d *Departure) Leave(ctx context.Context, id, address string) error {
	if d.ID != "" {
		return nil
	}
	tx, err := d.db.BeginTx(ctx, nil)
	if err == nil {
		defer tx.Rollback()
		if _, err = tx.ExecContext(ctx, leave, id, address); err == nil {
			err = tx.Commit()
		}
	}
	if err != nil {
		return fmt.Errorf("noting in the journal %s that its runs were moved: %w", d.path, err)
	}
	d.ID, d.At = id, address
	return nil
}

// Close closes the file.
func (d *Departure) Close() error {
	if d.db == nil {
		return nil
	}
	return d.db.Close()
}

// Rows yields the rows of a query. Their values are nil, int64, float64, string or []byte, and
// belong to the caller. An error is the last value.
func (d *Departure) Rows(ctx context.Context, query string) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		rows, err := d.db.QueryContext(ctx, query)
		if err != nil {
			yield(nil, fmt.Errorf("reading the journal %s: %w", d.path, err))
			return
		}
		defer rows.Close()
		columns, err := rows.Columns()
		for err == nil && rows.Next() {
			values, into := make([]any, len(columns)), make([]any, len(columns))
			for i := range values {
				into[i] = &values[i]
			}
			if err = rows.Scan(into...); err == nil && !yield(values, nil) {
				return
			}
		}
		if err = errors.Join(err, rows.Err()); err != nil {
			yield(nil, fmt.Errorf("reading the journal %s: %w", d.path, err))
		}
	}
}
