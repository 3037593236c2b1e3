//go:build unix

package gomaxprocs

import (
	"syscall"
	"time"
)

// processUsage returns the resource usage of this process.
func processUsage() (usage, bool) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return usage{}, false
	}
	return usage{
		at:    time.Now(),
		cpu:   time.Duration(r.Utime.Nano() + r.Stime.Nano()),
		disks: int64(r.Inblock) + int64(r.Oublock),
	}, true
}
