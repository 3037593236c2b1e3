package process

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownGroup puts a child into a session and a group of its own, so that it has no terminal, and into a control group if there is a descriptor of one, and lets it
// die with the thread that starts it. In a PID namespace it dies with the first process, which dies with the thread; its
// own death signal would kill it at once there, for package syscall takes a parent whose number it cannot see for dead.
func ownGroup(cgroup int, namespaced bool) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true, UseCgroupFD: cgroup >= 0, CgroupFD: cgroup}
	if !namespaced {
		attr.Pdeathsig = syscall.SIGKILL
	}
	return attr
}

// awaitEnd blocks until the process has ended, leaves it to be reaped, and reports whether it could do so.
func awaitEnd(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}
