//go:build !linux

package gomaxprocs

import "time"

// spareTime returns the time of the clock, which means that one processor was always idle. This
// system does not report the real value.
func spareTime() time.Duration { return clock() }
