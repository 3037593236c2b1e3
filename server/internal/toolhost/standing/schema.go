package standing

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// Row is an approval as it is kept. Times are nanoseconds since 1970.
type Row struct {
	Number        int64 // the order of creation
	ID, Principal string
	Request       string // the id of the request; empty if it had none
	Digest        string // of the content of the request
	Expires       int64
	Ended         int64  // 0 while the approval is in force
	Data          []byte // JSON
}

// Rows is where approvals are kept. Its methods are safe for concurrent use.
type Rows interface {
	// Insert adds a row, and returns its number.
	Insert(ctx context.Context, r Row) (number int64, err error)
	// Update writes the expiry, the end and the data of rows, all or none.
	Update(ctx context.Context, rows []Row) error
	// Remove removes rows, all or none.
	Remove(ctx context.Context, numbers []int64) error
	Close() error
}

// row returns the row of an approval.
func (e *entry) row() (Row, error) {
	r := Row{Number: e.number, ID: e.approval.ID, Principal: e.approval.Principal, Request: e.request, Digest: e.digest, Expires: e.approval.Expires.UnixNano()}
	if !e.approval.Ended.IsZero() {
		r.Ended = e.approval.Ended.UnixNano()
	}
	var err error
	r.Data, err = e.encode()
	return r, err
}

// entry returns the approval of a row. What it does not know may be a limit of the approval, so an
// approval with such a thing is an error.
func (r *Row) entry() (*entry, error) {
	var rec record
	decoder := json.NewDecoder(bytes.NewReader(r.Data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&rec); err != nil {
		return nil, fmt.Errorf("%w: %w", errContent, err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: more than one value", errContent)
	}
	// The columns decide: they are what End changes first.
	if rec.ID != r.ID || rec.Principal != r.Principal || rec.Expires.UnixNano() != r.Expires || rec.Ended.IsZero() != (r.Ended == 0) {
		return nil, fmt.Errorf("%w: %s differs from its columns", errContent, rec.ID)
	}
	e := &entry{number: r.Number, request: r.Request, digest: r.Digest, approval: rec.StandingApproval, rule: rec.RuleSHA256, reported: !rec.Unreported}
	var err error
	if e.template, err = rec.template(); err != nil {
		return nil, fmt.Errorf("%w: %w", errContent, err)
	}
	return e, nil
}

// file is the rows in a file.
type file struct{ *sql.DB }

// connect opens the file and creates it if it does not exist.
func connect(ctx context.Context, path string) (_ file, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) // SQLite would use the umask
	if err != nil {
		return file{}, err
	}
	if err := f.Close(); err != nil {
		return file{}, err
	}
	db, err := sqlitefile.Connect(path, 1, "immediate", "journal_mode(WAL)")
	if err != nil {
		return file{}, err
	}
	if err := layout.Migrate(ctx, db); err != nil {
		return file{}, errors.Join(err, db.Close())
	}
	return file{db}, nil
}

// Count returns how many approvals are in a file, also of those that have ended; 0 if there is no
// file.
func Count(ctx context.Context, path string) (count int, err error) {
	if _, err := os.Stat(path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return 0, err
	}
	f, err := connect(ctx, path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	err = f.QueryRowContext(ctx, "SELECT count(*) FROM approvals").Scan(&count)
	return count, err
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
func (f file) load(ctx context.Context) (all []*entry, err error) {
	rows, err := f.QueryContext(ctx, "SELECT number, id, principal, request, digest, expires, ended, data FROM approvals ORDER BY number")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var r Row
		if err := rows.Scan(&r.Number, &r.ID, &r.Principal, &r.Request, &r.Digest, &r.Expires, &r.Ended, &r.Data); err != nil {
			return nil, err
		}
		e, err := r.entry()
		if err != nil {
			return nil, err
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

// Insert implements Rows.
func (f file) Insert(ctx context.Context, r Row) (number int64, err error) {
	result, err := f.ExecContext(ctx, "INSERT INTO approvals (id, principal, request, digest, expires, ended, data) VALUES (?, ?, ?, ?, ?, ?, ?)",
		r.ID, r.Principal, r.Request, r.Digest, r.Expires, r.Ended, r.Data)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

// Update implements Rows.
func (f file) Update(ctx context.Context, rows []Row) error {
	return transact(ctx, f.DB, func(tx *sql.Tx) error {
		for _, r := range rows {
			if _, err := tx.ExecContext(ctx, "UPDATE approvals SET expires = ?, ended = ?, data = ? WHERE number = ?", r.Expires, r.Ended, r.Data, r.Number); err != nil {
				return err
			}
		}
		return nil
	})
}

// Remove implements Rows.
func (f file) Remove(ctx context.Context, numbers []int64) error {
	return transact(ctx, f.DB, func(tx *sql.Tx) error {
		for _, number := range numbers {
			if _, err := tx.ExecContext(ctx, "DELETE FROM approvals WHERE number = ?", number); err != nil {
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
func (f file) ofLedger(ctx context.Context) (id string, err error) {
	err = f.QueryRowContext(ctx, "SELECT id FROM ledger").Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return id, err
}

func (f file) setLedger(ctx context.Context, id string) error {
	return transact(ctx, f.DB, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM ledger"); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO ledger VALUES (?)", id)
		return err
	})
}
