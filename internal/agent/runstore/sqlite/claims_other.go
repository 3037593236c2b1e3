//go:build !linux

package sqlite

import "golang.org/x/sys/unix"

// Locks of the process: a process must have one store of a journal, or closing one gives up the claims of both.
const (
	setLock = unix.F_SETLK
	getLock = unix.F_GETLK
)
