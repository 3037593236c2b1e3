package workspace

import (
	"os"

	"golang.org/x/sys/unix"
)

// forReading returns a folder as another file, to be closed, whose entries are read without a look at each of them. What
// os.Root has opened looks at each at once, to be safe from a folder that moves; here nobody asks these entries for more
// than their names and kinds, see localEntry.
func forReading(folder *os.File) (*os.File, error) {
	raw, err := folder.SyscallConn()
	if err != nil {
		return nil, err
	}
	var fd int
	var dupErr error
	if err := raw.Control(func(original uintptr) {
		fd, dupErr = unix.FcntlInt(original, unix.F_DUPFD_CLOEXEC, 0)
	}); err != nil {
		return nil, err
	}
	if dupErr != nil {
		return nil, dupErr
	}
	return os.NewFile(uintptr(fd), folder.Name()), nil
}
