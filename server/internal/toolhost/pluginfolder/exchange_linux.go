package pluginfolder

import (
	"errors"

	"golang.org/x/sys/unix"
)

// exchange exchanges the files of two paths in one step, where the file system can.
func exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP) {
		return exchangeInSteps(a, b)
	}
	return err
}
