package processors

import (
	"bytes"
	"os"
	"strconv"
	"time"
)

// spareTime reads the second number of /proc/uptime (proc(5)): how long all processors were idle, in hundredths of a second.
// Where it cannot be read, as much is spare as time goes by.
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
