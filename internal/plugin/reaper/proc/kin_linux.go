package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Descends reports whether a process descends from another, by parents that still live. It is no descendant of itself. An
// error says that the process is gone, or ends while it is looked at.
func Descends(pid, ancestor int) (bool, error) {
	const deepest = 256 // generations; bounds a walk through a changing tree
	for range deepest {
		s, err := readStat(pid)
		if err != nil {
			return false, err
		}
		if s.parent == ancestor {
			return true, nil
		}
		if s.parent <= 1 {
			return false, nil
		}
		pid = s.parent
	}
	return true, fmt.Errorf("process %d has too many ancestors", pid)
}

// HasMark reports whether a process was started with a mark that begins with prefix. One of another user, whose
// environment cannot be read, has none.
func HasMark(pid int, prefix string) bool { return hasMark(pid, prefix) }

// Cgroups returns the control groups that a process is in, as the system lists them.
func Cgroups(pid int) (string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return "", fmt.Errorf("looking at process %d: %w", pid, err)
	}
	return string(text), nil
}

// IsGone reports whether an error says that the process that was looked at is no more.
func IsGone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) }
