// Package filelock locks files and folders between processes, with flock(2). The lock belongs to
// the open file: it ends when the file and all its copies in child processes are closed, so the
// kernel releases it however a process ends. Locks are advisory. Two opened files of one process
// exclude each other too.
//
// It is not a library's: gofrs/flock opens the file itself, by its path and without O_NOFOLLOW.
// Callers here lock what they hold open already, give the lock to a child, open the file below an
// os.Root, and write into it.
//
// All functions are safe for concurrent use. On systems without flock, they lock nothing.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// ErrHeld says that another open file has a lock that excludes the wanted one.
var ErrHeld = errors.New("another process has the lock")

// pause is the time between two attempts of Wait. The kernel's own wait could not end with a
// context.
const pause = 5 * time.Millisecond

// Create opens the file of a lock, and creates it with mode 0600 if there is none. It refuses a
// symbolic link: whoever may write to the folder could otherwise choose which file is created. It
// locks nothing.
func Create(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_RDWR|noFollow, 0o600)
}

// Take opens a file as Create does, and takes its exclusive lock as Try does. If it fails, no file
// is open. Closing the file releases the lock.
func Take(path string) (*os.File, error) { return tried(Create(path)) }

// TakeFolder is Take for a folder, which must exist.
func TakeFolder(path string) (*os.File, error) {
	return tried(os.OpenFile(path, os.O_RDONLY|onlyFolder|noFollow, 0))
}

func tried(file *os.File, err error) (*os.File, error) {
	if err != nil {
		return nil, err
	}
	if err := Try(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Try takes the exclusive lock of an open file, and does not wait: the error is ErrHeld if another
// open file has any lock. A shared lock of the file becomes the exclusive one; if that fails, it
// can be lost.
func Try(file *os.File) error { return lock(file, exclusive|now) }

// TryShared takes a shared lock, of which a file can have many. It does not wait: the error is
// ErrHeld if another open file has the exclusive lock.
func TryShared(file *os.File) error { return lock(file, shared|now) }

// Lock takes the exclusive lock, and waits for it however long that takes.
func Lock(file *os.File) error { return lock(file, exclusive) }

// Wait takes the exclusive lock, and waits for it until ctx ends. The error is ErrHeld and the
// cause of the end then. Which of several that wait is next is not determined.
func Wait(ctx context.Context, file *os.File) error {
	for {
		err := Try(file)
		if !errors.Is(err, ErrHeld) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", err, context.Cause(ctx))
		case <-time.After(pause):
		}
	}
}

// Unlock releases the lock of a file that stays open.
func Unlock(file *os.File) error { return lock(file, none) }

// Names reports whether the path still names the open file. Whoever removes files whose lock they
// have must ask so after they took it: another process may have removed the file before.
func Names(path string, file *os.File) bool {
	locked, err := file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(path)
	return err == nil && os.SameFile(locked, named)
}
