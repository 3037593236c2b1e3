package subreaper

import (
	"os"
	"time"
)

// roleName is the environment variable that tells a process which member of the chain it is. It is
// not set in the process that was started first, which becomes the outer subreaper.
const roleName = "TOOLHOST_SUBREAPER"

// The values of roleName.
const (
	roleInner  = "inner"
	roleServed = "served"
)

// patience bounds how long a member kills descendants that start others as fast as they die, and
// how long it waits for those that Spares names.
const patience = 15 * time.Second

// Config describes the served program and its surroundings.
type Config struct {
	// Command is the served program with its arguments: the path of this executable, and the
	// arguments it was started with. The program calls Served and, if that is false, Run. Required.
	Command []string
	// Environ is the program's environment, to which Run adds its own variable. Nil means the
	// environment of this process.
	Environ []string
	// Stdin, Stdout and Stderr are the program's standard files. Nil means that the file is closed.
	Stdin, Stdout, Stderr *os.File
	// Spares reports whether a descendant ends by itself after the served program has ended, so
	// that it must not be killed. Nil means that no descendant does.
	Spares func(pid int) bool
}

// Inner reports whether this process was started as the inner subreaper. It then calls Run without
// further decisions.
func Inner(getenv func(string) string) bool { return getenv(roleName) == roleInner }

// Served reports whether this process was started as the served program, below two subreapers.
func Served(getenv func(string) string) bool { return getenv(roleName) == roleServed }
