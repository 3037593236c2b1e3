//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package callstore

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// fileLock locks the file against other stores, since a store assumes that its index has all ids.
// The system releases the lock when the process ends. The lock is on a separate file, because
// closing any descriptor of the database would release SQLite's locks on it.
type fileLock struct{ file *os.File }

func lockFile(path string) (*fileLock, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errors.New("the file is in use by another toolhost; stop that one, or choose another state folder")
		}
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	return &fileLock{file: file}, nil
}

func (l *fileLock) release() { l.file.Close() }
