// Package processors says how many processors a process of toolhost uses.
//
// A call is handed over between goroutines of two processes. When both processes believe that they
// own all processors, each hand-over wakes a thread. On machines with few processors that costs
// more than a second processor brings.
package processors

import (
	"os"
	"runtime"
)

// few is the largest number of processors that Share halves. Above it, measurements found no gain,
// and tools that compute would lose.
const few = 4

// given is what Go gave to this process at its start: the processors of the machine, or of its
// control group, or GOMAXPROCS of its environment.
var given = runtime.GOMAXPROCS(0)

// Given returns how many processors Go gave to this process at its start, at least 1. It does not
// change with Share. It is safe for concurrent use.
func Given() int { return given }

// Share leaves half of the processors to the process at the other end of a call: with two to four
// processors, it sets GOMAXPROCS to half of them. With more it changes nothing. It also changes
// nothing if the environment has GOMAXPROCS, or if the program has set the number itself. The
// environment stays as it is, so that children of this process begin with all processors.
//
// Programs call it at their start. It is safe for concurrent use.
func Share() {
	now := runtime.GOMAXPROCS(0)
	if n := shared(given, now, os.Getenv("GOMAXPROCS")); n != now {
		runtime.GOMAXPROCS(n)
	}
}

// shared returns how many processors a process uses of those that it was given, if it uses now
// ones.
func shared(given, now int, environment string) int {
	if environment != "" || now != given || given > few {
		return now
	}
	return max(1, given/2)
}
