package sqlite

import "golang.org/x/sys/unix"

// The locks belong to the open file, so two stores of one process see each other's claims.
const (
	setLock = unix.F_OFD_SETLK
	getLock = unix.F_OFD_GETLK
)
