package gomaxprocs

import (
	"bytes"
	"os"
	"strconv"
	"time"
)

// spareTime returns the second number of /proc/uptime (proc(5)): the idle time of all processors
// together, in steps of ten milliseconds. If it cannot be read, spareTime returns the clock, as if
// one processor were always idle.
func spareTime() time.Duration {
	text, err := os.ReadFile("/proc/uptime")
	if err != nil {
		return clock()
	}
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return clock()
	}
	seconds, err := strconv.ParseFloat(string(fields[1]), 64)
	if err != nil {
		return clock()
	}
	return time.Duration(seconds * float64(time.Second))
}
