package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Descends reports whether a process descends from another one through living parents. A process is
// not its own descendant. An error says that the process is gone or ended meanwhile.
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

// HasMark reports whether a process was started with a mark that begins with prefix. It reports
// false for processes of other users, whose environment cannot be read.
func HasMark(pid int, prefix string) bool { return hasMark(pid, prefix) }

// Cgroups returns the list of control groups of a process, as the system formats it.
func Cgroups(pid int) (string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return "", fmt.Errorf("looking at process %d: %w", pid, err)
	}
	return string(text), nil
}

// IsGone reports whether an error says that a process does not exist any more.
func IsGone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) }
