package standing

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/toolhost/toolhost/internal/text/arguments"
	"github.com/toolhost/toolhost/server/internal/store/sqlitefile"
	"github.com/toolhost/toolhost/tool"
)

// File is the name of the file in the folder of the records.
const File = "approvals.db"

// layout is the layout of the file. Its application id reads "thAp". Times are nanoseconds since
// 1970.
var layout = sqlitefile.Layout{ApplicationID: 0x74684170, Steps: []string{`
CREATE TABLE approvals (
	number    INTEGER PRIMARY KEY,  -- the order of creation
	id        TEXT NOT NULL UNIQUE,
	principal TEXT NOT NULL,
	request   TEXT NOT NULL,        -- the id of the request; empty if it had none
	digest    TEXT NOT NULL,        -- of the content of the request
	expires   INTEGER NOT NULL,
	ended     INTEGER NOT NULL,     -- 0 while it is in force
	data      BLOB NOT NULL         -- the record in JSON
) STRICT;
CREATE UNIQUE INDEX approvals_by_request ON approvals (principal, request) WHERE request != '';
CREATE TABLE ledger (
	id TEXT NOT NULL                -- of the ledger of calls that the approvals belong to
) STRICT;
`}}

// record is the JSON of a row. The template is kept beside the approval, because a pattern is
// judged by what the tool declared when the person saw it.
type record struct {
	tool.StandingApproval
	Declared []string `json:"declared,omitempty"` // the arguments with a pattern that the tool declares
	// RuleSHA256 is the digest of the rule of the policy; empty: no rule decided.
	RuleSHA256 string `json:"rule_sha256,omitempty"`
	// Unreported says that the approval has ended, and that the audit log may not have its end.
	Unreported bool `json:"unreported,omitempty"`
}

// row is what changes of a row.
type row struct {
	number, expires, ended int64 // ended is 0 while the approval is in force
	data                   []byte
}

// row returns the row of an approval.
func (e *entry) row() (row, error) {
	r := row{number: e.number, expires: e.approval.Expires.UnixNano()}
	if !e.approval.Ended.IsZero() {
		r.ended = e.approval.Ended.UnixNano()
	}
	var err error
	r.data, err = e.encode()
	return r, err
}

// connect opens the file and creates it if it does not exist.
func connect(ctx context.Context, path string) (_ *sql.DB, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) // SQLite would use the umask
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	db, err := sqlitefile.Connect(path, 1, "immediate", "journal_mode(WAL)")
	if err != nil {
		return nil, err
	}
	if err := layout.Migrate(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// damaged reports whether the file is no database, a broken one, or has another schema or content
// than this package writes.
func damaged(err error) bool {
	if errors.Is(err, sqlitefile.ErrForeignSchema) || errors.Is(err, errContent) {
		return true
	}
	failure, ok := errors.AsType[*sqlite.Error](err)
	return ok && (failure.Code()&0xff == sqlite3.SQLITE_CORRUPT || failure.Code()&0xff == sqlite3.SQLITE_NOTADB)
}

var errContent = errors.New("a row is not one that toolhost writes")

// setAside renames the file. Its log and index belong to the damaged content, and are removed.
func setAside(path, aside string) error {
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Rename(path, aside)
}

// load returns all rows, the oldest first.
func load(ctx context.Context, db *sql.DB) (all []*entry, err error) {
	rows, err := db.QueryContext(ctx, "SELECT number, id, principal, request, digest, expires, ended, data FROM approvals ORDER BY number")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		e, data, expires, ended := &entry{}, []byte(nil), int64(0), int64(0)
		var id, principal string
		if err := rows.Scan(&e.number, &id, &principal, &e.request, &e.digest, &expires, &ended, &data); err != nil {
			return nil, err
		}
		var r record
		if err := json.Unmarshal(data, &r); err != nil {
			return nil, fmt.Errorf("%w: %w", errContent, err)
		}
		// The columns decide: they are what End changes first.
		if r.ID != id || r.Principal != principal || r.Expires.UnixNano() != expires || r.Ended.IsZero() != (ended == 0) {
			return nil, fmt.Errorf("%w: %s differs from its columns", errContent, r.ID)
		}
		e.approval, e.rule, e.reported = r.StandingApproval, r.RuleSHA256, !r.Unreported
		if e.template, err = r.template(); err != nil {
			return nil, fmt.Errorf("%w: %w", errContent, err)
		}
		all = append(all, e)
	}
	return all, rows.Err()
}

// template returns the template of a stored approval.
func (r *record) template() (*template, error) {
	if r.AnyArguments {
		return &template{any: true}, nil
	}
	given, err := arguments.Parse(r.Arguments)
	if err != nil {
		return nil, err
	}
	t := &template{patterns: map[string]tool.ArgumentPattern{}, declared: map[string]bool{}, equal: given.Object()}
	for _, p := range r.Patterns {
		t.patterns[p.Argument] = p
	}
	for _, name := range r.Declared {
		t.declared[name] = true
	}
	return t, nil
}

// insert writes a new row.
func insert(ctx context.Context, db *sql.DB, e *entry) error {
	data, err := e.encode()
	if err != nil {
		return err
	}
	result, err := db.ExecContext(ctx, "INSERT INTO approvals (id, principal, request, digest, expires, ended, data) VALUES (?, ?, ?, ?, ?, 0, ?)",
		e.approval.ID, e.approval.Principal, e.request, e.digest, e.approval.Expires.UnixNano(), data)
	if err != nil {
		return err
	}
	e.number, err = result.LastInsertId()
	return err
}

// update writes what has changed of approvals, in one transaction.
func update(ctx context.Context, db *sql.DB, changed []row) error {
	return transact(ctx, db, func(tx *sql.Tx) error {
		for _, r := range changed {
			if _, err := tx.ExecContext(ctx, "UPDATE approvals SET expires = ?, ended = ?, data = ? WHERE number = ?", r.expires, r.ended, r.data, r.number); err != nil {
				return err
			}
		}
		return nil
	})
}

// remove deletes the rows of approvals, in one transaction.
func remove(ctx context.Context, db *sql.DB, gone []*entry) error {
	return transact(ctx, db, func(tx *sql.Tx) error {
		for _, e := range gone {
			if _, err := tx.ExecContext(ctx, "DELETE FROM approvals WHERE number = ?", e.number); err != nil {
				return err
			}
		}
		return nil
	})
}

func transact(ctx context.Context, db *sql.DB, change func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := change(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// ofLedger returns the ledger that the approvals belong to; empty: none yet.
func ofLedger(ctx context.Context, db *sql.DB) (id string, err error) {
	err = db.QueryRowContext(ctx, "SELECT id FROM ledger").Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return id, err
}

func setLedger(ctx context.Context, db *sql.DB, id string) error {
	return transact(ctx, db, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM ledger"); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO ledger VALUES (?)", id)
		return err
	})
}
