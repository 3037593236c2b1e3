package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// flushInput discards the input that a terminal holds. It ignores errors: the input then stays.
func flushInput(terminal *os.File) {
	_ = unix.IoctlSetInt(int(terminal.Fd()), unix.TCFLSH, unix.TCIFLUSH)
}
