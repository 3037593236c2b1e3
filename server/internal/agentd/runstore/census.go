package runstore

import "time"

// Census is what a store that several servers share knows of all of them.
type Census struct {
	// Waiting is the number of runs that wait for decisions and are at work at no server. The first
	// one waits since Since.
	Waiting int
	Since   time.Time
	// Parked is the number of families that are left alone, see MaxStalled.
	Parked int
	// Of several servers that live, one counts the runs, so that a sum has each once; for the others
	// they are 0. Each one counts the servers.
	Live   int // servers that have just shown that they live
	Silent int // others that have runs, or whose sessions the database has not ended
	Lost   int // others, which have nothing any more
}
