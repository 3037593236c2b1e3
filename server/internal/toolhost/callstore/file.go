package callstore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/toolhost/toolhost/internal/store/filelock"
)

// journalSizeLimit is the size to which the write-ahead log is truncated after a large result.
const journalSizeLimit = "journal_size_limit(67108864)"

// prepare creates the file if it does not exist, and locks it against other stores, since a store
// assumes that its index has all ids. The system releases the lock when the process ends. The lock
// is on a separate file, because closing any descriptor of the database would release SQLite's
// locks on it.
func prepare(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	lock, err := filelock.Take(path + ".lock")
	if errors.Is(err, filelock.ErrHeld) {
		return nil, errors.New("the file is in use by another toolhost; stop that one, or choose another state folder")
	}
	if err != nil {
		return nil, fmt.Errorf("locking: %w", err)
	}
	if err := makeFile(path); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

func makeFile(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	// SQLite would remove the log and begin with an empty file.
	if log, err := os.Stat(path + "-wal"); info.Size() == 0 && err == nil && log.Size() > 0 {
		return fmt.Errorf("the file is empty and its log %s-wal is not: %w", path, ErrDamaged)
	}
	return nil
}

// explain maps SQLite's errors about a damaged file to ErrDamaged, with advice.
func explain(path string, err error) error {
	if e, ok := errors.AsType[*driver.Error](err); ok {
		if code := e.Code() & 0xff; code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB {
			err = fmt.Errorf("%w: %w", ErrDamaged, err)
		}
	}
	if errors.Is(err, ErrDamaged) {
		return fmt.Errorf("%w; restore it, or, if no caller will repeat a call that it sent before, move it and %s-wal and %s-shm away to begin with an empty one",
			err, filepath.Base(path), filepath.Base(path))
	}
	return err
}
