package proc

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// StartTime returns when the process started, in a unit of the operating system's own.
func StartTime(pid int) (uint64, error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0, fmt.Errorf("looking at process %d: %w", pid, err)
	}
	return uint64(info.Proc.P_starttime.Nano()), nil
}
