package cli

import (
	"cmp"
	"os"

	"golang.org/x/sys/unix"
)

// IsTerminal reports whether a stream is a terminal. Other devices, such as /dev/null, are not
// terminals.
func IsTerminal(stream any) bool {
	wide, _ := TerminalSize(stream)
	return wide > 0
}

// TerminalSize returns the columns and the lines of a terminal, or 0 if the stream is not a
// terminal. A terminal that does not know its size counts as 80 by 24.
func TerminalSize(stream any) (wide, high int) {
	file, ok := stream.(*os.File)
	if !ok {
		return 0, 0
	}
	window, err := unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0
	}
	const usualWidth, usualHeight = 80, 24
	return cmp.Or(int(window.Col), usualWidth), cmp.Or(int(window.Row), usualHeight)
}
