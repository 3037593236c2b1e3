package workspace

import (
	"os"

	"golang.org/x/sys/unix"
)

// forReading returns a folder as another open file, which reads entries without a stat of each. A
// folder that os.Root has opened stats each entry, to be safe if the folder moves. localEntry uses
// only names and kinds of entries, so it does not need that.
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
