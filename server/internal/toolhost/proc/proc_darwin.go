package proc

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// StartTime returns the time of a process's start, in a unit of the operating system.
func StartTime(pid int) (uint64, error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0, fmt.Errorf("looking at process %d: %w", pid, err)
	}
	return uint64(info.Proc.P_starttime.Nano()), nil
}
