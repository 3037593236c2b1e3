package subreaper

import (
	"os"
	"time"
)

// roleName is the variable by which a program that was started again knows which of the three it is.
const roleName = "TOOLHOST_KEEPER"

// The values of roleName. It is not set in the process that was started first.
const (
	roleInner = "inner"
	roleKept  = "kept"
)

// patience bounds how long a keeper goes on killing what starts anew as fast as it dies, and how long it waits for what is
// spared.
const patience = 15 * time.Second

// Config is what is kept.
type Config struct {
	// Command is the program that is to be kept, and its arguments: this one, as it was started. It calls Kept and, if that is
	// false, Run. Required.
	Command []string
	// Environ is its environment, without what keepers add. Nil: this process's.
	Environ []string
	// Stdin, Stdout and Stderr are its own. Nil: none.
	Stdin, Stdout, Stderr *os.File
	// Spares reports whether a descendant ends by itself once toolhost has, and is to be let. Nil: none does.
	Spares func(pid int) bool
}

// Inner reports whether this process is to be the inner keeper, whatever there is besides.
func Inner(getenv func(string) string) bool { return getenv(roleName) == roleInner }

// Kept reports whether this process has its keepers already.
func Kept(getenv func(string) string) bool { return getenv(roleName) == roleKept }
