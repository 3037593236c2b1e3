//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package filelock

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

const (
	noFollow   = syscall.O_NOFOLLOW
	onlyFolder = syscall.O_DIRECTORY

	exclusive = syscall.LOCK_EX
	shared    = syscall.LOCK_SH
	none      = syscall.LOCK_UN
	now       = syscall.LOCK_NB
)

func lock(file *os.File, how int) error {
	for {
		switch err := syscall.Flock(int(file.Fd()), how); {
		case err == nil:
			return nil
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrHeld
		default:
			return fmt.Errorf("locking %s: %w", file.Name(), err)
		}
	}
}
