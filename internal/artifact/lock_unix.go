//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package artifact

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockFolder locks the folder against other stores, since a store assumes that its index has all
// files. The system releases the lock when the process ends.
func lockFolder(root *os.Root) (*os.File, error) {
	file, err := root.OpenFile(lockName, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errors.New("the folder is in use by another toolhost; stop that one, or choose another state folder")
		}
		return nil, fmt.Errorf("locking: %w", err)
	}
	return file, nil
}
