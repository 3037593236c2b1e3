package process

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownGroup gives a child its own session and process group, so that it has no terminal, and starts
// it in the control group if there is a descriptor of one. The child dies with the thread that
// starts it. In a PID namespace, the namespace's first process dies with that thread, and the child
// with it. There the child has no parent-death signal: package syscall would kill it at once,
// because it takes a parent outside of the namespace for dead.
func ownGroup(cgroup int, namespaced bool) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true, UseCgroupFD: cgroup >= 0, CgroupFD: cgroup}
	if !namespaced {
		attr.Pdeathsig = syscall.SIGKILL
	}
	return attr
}

// awaitEnd blocks until the process has ended, without reaping it. It reports whether it could
// wait.
func awaitEnd(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}
