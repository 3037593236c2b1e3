package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// flushInput throws away what a terminal has for whoever reads next. One that cannot do that keeps it.
func flushInput(terminal *os.File) {
	_ = unix.IoctlSetInt(int(terminal.Fd()), unix.TCFLSH, unix.TCIFLUSH)
}
