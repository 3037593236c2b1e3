//go:build !linux

package sqlite

import "golang.org/x/sys/unix"

// The locks belong to the process. A process must have only one store for a journal, because
// closing one store gives up the claims of all.
const (
	setLock = unix.F_SETLK
	getLock = unix.F_GETLK
)
