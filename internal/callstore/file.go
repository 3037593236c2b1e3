package callstore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// journalSizeLimit is the size to which the write-ahead log is truncated after a large result.
const journalSizeLimit = "journal_size_limit(67108864)"

// prepare creates the file if it does not exist, and locks it.
func prepare(path string) (*fileLock, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	lock, err := lockFile(path + ".lock")
	if err != nil {
		return nil, err
	}
	if err := makeFile(path); err != nil {
		lock.release()
		return nil, err
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
