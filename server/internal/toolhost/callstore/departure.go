package callstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolhost/toolhost/server/internal/store/sqlitefile"
)

// Departure is a ledger in a file whose calls another ledger takes over.
//
// The problem: two ledgers cannot be changed in one transaction. If both were usable for a moment,
// a call could begin in each. The idea: the other ledger has all calls, but not committed. Leave
// then makes the file unusable for good, and only afterwards the other ledger commits. The
// invariant: of a file and its heir, at most one can be used. Between the two steps none can, and
// repeating the move ends that.
//
// Not safe for concurrent use. The caller must call Close.
type Departure struct {
	ID     string // of the ledger
	Newest int64  // the number of its newest call
	Noted  bool   // see Store.Note
	Heir   string // the ledger for which Leave was called; empty: none
	At     string // the address that Leave got

	path string
	lock *os.File // nil: OpenToRead
	db   *sql.DB
}

// OpenToLeave opens a file that no Store uses, and locks it.
func OpenToLeave(ctx context.Context, path string, keepIDs time.Duration) (*Departure, error) {
	return openDeparture(ctx, path, keepIDs, true)
}

// OpenToRead opens a file that a Store may use. Leave must not be called.
func OpenToRead(ctx context.Context, path string, keepIDs time.Duration) (*Departure, error) {
	return openDeparture(ctx, path, keepIDs, false)
}

func openDeparture(ctx context.Context, path string, keepIDs time.Duration, leave bool) (*Departure, error) {
	d := &Departure{path: path}
	if err := d.open(ctx, keepIDs, leave); err != nil {
		return nil, fmt.Errorf("opening the ledger on disk %s: %w", path, errors.Join(explain(path, err), d.Close()))
	}
	return d, nil
}

func (d *Departure) open(ctx context.Context, keepIDs time.Duration, leave bool) (err error) {
	if info, err := os.Stat(d.path); err != nil || info.Size() == 0 {
		return errors.Join(err, errors.New("there is no ledger to move"))
	}
	if !leave {
		if d.db, err = sqlitefile.Connect(d.path, 1, "deferred", "query_only(1)"); err != nil {
			return err
		}
		var version int
		err = d.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
		if err == nil && version < len(layout().Steps) {
			err = errors.New("an earlier version of toolhost has written it last; start this version once before")
		}
		if err = errors.Join(err, layout().CheckSchema(ctx, d.db)); err != nil {
			return err
		}
		// All that follows sees the file at one moment. The one connection has the transaction until
		// Close.
		if _, err := d.db.ExecContext(ctx, "BEGIN"); err != nil {
			return err
		}
	} else {
		if d.lock, err = prepare(d.path); err != nil {
			return err
		}
		if d.db, err = sqlitefile.Connect(d.path, 1, "immediate", "journal_mode(WAL)"); err != nil {
			return err
		}
		if err := layout().Migrate(ctx, d.db); err != nil {
			return err
		}
	}
	if d.ID, d.Noted, err = readID(ctx, d.db); err != nil {
		return err
	}
	r, err := readRestoration(ctx, d.db, keepIDs)
	if err != nil {
		return err
	}
	if r != nil && time.Now().Before(r.Ends) {
		return fmt.Errorf("it was restored from a backup of the ledger %s, and takes no unknown ids until %s; move it then, or start once with --accept-lost-ledger %s before",
			r.From, r.Ends.Format(time.RFC3339), r.From)
	}
	return d.db.QueryRowContext(ctx, "SELECT heir, address, max(newest, ifnull((SELECT max(number) FROM calls), 0)) FROM ledger").Scan(&d.Heir, &d.At, &d.Newest)
}

// checkHere returns ErrMoved if another ledger has the calls of the file.
func checkHere(ctx context.Context, db *sql.DB) error {
	var heir, address string
	err := db.QueryRowContext(ctx, "SELECT heir, address FROM ledger").Scan(&heir, &address)
	if err == nil && heir != "" {
		err = fmt.Errorf("%w to the database %s (records in toolhost.yaml), or were about to be: `toolhost migrate` finishes that", ErrMoved, address)
	}
	return err
}

// Leave makes the file unusable for every Store, and names the ledger that has its calls, and where
// that is. It is on the disk when Leave returns. Leave may be called again.
func (d *Departure) Leave(ctx context.Context, heir, address string) error {
	if err := alter(ctx, d.db, "UPDATE ledger SET heir = ?, address = ?", heir, address); err != nil {
		return fmt.Errorf("noting in the ledger %s that it has moved: %w", d.path, explain(d.path, err))
	}
	d.Heir, d.At = heir, address
	return nil
}

// Close closes the file.
func (d *Departure) Close() error {
	var errs []error
	if d.db != nil {
		errs = append(errs, d.db.Close())
	}
	if d.lock != nil {
		errs = append(errs, d.lock.Close())
	}
	return errors.Join(errs...)
}

// Calls returns the rows of all calls in order of beginning: number, hash, begun, state, ended,
// principal, session, id, sum, tool, plugin, instance, error, arguments, verdict, reason and effect
// key. A call that has begun and not ended has no end.
func (d *Departure) Calls(ctx context.Context) (*Rows, error) {
	return d.rows(ctx, `SELECT number, hash, begun, state, ended, principal, session, id, sum, tool, plugin, instance, error, arguments, verdict, reason, effect_key
		FROM calls ORDER BY number`)
}

// Outcomes returns the rows of all outcomes in order of ending: the number of the call, its
// principal, the end, and the data.
func (d *Departure) Outcomes(ctx context.Context) (*Rows, error) {
	return d.rows(ctx, `SELECT c.number, c.principal, o.ended, o.data FROM outcomes o JOIN calls c ON c.number = o.call AND c.outcome = o.place
		WHERE c.state IN (1, 2, 3) ORDER BY o.place`)
}

// Rows are rows of a file, which are read one after the other. Not safe for concurrent use.
type Rows struct {
	rows   *sql.Rows
	values []any
	into   []any
	err    error
}

func (d *Departure) rows(ctx context.Context, query string) (*Rows, error) {
	rows, err := d.db.QueryContext(ctx, query)
	if err != nil {
		return nil, explain(d.path, err)
	}
	columns, err := rows.Columns()
	r := &Rows{rows: rows, values: make([]any, len(columns)), err: err}
	for i := range r.values {
		r.into = append(r.into, &r.values[i])
	}
	return r, nil
}

// Next reads the next row. It returns false at the end and after an error.
func (r *Rows) Next() bool {
	if r.err != nil || !r.rows.Next() {
		return false
	}
	r.err = r.rows.Scan(r.into...)
	return r.err == nil
}

// Values returns the values of the row: nil, int64, string or []byte. They are valid until Next.
func (r *Rows) Values() []any { return r.values }

// Err returns the error that has ended Next.
func (r *Rows) Err() error { return errors.Join(r.err, r.rows.Err()) }

// Close ends reading. It may be called more than once.
func (r *Rows) Close() error { return r.rows.Close() }

// ValidText reports whether a text can be stored in any ledger.
func ValidText(text string) bool { return utf8.ValidString(text) && !strings.Contains(text, "\x00") }

// ToValidText replaces what cannot be stored in any ledger.
func ToValidText(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}
