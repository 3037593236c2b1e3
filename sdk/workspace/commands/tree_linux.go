package commands

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// adoptsOrphans says that a subreaper adopts orphaned descendants, so that no process of a command
// can stop being a descendant of its supervisor.
const adoptsOrphans = true

func adoptOrphans() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("becoming the parent of orphans: %w", err)
	}
	return nil
}

// self returns the path of this program. It works even if the sandbox hides the file or an upgrade
// has replaced it.
func self() (string, error) { return "/proc/self/exe", nil }

// relative identifies a process by pid and start time, because the system may reuse the pid.
type relative struct {
	pid, parent int
	start       uint64
	ended       bool // it has ended but is not reaped
}

// descendants returns the descendants of root. Parents precede their children.
func descendants(root int) []relative {
	children := map[int][]relative{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if r, ok := look(pid); ok {
			children[r.parent] = append(children[r.parent], r)
		}
	}
	var found []relative
	for next := []int{root}; len(next) > 0; next = next[1:] {
		for _, r := range children[next[0]] {
			found = append(found, r)
			next = append(next, r.pid)
		}
		delete(children, next[0]) // /proc changes during the read, so there may be a cycle
	}
	return found
}

// look returns the present state of a process. It returns false if there is no such process.
func look(pid int) (relative, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return relative{}, false
	}
	// The name in parentheses may contain any character.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	const state, parent, start = 0, 1, 19
	if len(fields) <= start {
		return relative{}, false
	}
	r := relative{pid: pid, ended: fields[state][0] == 'Z' || fields[state][0] == 'X'}
	var errs [2]error
	r.parent, errs[0] = strconv.Atoi(string(fields[parent]))
	r.start, errs[1] = strconv.ParseUint(string(fields[start]), 10, 64)
	return r, errs[0] == nil && errs[1] == nil
}

// signal sends a signal to a process if it is still the same. It holds a handle while it checks, so
// that it cannot hit another process with the same pid.
func (r relative) signal(s syscall.Signal) {
	handle, err := os.FindProcess(r.pid)
	if err != nil {
		return
	}
	defer func() { _ = handle.Release() }()
	if now, ok := look(r.pid); ok && now.start == r.start {
		_ = handle.Signal(s) // the process may have ended already
	}
}

// signalAll sends a signal to all processes that the supervisor's command has started, and returns
// their number.
func signalAll(_ int, s syscall.Signal) int { return signalEach(descendants(os.Getpid()), s) }

// signalEach sends a signal to those processes that have not ended, and returns their number.
func signalEach(those []relative, s syscall.Signal) int {
	count := 0
	for _, r := range those {
		if !r.ended {
			r.signal(s)
			count++
		}
	}
	return count
}
