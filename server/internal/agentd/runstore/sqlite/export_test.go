package sqlite

import (
	"os"

	"golang.org/x/sys/unix"
)

// SetLock sets a lock as the claims do.
func SetLock(file *os.File, lock *unix.Flock_t) error {
	return unix.FcntlFlock(file.Fd(), setLock, lock)
}
