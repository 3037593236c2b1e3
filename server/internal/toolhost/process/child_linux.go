package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/server/internal/toolhost/proc"
)

// ownGroup gives a child its own session and process group, so that it has no terminal. If there is
// a descriptor of a control group, the child starts in that group. The child dies with the thread
// that starts it. In a PID namespace, the namespace's first process dies with that thread, and the
// child dies with the namespace. There the child has no parent-death signal of its own: package
// syscall kills a child that cannot see its parent, because it takes the parent for dead.
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

// alive reports whether the process runs now, without blocking.
func (c *child) alive() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reaped {
		return false
	}
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, c.id.PID, &info, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil)
	return err == nil && info.Signo == 0
}

// survivorGrace is the time that descendants of an ended process have to end by themselves. Their
// parent may have told them to end, without waiting.
const survivorGrace = 250 * time.Millisecond

// lookForSurvivors returns the names of the descendants of a process that has ended and is not
// reaped: all processes in its namespace, and all that carry its mark.
func (c *child) lookForSurvivors(mark string) []string {
	for deadline := time.Now().Add(survivorGrace); ; time.Sleep(survivorGrace / 10) {
		left := c.descendants(mark)
		if len(left) == 0 || time.Now().After(deadline) {
			return left
		}
	}
}

// descendants must run on the thread that started the process. In a PID namespace, that thread sees
// only the processes of the namespace. The namespace's first process, which is toolhost's, also
// carries the mark.
func (c *child) descendants(mark string) []string {
	const first = 1
	alone := c.namespace != nil && proc.HasMark(first, mark)
	entries, _ := os.ReadDir("/proc")
	var names []string
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == c.id.PID && !alone || pid == first && alone || !proc.Alive(pid) || !alone && !proc.HasMark(pid, mark) {
			continue
		}
		name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		names = append(names, string(bytes.TrimSpace(name)))
	}
	return names
}
