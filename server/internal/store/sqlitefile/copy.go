package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Copy writes the content of a database to a new file of mode 0600, and returns when the file is on
// the disk. Other processes may use the database meanwhile. The copy has everything that was
// committed before Copy was called, and it may have commits from after that. It has each
// transaction as a whole or not at all, because SQLite reads the database in one transaction.
//
// Copy fails if the database does not exist or is damaged, or if the new file exists. After an
// error, it leaves no file.
func Copy(ctx context.Context, from, to string) (err error) {
	if _, err := os.Stat(from); err != nil { // SQLite would create the file
		return err
	}
	// SQLite accepts an empty file as the target, and would create a file that other users can read.
	file, err := os.OpenFile(to, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err != nil {
			err = errors.Join(err, os.Remove(to))
		}
	}()
	db, err := Connect(from, 1, "deferred")
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "VACUUM INTO ?", to)
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	// VACUUM INTO does not sync the new file. Sync writes the file's pages whichever descriptor
	// wrote them.
	if err := file.Sync(); err != nil {
		return err
	}
	return check(ctx, to, func(*sql.DB) error { return nil })
}

// Check returns an error if a database that no process uses is damaged, or if Migrate would refuse
// it. It reads the whole file and changes nothing. It does not create files beside the database.
func (l Layout) Check(ctx context.Context, path string) error {
	// The schema comes first, because the integrity check evaluates expressions in it.
	return check(ctx, path, func(db *sql.DB) error { return l.CheckSchema(ctx, db) })
}

// check calls accept, and looks for damage if accept returns nil.
func check(ctx context.Context, path string, accept func(*sql.DB) error) (err error) {
	if _, err := os.Stat(path); err != nil {
		return err
	}
	db, err := Connect(path, 1, "deferred", "query_only(1)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := accept(db); err != nil {
		return err
	}
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return fmt.Errorf("the file is damaged: %s", verdict)
	}
	return nil
}

// Release moves the log of a database into the file, so that the file alone has everything. It
// returns ErrInUse if another process has the database open, and does not wait for it.
func Release(ctx context.Context, path string) (err error) {
	db, err := Connect(path, 1, "immediate")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, "PRAGMA busy_timeout = 0"); err != nil {
		return err
	}
	// SQLite leaves WAL mode only if no other connection has the file open.
	var mode string
	err = db.QueryRowContext(ctx, "PRAGMA journal_mode = DELETE").Scan(&mode)
	if failure, ok := errors.AsType[*driver.Error](err); ok && failure.Code()&0xff == sqlite3.SQLITE_BUSY || err == nil && mode != "delete" {
		return ErrInUse
	}
	return err
}

// ErrInUse says that another process has a database open.
var ErrInUse = errors.New("another process has the file open")
