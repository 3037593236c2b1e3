//go:build !linux

package gomaxprocs

import "time"

// spareTime returns the clock, as if one processor were always idle: the system does not tell.
func spareTime() time.Duration { return clock() }
